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
	Goal    lab.Goal
	Verdict lab.Verdict
}

// Lead returns the verdict in a few sentences.
func (a Advice) Lead() string {
	v := a.Verdict
	base := v.Baseline.Row
	if !v.Retry() {
		return fmt.Sprintf("Do not retry: of %d policies none has more success than none attempts=1 without a later recovery.", v.Tried)
	}
	best := v.Advised[0].Row
	text := fmt.Sprintf("Retry with: %s. %s of the calls succeed, and %s without retries; of those during the outage, %s and %s.",
		best.Contender, percent(best.Success.Mean), percent(base.Success.Mean), percent(best.OutageSuccess.Mean), percent(base.OutageSuccess.Mean))
	switch {
	case best.Never > 0 && base.Never > 0:
		text += " The server stays down even without retries: give it more capacity, or a queue shorter than the timeout."
	case base.Never > 0:
		text += fmt.Sprintf(" The server is back after %s s; without retries it stays down in %s of the trials.", number(best.Recovery.Mean), percent(base.Never))
	default:
		text += fmt.Sprintf(" The server %s; without retries it %s; it gets up to %s times the usual calls in a second, and %s times without.",
			recovers(best), recovers(base), number(best.Peak.Mean), number(base.Peak.Mean))
	}
	return text
}

// Table returns a row for each advised policy, and one for calls without retries.
func (a Advice) Table() *Table {
	t := &Table{Headers: []string{
		"policy", "success", "in the outage", "recovery (s)", "attempts a call", "peak load", "p99 (ms)", "fails with",
	}}
	rows := a.Verdict.Advised
	if len(rows) == 0 || rows[0].Row.Contender != a.Verdict.Baseline.Row.Contender {
		rows = append(rows[:len(rows):len(rows)], a.Verdict.Baseline)
	}
	for _, r := range rows {
		fails := strings.Join(r.Fails, ", ")
		switch {
		case fails == "" && r.Held != nil:
			fails = "nothing that was tried"
		case fails == "":
			fails = "–"
		}
		row := r.Row
		t.add(
			row.Contender, percent(row.Success.Mean), percent(row.OutageSuccess.Mean), recovery(row.Recovery, row.Never, len(row.Trials)),
			number(row.Amplification.Mean), number(row.Peak.Mean)+" ×", number(1000*row.P99.Mean), fails,
		)
	}
	return t
}

// CSV writes a line for each policy.
func (a Advice) CSV(w io.Writer) error {
	var rows [][]any
	for i, r := range append(a.Verdict.Advised[:len(a.Verdict.Advised):len(a.Verdict.Advised)], a.Verdict.Baseline) {
		row, role := r.Row, "advised"
		if i == len(a.Verdict.Advised) {
			role = "no retry"
		}
		rows = append(rows, []any{
			role, row.Contender, row.Success.Mean, row.OutageSuccess.Mean, row.Never, mean(row.Recovery),
			row.Amplification.Mean, row.Peak.Mean, row.P99.Mean, strings.Join(r.Fails, "; "), strings.Join(r.Held, "; "),
		})
	}
	return writeCSV(w, []string{
		"role", "policy", "success", "outage_success", "never", "recovery_s", "amplification", "peak", "latency_p99_s", "fails_with", "holds_with",
	}, rows)
}
