// The waits of one policy.

package report

import (
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
)

// Explain presents the waits of one policy.
type Explain struct {
	policy retry.Policy
	plan   retry.Plan
	waits  [][]time.Duration // sampled, for the retries of the plan
}

// NewExplain plans the waits of a policy and samples them.
func NewExplain(p retry.Policy, seed uint64) Explain {
	plan, waits := p.Plan(), lab.Waits(p, drawn, seed)
	return Explain{p, plan, waits[:min(len(waits), len(plan.Retries))]}
}

const drawn = 10_000 // number of sampled calls

// Facts returns what the policy does to a call whose attempts all fail.
func (e Explain) Facts() []string {
	total := e.plan.Total
	mean := 1.0 // attempts
	for _, list := range e.waits {
		mean += float64(len(list)) / drawn
	}
	attempts, load := fmt.Sprint(1+len(e.waits)), number(mean)+" times the load"
	risk := fmt.Sprintf("a server that is used at more than %s can stay down after a failure", percent(1/mean))
	if e.plan.Truncated && len(e.plan.Retries) >= 100 { // not only because the next retry is rare
		attempts, load = "without end, and below the first hundred", "more load from second to second"
		risk = "a server can stay down after a failure, however little it is used"
	}
	facts := []string{
		"policy: " + e.policy.String(),
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
	for unit*1000 <= d {
		unit *= 10
	}
	return d.Round(unit)
}

// Table returns a row for each retry, and one for the sum.
func (e Explain) Table() *Table {
	t := &Table{Headers: []string{"wait before", "least", "median", "mean", "99 %", "most"}}
	add := func(name, median string, w retry.WaitStats) {
		t.add(name, short(w.Min).String(), median, short(w.Mean).String(), short(w.P99).String(), short(w.Max).String())
	}
	for i, list := range e.waits {
		add(fmt.Sprintf("retry %d", i+1), short(list[(len(list)-1)/2]).String(), e.plan.Retries[i])
	}
	add("all", "", e.plan.Total)
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
