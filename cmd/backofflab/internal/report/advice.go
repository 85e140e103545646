// The result of advise.

package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

// Advice presents a [lab.Verdict].
type Advice struct {
	Verdict lab.Verdict
}

// Lead returns the advice in a few lines, of which the first is the policy.
func (a Advice) Lead() string {
	v := a.Verdict
	lines := []string{v.Policy, "", "This is for calls that somebody waits for, which arrive whatever happens to the server. " +
		"If a fixed number of workers makes the calls, use \"standard elapsed=1m timeout=10s\" instead.", a.reason()}
	if n := len(v.Equal); n > 0 {
		lines = append(lines, fmt.Sprintf("It hardly matters whether you use this one or one of %d others that are within half a point or the noise, such as %s.", n, strings.Join(v.Equal[:min(n, 2)], ", or ")))
	}
	lines = append(lines, fmt.Sprintf("That no other finalist is better by half a point is %s sure, with a price of %s points for a second of p99.",
		certainty(v.Sure), number(100*v.Price)))
	if v.Gate {
		gated := v.WithGate[0]
		for _, r := range v.WithGate[1:] {
			if r.Score.Mean > gated.Score.Mean {
				gated = r
			}
		}
		lines = append(lines, fmt.Sprintf("An admission gate at the server (package admit) helps more: with it and %q, %s of the calls succeed, with a p99 of %s s.",
			gated.Contender, percent(gated.Success.Mean), number(gated.P99.Mean)))
	}
	return strings.Join(lines, "\n")
}

// reason says why the policy is advised, in one sentence.
func (a Advice) reason() string {
	v := a.Verdict
	outages := "like this one"
	if v.AllKinds {
		outages = "of all kinds, from 0.5 to 120 s"
	}
	var others []string
	for _, r := range v.Rows[1:] {
		switch r.Contender {
		case lab.NoRetry:
			others = append(others, percent(r.Success.Mean)+" without retries")
		case lab.ZeroPolicy:
			other := percent(r.Success.Mean) + " with the zero policy"
			if r.Never > 0 {
				other += ", which keeps the server down after " + percent(r.Never) + " of them"
			}
			others = append(others, other)
		}
	}
	return fmt.Sprintf("In %d outages %s, %s of the calls succeed, with a p99 of %s s, against %s; of the %d policies that were simulated, it is the nearest to the zero policy that is as good as the best, apart from 0.3 points.",
		v.Outages, outages, percent(v.Rows[0].Success.Mean), number(v.Rows[0].P99.Mean), strings.Join(others, " and "), v.Tried)
}

// Section returns what was advised, and why.
func (a Advice) Section(...string) Section {
	return Section{
		Heading:  "The policy that backofflab advise chooses",
		Findings: []Finding{{Headline: a.Verdict.Policy, Text: a.reason()}},
	}
}

func certainty(p float64) string {
	if p > 0.99 {
		return "more than 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}

// Table returns a row for each policy that went through all outages.
func (a Advice) Table() *Table {
	t := &Table{Headers: []string{"policy", "success", "p99 (s)", "peak load", "stays down", "loss (points)"}}
	add := func(r lab.Assessed, gate string) {
		t.add(r.Contender+gate, percent(r.Success.Mean), number(r.P99.Mean), number(r.Peak.Mean)+" ×", percent(r.Never),
			fmt.Sprintf("%.2f ± %.2f", math.Round(1e4*r.Loss.Mean)/100+0, 100*r.Loss.Margin())) // not -0.00
	}
	for _, r := range a.Verdict.Rows {
		add(r, "")
	}
	for _, r := range a.Verdict.WithGate {
		add(r, ", with a gate")
	}
	return t
}

// CSV writes a line for each policy.
func (a Advice) CSV(w io.Writer) error {
	var rows [][]any
	add := func(list []lab.Assessed, gate bool) {
		for _, r := range list {
			rows = append(rows, []any{
				r.Contender, gate, r.Settings, r.Success.Mean, r.P99.Mean, r.Peak.Mean, r.Never, r.Score.Mean, r.Loss.Mean, r.Loss.SE(),
			})
		}
	}
	add(a.Verdict.Rows, false)
	add(a.Verdict.WithGate, true)
	return writeCSV(w, []string{
		"policy", "gate", "settings", "success", "latency_p99_s", "peak", "never", "score", "loss_mean", "loss_se",
	}, rows)
}
