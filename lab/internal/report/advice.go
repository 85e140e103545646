// The result of advise.

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/gobackoff/retry/lab"
)

// Advice presents a [lab.Verdict].
type Advice struct {
	Verdict lab.Verdict
}

// Lead returns the advice in a few lines, of which the first is the policy.
func (a Advice) Lead() string {
	v := a.Verdict
	lines := []string{v.Policy, ""}
	best := v.Rows[0]
	lines = append(lines, fmt.Sprintf("%s of the calls succeed, with a p99 of %s, in %d trials with an outage each; %d policies were simulated.",
		percent(best.Success.Mean), latency(best.P99), v.Outages, v.Tried))
	for _, r := range v.Rows[1:] {
		switch r.Contender {
		case lab.NoRetry:
			lines = append(lines, "Against no retry: "+versus(best, r))
		case lab.ZeroPolicy:
			lines = append(lines, "Against the zero policy: "+versus(best, r))
		}
	}
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
		lines = append(lines, fmt.Sprintf("An admission gate at the server (package admit) helps more: with it and %q, %s of the calls succeed, with a p99 of %s.",
			gated.Contender, percent(gated.Success.Mean), latency(gated.P99)))
	}
	return strings.Join(lines, "\n")
}

func versus(best, other lab.Assessed) string {
	text := fmt.Sprintf("%+.1f points of success", 100*(best.Success.Mean-other.Success.Mean))
	if margin := other.Loss.Margin(); other.Loss.Mean < margin && other.Loss.Mean > -margin {
		text += ", within the noise"
	}
	return text + fmt.Sprintf("; p99 %s instead of %s; the server stays down after %s of the outages instead of %s.",
		latency(best.P99), latency(other.P99), percent(best.Never), percent(other.Never))
}

func latency(s lab.Summary) string { return number(s.Mean) + " s" }

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
			fmt.Sprintf("%.2f ± %.2f", 100*r.Loss.Mean, 100*r.Loss.Margin()))
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
