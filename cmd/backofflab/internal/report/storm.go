// What policies do to a server that fails for a while.

package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

// Storm presents the results of a [lab.Storm].
type Storm struct {
	Storm lab.Storm // including the defaults that were used
	Rows  []lab.StormRow
}

// Table returns a row for each policy.
func (s Storm) Table() *Table {
	t := &Table{Headers: []string{"policy", "success", "p99 (s)", "peak load", "recovery (s)", "attempts per success"}}
	base := s.row(lab.NoRetry)
	for _, r := range s.Rows {
		if len(r.Trials) == 0 {
			t.add(label(r.Contender), "–", "–", "–", "–", "–")
			continue
		}
		fewer := base != nil && compare(r, *base) < 0
		p99 := number(r.P99.Mean)
		if fewer && r.Success.Mean < base.Success.Mean-0.05 {
			p99 = "–" // if few calls succeed, they are the fast ones
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: label(r.Contender)}, {Text: percent(r.Success.Mean), Bad: fewer}, {Text: p99},
			{Text: number(r.Peak.Mean) + " ×"}, {Text: recovery(r.Recovery, r.Never), Bad: r.Never > 0},
			{Text: perSuccess(r.PerSuccess.Mean)},
		})
	}
	return t
}

// row returns the finished row of a policy, or nil.
func (s Storm) row(name string) *lab.StormRow {
	i := slices.IndexFunc(s.Rows, func(r lab.StormRow) bool { return r.Contender == name && len(r.Trials) > 0 })
	if i < 0 {
		return nil
	}
	return &s.Rows[i]
}

const matters = 0.005 // half a point, as in advise

// compare returns 1 if more calls succeed under a than under b, -1 if fewer do, and 0 if the
// difference is below half a point or within the noise.
func compare(a, b lab.StormRow) int {
	gain := a.Gain(b)
	noise := max(gain.Margin(), matters)
	if gain.N == 1 {
		noise = 0.02 // one trial has no margin
	}
	if math.Abs(gain.Mean) <= noise {
		return 0
	}
	return cmp.Compare(gain.Mean, 0)
}

// perSuccess formats the number of attempts, or calls, for each success.
func perSuccess(n float64) string {
	if n == 0 || math.IsInf(n, 0) {
		return "no success"
	}
	return number(n)
}

// label returns the name of a policy as tables and pictures show it.
func label(name string) string {
	switch name {
	case lab.NoRetry:
		return name + " (no retry)"
	case lab.ZeroPolicy:
		return name + " (zero policy)"
	}
	return name
}

// recovery formats a recovery time in seconds, with its confidence interval.
func recovery(r lab.Summary, never float64) string {
	text := interval(r, 1)
	switch {
	case never == 1:
		return "never"
	case never > 0:
		text += fmt.Sprintf(", %s never", percent(never))
	}
	return text
}

// CSV writes a line for each policy, in full precision.
func (s Storm) CSV(w io.Writer) error {
	header := []string{"policy", "trials", "never"}
	for _, name := range []string{
		"peak", "amplification", "recovery_s", "goodput", "outage_success", "success", "last_success",
		"latency_mean_s", "latency_p50_s", "latency_p99_s",
	} {
		header = append(header, name+"_mean", name+"_se")
	}
	var rows [][]any
	for _, r := range s.Rows {
		row := []any{r.Contender, len(r.Trials), r.Never}
		for _, f := range []lab.Summary{
			r.Peak, r.Amplification, r.Recovery, r.Goodput, r.OutageSuccess, r.Success, r.LastSuccess, r.Mean, r.P50, r.P99,
		} {
			row = append(row, mean(f), se(f))
		}
		rows = append(rows, row)
	}
	return writeCSV(w, header, rows)
}

// SeriesCSV writes a line for each policy and second.
func (s Storm) SeriesCSV(w io.Writer) error {
	var rows [][]any
	for _, r := range s.Rows {
		for second := range r.Attempts {
			rows = append(rows, []any{r.Contender, second, r.Attempts[second], r.Goodputs[second]})
		}
	}
	return writeCSV(w, []string{"policy", "second", "attempts", "successes"}, rows)
}

// Section returns the comparison of own, the user's policies, with no retry and the other
// policies.
func (s Storm) Section(own ...string) Section {
	section := Section{
		Lead:     s.lead(),
		Findings: s.findings(own),
		Table:    s.Table(),
		Figures: []Figure{
			{s.Load(), "Load: attempts that reach the server in each second, as a multiple of the calls."},
			{s.Goodput(), "Goodput: calls that succeed in each second, as a share of the calls."},
		},
		Text: []string{
			"How to read the table. Success is the share of all calls that succeed in the end. p99 is the time within which 99 of 100 successful calls " +
				"succeed; it is left out if far fewer calls succeed than without retries. Peak load is the largest number of attempts in a second, as a multiple of the calls. " +
				"Recovery is the time from the end of the outage until success is back at its level before the outage, for ten seconds in a row; never: not within " +
				seconds(s.Storm.Horizon-s.Storm.Deadline-s.Storm.Outage.To) + ". " +
				"± and ranges in parentheses are 95 % confidence intervals. Red: fewer calls succeed than without retries, or the server does not recover.",
			s.method(),
		},
		Files: []File{file("storm.csv", s.CSV), file("storm-seconds.csv", s.SeriesCSV)},
	}
	for _, name := range own {
		section.Own = append(section.Own, label(name))
	}
	section.Table.mark(section.Own)
	if n := len(s.Rows); n > chart.MostSeries {
		section.Text = append(section.Text, fmt.Sprintf("Of the %d policies the pictures show %d.", n, chart.MostSeries))
	}
	return section
}

func (s Storm) lead() string {
	gate := ""
	if s.Storm.Gate != nil {
		gate = " An admission gate (package admit) refuses attempts that would wait too long, and tells each client when to return."
	}
	return fmt.Sprintf("A server can serve %.4g attempts a second and gets %.4g calls a second. It %s.%s",
		s.Storm.Capacity(), s.Storm.Rate, s.outage(), gate)
}

func (s Storm) outage() string {
	o := s.Storm.Outage
	length := seconds(o.To - o.From)
	switch o.Kind {
	case lab.Down:
		return fmt.Sprintf("refuses everything for %s", length)
	case lab.Partial:
		return fmt.Sprintf("refuses %s of the attempts for %s", percent(1-o.Share), length)
	case lab.BrownOut:
		return fmt.Sprintf("works at %s of its pace for %s", percent(o.Share), length)
	}
	return fmt.Sprintf("stalls for %s", length)
}

func (s Storm) method() string {
	st := s.Storm
	text := fmt.Sprintf("What was simulated. Every call is a call of retry.Do in virtual time. A client waits %s for the response to an attempt unless its policy has a timeout, "+
		"and %s for a call; the server does not notice when a client gives up. Up to %d attempts wait at the server. The calls come from %d processes, each with its own budget.",
		seconds(st.Timeout), seconds(st.Deadline), st.Queue, st.Processes)
	if st.Failures > 0 {
		text += fmt.Sprintf(" %s of the attempts fail at any time.", percent(st.Failures))
	}
	if l := st.Latency; l != nil {
		text += fmt.Sprintf(" An attempt takes %s on average, as measured, and %s at most.", seconds(l.Mean()), seconds(l[len(l)-1].UpTo))
	}
	return text
}

// findings says for each of the user's policies whether it helps.
func (s Storm) findings(own []string) []Finding {
	var list []Finding
	base := s.row(lab.NoRetry)
	for _, name := range own {
		if r := s.row(name); r != nil && base != nil && name != lab.NoRetry {
			list = append(list, s.finding(*r, *base))
		}
	}
	return list
}

func (s Storm) finding(r, base lab.StormRow) Finding {
	success := compare(r, base)
	points := fmt.Sprintf("%.1f points ", 100*math.Abs(r.Success.Mean-base.Success.Mean))
	f := Finding{Policy: label(r.Contender), Bad: true, Text: fmt.Sprintf(
		"%s of the calls succeed, without retries %s. The recovery takes %s, without retries %s. The load rises to %s times the calls; the server can serve %s times.",
		percent(r.Success.Mean), percent(base.Success.Mean), forever(r), forever(base), number(r.Peak.Mean), number(s.Storm.Capacity()/s.Storm.Rate))}
	switch {
	case base.Before.Mean < 0.9:
		f.Headline = "The server is overloaded even before the outage, without retries"
	case r.Never > 0 && base.Never >= r.Never:
		f.Headline = "The server stays down, even without retries"
	case r.Never == 1:
		f.Headline = "Keeps the server down"
	case r.Never > 0:
		f.Headline = fmt.Sprintf("Keeps the server down in %s of the trials", percent(r.Never))
	case success < 0:
		f.Headline = "Harms: " + points + "fewer calls succeed than without retries"
	case success == 0:
		f.Headline, f.Bad = "Changes little: about as many calls succeed as without retries", false
	case base.Never == 0 && r.Recovery.Mean > 2*base.Recovery.Mean+10:
		f.Headline, f.Bad = "Helps, but delays the recovery: "+points+"more calls succeed than without retries", false
	default:
		f.Headline, f.Bad = "Helps: "+points+"more calls succeed than without retries", false
	}
	return f
}

// forever formats a recovery in a sentence.
func forever(r lab.StormRow) string {
	if r.Never == 1 {
		return "forever"
	}
	return recovery(r.Recovery, 0) + " s"
}

// Load shows the attempts over time; nil if there are none.
func (s Storm) Load() *chart.Picture {
	return s.overTime("Load", "attempts / calls", func(r lab.StormRow) []float64 { return r.Attempts },
		&chart.Mark{Y: s.Storm.Capacity() / s.Storm.Rate, Label: "capacity"})
}

// Goodput shows the successes over time; nil if there are none.
func (s Storm) Goodput() *chart.Picture {
	return s.overTime("Goodput", "successes / calls", func(r lab.StormRow) []float64 { return r.Goodputs }, nil)
}

func (s Storm) overTime(title, unit string, series func(lab.StormRow) []float64, mark *chart.Mark) *chart.Picture {
	var lines []chart.Series
	for _, r := range s.Rows {
		if len(r.Trials) == 0 || len(lines) == chart.MostSeries {
			continue
		}
		line := chart.Series{Name: label(r.Contender)}
		for second, n := range series(r) {
			line.X = append(line.X, float64(second)+0.5)
			line.Y = append(line.Y, n/s.Storm.Rate)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return nil
	}
	return &chart.Picture{
		Kind: chart.Lines, Title: title, X: chart.Axis{Label: "time (s)"}, Y: chart.Axis{Label: unit},
		Series: lines, Mark: mark, First: s.decisive(),
		Shade: &chart.Interval{From: s.Storm.Outage.From.Seconds(), To: s.Storm.Outage.To.Seconds(), Label: s.Storm.Outage.Kind.String()},
	}
}

// decisive returns the interval from before the outage to after the last recovery.
func (s Storm) decisive() *chart.Interval {
	o := s.Storm.Outage
	from, to := o.From.Seconds(), o.To.Seconds()
	end := to + max(15, to-from)
	for _, r := range s.Rows {
		for _, t := range r.Trials {
			if t.Recovered {
				end = max(end, to+t.Recovery+10)
			}
		}
	}
	return &chart.Interval{From: max(0, math.Floor(from-max(5, (end-from)/10))), To: min(math.Ceil(end), s.Storm.Horizon.Seconds())}
}
