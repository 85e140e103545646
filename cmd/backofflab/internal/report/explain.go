// The waits of one policy.

package report

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

// Explain presents the waits of one policy.
type Explain struct {
	policy   retry.Policy
	plan     retryconfig.Plan
	attempts float64 // of a call that always fails; mean of drawn calls
}

// NewExplain plans the waits of a policy.
func NewExplain(p retry.Policy, seed uint64) Explain {
	e := Explain{policy: p, plan: retryconfig.NewPlan(p)}
	p.Rand = rand.New(rand.NewPCG(seed, 0)).Float64
	const drawn = 1000
	attempts := drawn
	for range drawn {
		retries := 0
		for range p.Delays() {
			if retries == len(e.plan.Retries) {
				break
			}
			retries++
		}
		attempts += retries
	}
	e.attempts = float64(attempts) / drawn
	return e
}

// Facts returns what the policy does to a call whose attempts all fail.
func (e Explain) Facts() []string {
	total := e.plan.Total
	mean, attempts := e.attempts, fmt.Sprint(1+len(e.plan.Retries))
	load := number(mean) + " times the load"
	risk := fmt.Sprintf("a server that is used at more than %s can stay down after a failure", percent(1/mean))
	if e.plan.Truncated && len(e.plan.Retries) >= 100 { // not only because the next retry is rare
		attempts, load = "without end, and below the first hundred", "more load from second to second"
		risk = "a server can stay down after a failure, however little it is used"
	}
	facts := []string{
		"policy: " + retryconfig.Policy{Policy: e.policy}.String(),
		"attempts: " + attempts,
		fmt.Sprintf("waits in all: %v to %v, on average %v, 99 of 100 below %v", short(total.Min), short(total.Max), short(total.Mean), short(total.P99)),
	}
	switch {
	case e.policy.Budget != nil:
		facts = append(facts, "while all attempts fail: "+load+" at first; the budget ends that")
	case mean > 1:
		facts = append(facts, "while all attempts fail: "+load+"; there is no budget, and "+risk)
	}
	return facts
}

// short rounds d to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for unit <= d/1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Table returns a row for each retry, and one for the sum.
func (e Explain) Table() *Table {
	t := &Table{Headers: []string{"wait before", "least", "mean", "99 %", "most"}}
	add := func(name string, w retryconfig.WaitStats) {
		t.add(name, short(w.Min).String(), short(w.Mean).String(), short(w.P99).String(), short(w.Max).String())
	}
	for i, w := range e.plan.Retries {
		add(fmt.Sprintf("retry %d", i+1), w)
	}
	add("all", e.plan.Total)
	return t
}

// Section returns the waits and the facts.
func (e Explain) Section() Section {
	return Section{
		Heading: "How long a call waits",
		Lead:    "The waits of a call whose attempts all fail at once, with transient errors and without a hint. Budgets, limiters and deadlines may end it earlier.",
		Table:   e.Table(),
		Text:    e.Facts(),
	}
}
