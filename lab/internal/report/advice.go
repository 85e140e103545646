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
		text += fmt.Sprintf(" The server is back after %s, and after %s without; it gets up to %s times the usual calls in a second, and %s times without.",
			after(best.Recovery, best.Never), after(base.Recovery, base.Never), number(best.Peak.Mean), number(base.Peak.Mean))
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
		t.Rows = append(t.Rows, []string{
			row.Contender, percent(row.Success.Mean), percent(row.OutageSuccess.Mean), recovery(row.Recovery, row.Never, len(row.Trials)),
			number(row.Amplification.Mean), number(row.Peak.Mean) + " ×", number(1000 * row.P99.Mean), fails,
		})
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

// Section returns the table, and the pictures of a storm under each policy.
func (a Advice) Section(...string) Section {
	v := a.Verdict
	storm := Storm{Storm: v.Storm, Rows: []lab.StormRow{v.Baseline.Row}}
	for _, r := range v.Advised {
		if r.Row.Contender != v.Baseline.Row.Contender {
			storm.Rows = append(storm.Rows, r.Row)
		}
	}
	s := storm.Section()
	s.Heading = "Policies for this system, " + a.Goal.String() + " first"
	s.Findings = []Finding{{Policy: a.Best(), Headline: "Do not retry", Text: a.Lead()}}
	if v.Retry() {
		s.Findings[0].Headline = "Retry with this policy"
	}
	s.Text = fmt.Sprintf("Of %d policies these are the ones that no other beats in both success and recovery. "+
		"The last column lists the changes of the system under which a policy keeps the server down, or delays its recovery to more than "+
		"twice that without retries plus ten seconds. The system was simulated at %s of its size, at the same utilization.\n\n", v.Tried, percent(v.Scale)) + s.Text
	s.Table = a.Table()
	s.Files = append([]File{file("advice.csv", a.CSV)}, s.Files...)
	return s
}

// Best returns the name of the policy to use.
func (a Advice) Best() string {
	if a.Verdict.Retry() {
		return a.Verdict.Advised[0].Row.Contender
	}
	return a.Verdict.Baseline.Row.Contender
}
