// The waits of one policy.

package report

import (
	"fmt"
	"strings"
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

// Facts returns the properties of the policy, as names and values.
func (e Explain) Facts() []Note {
	p, total := e.policy, e.plan.Total
	mean := 1.0 // attempts of a call that always fails
	for _, list := range e.waits {
		mean += float64(len(list)) / drawn
	}
	attempts, load := fmt.Sprint(1+len(e.waits)), number(mean)+" times the load"
	risk := fmt.Sprintf("a server that is used at more than %s can stay down after a failure", percent(1/mean))
	if e.plan.Truncated && len(e.plan.Retries) >= 100 { // not only because the next retry is rare
		attempts, load = "without end, and below the first hundred", "more load from second to second"
		risk = "a server can stay down after a failure, however little it is used"
	}
	facts := []Note{
		{"policy", p.String()},
		{"attempts", attempts},
		{"waits in all", fmt.Sprintf("%v to %v, on average %v, 99 of 100 below %v", short(total.Min), short(total.Max), short(total.Mean), short(total.P99))},
	}
	add := func(known bool, name, format string, value any) {
		if known {
			facts = append(facts, Note{name, fmt.Sprintf(format, value)})
		}
	}
	add(p.Budget == nil, "while all attempts fail", "%s", load)
	add(p.Budget != nil, "while all attempts fail", "%s at first; the budget ends that", load)
	add(p.MaxElapsed > 0, "time limit", "%v", p.MaxElapsed)
	add(p.Stagger > 0, "before the first attempt", "up to %v", p.Stagger)
	add(p.AttemptTimeout > 0, "limit of an attempt", "%v", p.AttemptTimeout)
	add(p.Budget != nil, "budget", "%T", p.Budget)
	add(p.Budget == nil && mean > 1, "budget", "none: %s", risk)
	add(p.Limiter != nil, "limiter", "%T", p.Limiter)
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
func (e Explain) Section(...string) Section {
	var facts []string
	for _, fact := range e.Facts() {
		facts = append(facts, fact.Name+": "+fact.Value)
	}
	return Section{
		Heading: "How long a call waits",
		Lead:    "The waits of a call whose attempts all fail at once, with transient errors and without a hint. Budgets, limiters and deadlines may end it earlier.",
		Table:   e.Table(),
		Text:    []string{strings.Join(facts, " · ")},
	}
}
