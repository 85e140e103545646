// The results of storm and of its map.

package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/chart"
)

// Storm presents the results of a [lab.Storm].
type Storm struct {
	Storm lab.Storm // including the defaults that were used
	Rows  []lab.StormRow
}

// recovery formats a recovery time for a table.
func recovery(mean lab.Summary, never float64, trials int) string {
	switch {
	case trials == 0:
		return "–"
	case never == 1:
		return "never"
	case never > 0:
		return fmt.Sprintf("%s, %s never", estimate(mean), percent(never))
	}
	return estimate(mean)
}

// after formats a recovery time for a sentence.
func after(mean lab.Summary, never float64) string {
	switch {
	case never == 1:
		return "never"
	case never > 0:
		return fmt.Sprintf("%s s, never in %s of the trials", number(mean.Mean), percent(never))
	}
	return number(mean.Mean) + " s"
}

// Table returns a row for each policy.
func (s Storm) Table() *Table {
	t := &Table{Headers: []string{
		"policy", "trials", "peak load", "attempts a call", "recovery (s)", "goodput after", "success of all", "p50 (ms)", "p99 (ms)",
	}}
	for _, r := range s.Rows {
		row := []string{r.Contender, strconv.Itoa(len(r.Trials)), "–", "–", "–", "–", "–", "–", "–"}
		if len(r.Trials) > 0 {
			row = append(row[:2],
				estimate(r.Peak)+" ×", estimate(r.Amplification), recovery(r.Recovery, r.Never, len(r.Trials)),
				percent(r.Goodput.Mean), percent(r.Success.Mean),
				number(1000*r.P50.Mean), number(1000*r.P99.Mean))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s Storm) background() string {
	text := ""
	if s.Storm.Failures > 0 {
		text = fmt.Sprintf(" %s of the attempts fail at any time.", percent(s.Storm.Failures))
	}
	if s.Storm.Gate != nil {
		text += " An admission gate (package admit) refuses attempts and tells each client when to return."
	}
	if l := s.Storm.Latency; l != nil {
		text += fmt.Sprintf(" An attempt takes %v on average, as measured, and %v at most.", short(l.Mean()), l[len(l)-1].UpTo)
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

func (s Storm) outage() string {
	o := s.Storm.Outage
	from, to := o.From.Seconds(), o.To.Seconds()
	switch o.Kind {
	case lab.Down:
		return fmt.Sprintf("refuses everything from second %g to %g", from, to)
	case lab.Partial:
		return fmt.Sprintf("refuses %s of the attempts from second %g to %g", percent(1-o.Share), from, to)
	case lab.BrownOut:
		return fmt.Sprintf("works at %s of its pace from second %g to %g", percent(o.Share), from, to)
	}
	return fmt.Sprintf("stands still from second %g to %g", from, to)
}

// Section returns the table, the pictures, and the findings about own, the user's policies.
func (s Storm) Section(own ...string) Section {
	st := s.Storm
	return Section{
		Heading:  "A server that fails for a while",
		Findings: s.findings(own),
		Text: fmt.Sprintf("The server gets %s calls a second, can serve %s, and %s. "+
			"A client waits %v for the response to an attempt unless its policy has a timeout, and %v for a call; the server does not notice when a client gives up. "+
			"Up to %d attempts wait at the server. The calls come from %d processes, each with its own budget.%s "+
			"Every call is a call of retry.Do in virtual time.\n\n"+
			"Peak load and goodput are multiples of the rate of calls. Recovery is the time after the outage "+
			"until 99 %% of the calls succeed for ten seconds in a row, and goodput after is that of the minute after the outage. "+
			"Latencies are those of calls that succeed: if few do, a policy can look fast. ± is a 95 %% confidence interval.",
			number(st.Rate), number(st.Capacity()), s.outage(), st.Timeout, st.Deadline, st.Queue, st.Processes, s.background()),
		Table: s.Table(),
		Figures: figures(
			Figure{s.Load(), "Attempts that reach the server, as a multiple of the calls that come."},
			Figure{s.Goodput(), "Calls that succeed, as a share of the calls that come."},
		),
		Files: []File{file("storm.csv", s.CSV), file("storm-seconds.csv", s.SeriesCSV)},
	}
}

// findings describes when the server recovers.
func (s Storm) findings(own []string) []Finding {
	base := -1
	var list []Finding
	var down, names []string
	for i, r := range s.Rows {
		if len(r.Trials) == 0 {
			continue
		}
		if r.Contender == noRetry {
			base = i
		}
		names = append(names, r.Contender)
		if r.Never > 0 {
			down = append(down, r.Contender)
		}
	}
	for i, r := range s.Rows {
		if len(r.Trials) == 0 || !slices.Contains(own, r.Contender) {
			continue
		}
		f := Finding{Policy: r.Contender, Bad: r.Never > 0, Headline: fmt.Sprintf("The server is back %s s after the outage", number(r.Recovery.Mean))}
		switch {
		case r.Never == 1:
			f.Headline = "Keeps the server down"
			cause := "retries keep it overloaded"
			if base >= 0 && s.Rows[base].Never == 1 {
				f.Headline, cause = "The server stays down, even without retries", "it stays overloaded, even without retries,"
			}
			f.Text = fmt.Sprintf("Outage: after the server works again, %s to the end of the simulation, %s s later.",
				cause, number((s.Storm.Horizon - s.Storm.Outage.To).Seconds()))
		case r.Never > 0:
			f.Headline = fmt.Sprintf("Keeps the server down in %s of the trials", percent(r.Never))
			f.Text = fmt.Sprintf("Outage: in the other trials the server is back after %s s.", estimate(r.Recovery))
		default:
			f.Text = fmt.Sprintf("Outage: the server is back after %s s.", estimate(r.Recovery))
		}
		f.Text += fmt.Sprintf(" It gets up to %s times the usual calls in a second, and %s of all calls succeed.", number(r.Peak.Mean), percent(r.Success.Mean))
		if base >= 0 && base != i {
			b := s.Rows[base]
			f.Text += fmt.Sprintf(" Without retries: recovery %s, %s of all calls.", after(b.Recovery, b.Never), percent(b.Success.Mean))
		}
		list = append(list, f)
	}
	switch {
	case len(own) > 0 || len(names) == 0:
	case len(down) == 0:
		list = append(list, Finding{Text: fmt.Sprintf("Outage: the server recovers under all %d policies.", len(names))})
	default:
		list = append(list, Finding{Bad: true, Text: fmt.Sprintf("Outage: %d of %d policies keep the server down in some trials: %s.", len(down), len(names), strings.Join(down, "; "))})
	}
	return list
}

const noRetry = "none attempts=1"

// Load shows the attempts over time; nil if there are none.
func (s Storm) Load() chart.Picture {
	return s.overTime("Load", "attempts / calls", func(r lab.StormRow) []float64 { return r.Attempts },
		chart.Mark{Y: s.Storm.Capacity() / s.Storm.Rate, Label: "capacity"})
}

// Goodput shows the successes over time; nil if there are none.
func (s Storm) Goodput() chart.Picture {
	return s.overTime("Goodput", "successes / calls", func(r lab.StormRow) []float64 { return r.Goodputs })
}

func (s Storm) overTime(title, label string, series func(lab.StormRow) []float64, marks ...chart.Mark) chart.Picture {
	var lines []chart.Series
	for _, r := range s.Rows {
		if len(r.Trials) == 0 || len(lines) == mostLines {
			continue
		}
		line := chart.Series{Name: r.Contender}
		for second, n := range series(r) {
			line.X = append(line.X, float64(second)+0.5)
			line.Y = append(line.Y, n/s.Storm.Rate)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return nil
	}
	o := s.Storm.Outage
	return chart.Lines{
		Title:  title,
		X:      chart.Axis{Label: "time (s)"},
		Y:      chart.Axis{Label: label},
		Series: lines,
		Shade:  []chart.Interval{{From: o.From.Seconds(), To: o.To.Seconds(), Label: o.Kind.String()}},
		Marks:  marks,
		First:  s.decisive(),
	}
}

// decisive returns the interval from shortly before the outage to shortly after the last
// recovery, but to at most about a minute after the outage.
func (s Storm) decisive() *chart.Interval {
	o := s.Storm.Outage
	end := 25.0
	for _, r := range s.Rows {
		if r.Recovery.N > 0 {
			end = max(end, r.Recovery.Mean+10)
		}
	}
	return &chart.Interval{
		From: max(0, 5*math.Floor(o.From.Seconds()/5-1)),
		To:   min(5*math.Ceil((o.To.Seconds()+min(end, 60))/5), s.Storm.Horizon.Seconds()),
	}
}

// Metastability presents the results of a [lab.Metastability].
type Metastability struct {
	Points []lab.MetastabilityPoint
}

// axes returns the first point of each row, and all utilizations.
func (m Metastability) axes() (rows []lab.MetastabilityPoint, utilizations []float64) {
	for i, p := range m.Points {
		if i == 0 || p.Contender != m.Points[i-1].Contender {
			rows = append(rows, p)
		}
		if len(rows) == 1 {
			utilizations = append(utilizations, p.Utilization)
		}
	}
	return rows, utilizations
}

// threshold returns the utilization above which retries keep the server overloaded.
func threshold(p lab.MetastabilityPoint) string {
	switch {
	case p.Bounded:
		return "bounded"
	case p.Attempts == retry.Unlimited:
		return "0"
	}
	return number(1 / float64(p.Attempts))
}

// Table returns a row for each policy.
func (m Metastability) Table() *Table {
	rows, utilizations := m.axes()
	t := &Table{Headers: []string{"policy", "1 / attempts"}}
	for _, u := range utilizations {
		t.Headers = append(t.Headers, fmt.Sprint(u))
	}
	for i, first := range rows {
		row := []string{first.Contender, threshold(first)}
		for j := range utilizations {
			p := m.Points[i*len(utilizations)+j]
			text := recovery(p.Recovery, p.Never, p.Trials)
			if p.Trials > 0 && p.Never == 0 {
				text = strconv.FormatFloat(p.Recovery.Mean, 'f', 0, 64)
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// CSV writes a line for each point.
func (m Metastability) CSV(w io.Writer) error {
	var rows [][]any
	for _, p := range m.Points {
		rows = append(rows, []any{p.Contender, p.Utilization, p.Trials, p.Never, mean(p.Recovery), se(p.Recovery)})
	}
	return writeCSV(w, []string{"policy", "utilization", "trials", "never", "recovery_s_mean", "recovery_s_se"}, rows)
}

// Section returns the table, the map, and the findings about own, the user's policies.
func (m Metastability) Section(own ...string) Section {
	s := Section{
		Heading:  "When a failure feeds itself",
		Findings: m.findings(own),
		Text: "The seconds from the end of the outage until the server has recovered, by its utilization (ρ) and by policy. " +
			"If no budget or limiter bounds the retries and ρ · attempts > 1, the retries of failed calls exceed the capacity of the server, " +
			"and calls keep failing although the outage is over.",
		Table:   m.Table(),
		Figures: figures(Figure{m.Map(), "Seconds from the end of the outage to recovery."}),
		Files:   []File{file("map.csv", m.CSV)},
	}
	if common, _ := m.names(); common != "" {
		s.Text += "\n\nAll policies of the picture have in common: " + common
	}
	return s
}

// findings describes the lowest utilization at which the server stays down.
func (m Metastability) findings(own []string) []Finding {
	var list []Finding
	rows, utilizations := m.axes()
	for i, first := range rows {
		if !slices.Contains(own, first.Contender) {
			continue
		}
		points := m.Points[i*len(utilizations):][:len(utilizations)]
		f := Finding{Policy: first.Contender, Headline: "The server recovers", Text: fmt.Sprintf(
			"Utilization: the server recovers at each that was tried, up to %v.", utilizations[len(utilizations)-1])}
		for _, p := range points {
			if p.Trials == 0 {
				return nil // interrupted
			}
			if p.Never > 0 {
				share := ""
				if p.Never < 1 {
					share = fmt.Sprintf(" in %s of the trials", percent(p.Never))
				}
				f.Headline, f.Bad = fmt.Sprintf("Keeps the server down at a utilization of %v%s", p.Utilization, share), true
				f.Text = fmt.Sprintf("Utilization: the lowest at which the server stays down is %v%s.", p.Utilization, share)
				break
			}
		}
		list = append(list, f)
	}
	return list
}

// names returns the words that all policies share, and the remaining words of each
// policy.
func (m Metastability) names() (common string, own []string) {
	rows, _ := m.axes()
	if len(rows) == 0 {
		return "", nil
	}
	shared := strings.Fields(rows[0].Contender)
	for _, r := range rows[1:] {
		words := strings.Fields(r.Contender)
		shared = slices.DeleteFunc(shared, func(word string) bool { return !slices.Contains(words, word) })
	}
	for _, r := range rows {
		words := slices.DeleteFunc(strings.Fields(r.Contender), func(word string) bool { return slices.Contains(shared, word) })
		if len(words) == 0 {
			words = []string{"nothing else"}
		}
		own = append(own, strings.Join(words, " "))
	}
	if len(rows) == 1 {
		return "", []string{rows[0].Contender}
	}
	return strings.Join(shared, " "), own
}

// Map shows the recovery times as a map. It returns nil if there are no points, too many,
// or unfinished ones.
func (m Metastability) Map() chart.Picture {
	first, utilizations := m.axes()
	if len(first) == 0 || len(first) > chart.MostCells || len(utilizations) > chart.MostCells {
		return nil // only the table
	}
	_, names := m.names()
	picture := chart.Map{
		Title: "Seconds to recovery", X: chart.Axis{Label: "utilization ρ"}, Y: chart.Axis{Label: "seconds, by policy"},
		Xs: utilizations, Curve: edge(first),
	}
	for i, policy := range first {
		row := chart.Row{Name: names[i], Policy: policy.Contender}
		for _, p := range m.Points[i*len(utilizations):][:len(utilizations)] {
			switch {
			case p.Trials == 0:
				return nil // interrupted: only the table
			case p.Never > 0.5:
				row.Cells = append(row.Cells, math.Inf(1))
			default:
				row.Cells = append(row.Cells, math.Round(p.Recovery.Mean))
			}
		}
		picture.Rows = append(picture.Rows, row)
	}
	return picture
}

// edge returns the line on which ρ · attempts is 1. The line ends before the first row
// that does not have more attempts than the previous row, or whose attempts are unlimited
// or bounded by something else. If the line would cover fewer than two rows, edge returns
// nil.
func edge(rows []lab.MetastabilityPoint) *chart.Series {
	s := &chart.Series{Name: "ρ · attempts = 1", Muted: true}
	for i, row := range rows {
		if row.Bounded || row.Attempts == retry.Unlimited || i > 0 && row.Attempts <= rows[i-1].Attempts {
			break
		}
		if i == 0 {
			s.X, s.Y = chart.Numbers{1 / float64(row.Attempts)}, chart.Numbers{0}
			continue
		}
		from, to := float64(rows[i-1].Attempts), float64(row.Attempts)
		for part := 0.05; part < 1.01; part += 0.05 {
			s.X = append(s.X, 1/(from+part*(to-from)))
			s.Y = append(s.Y, float64(i-1)+part)
		}
	}
	if len(s.X) < 2 {
		return nil
	}
	return s
}
