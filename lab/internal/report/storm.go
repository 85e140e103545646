package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/chart"
	"github.com/gobackoff/retry/lab/internal/page"
)

// Storm is what is shown of a [lab.Storm].
type Storm struct {
	Storm lab.Storm // with the values that it ran with
	Rows  []lab.StormRow
}

// recovery returns how long a server needs that does not come back in every trial.
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

// Table returns a row for each policy.
func (s Storm) Table() *page.Table {
	t := &page.Table{Headers: []string{
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

// what the outage does, in words.
func (s Storm) outage() string {
	o := s.Storm.Outage
	from, to := o.From.Seconds(), o.To.Seconds()
	switch o.Kind {
	case lab.Down:
		return fmt.Sprintf("refuses everything from second %g to %g", from, to)
	case lab.BrownOut:
		return fmt.Sprintf("works at %s of its pace from second %g to %g", percent(o.Share), from, to)
	}
	return fmt.Sprintf("stands still from second %g to %g", from, to)
}

// Section returns the table and the pictures.
func (s Storm) Section() (page.Section, error) {
	st := s.Storm
	sec := page.Section{
		Heading: "A server that fails for a while",
		Text: fmt.Sprintf("%s calls a second come to a server that can do %s, and that %s. "+
			"A client waits %v for the answer to an attempt, and %v in all; the server does not know of it. "+
			"Up to %d attempts wait at the server. The calls come from %d processes, each with a budget of its own. "+
			"Every call is a call of retry.Do in virtual time.\n\n"+
			"Peak load and goodput are shares of the calls that come. Recovery is how long after the outage it takes "+
			"until 99 %% of the calls succeed, for ten seconds in a row; goodput after is that of the minute after the outage. "+
			"Latencies are those of calls that succeed: a policy under which few do can look fast. ± is a 95 %% confidence interval.",
			number(st.Rate), number(st.Capacity()), s.outage(), st.Timeout, st.Deadline, st.Queue, st.Processes),
		Table: s.Table(),
	}
	err := addFigures(&sec,
		figure{s.Load, "Attempts that reach the server, as a multiple of the calls that come."},
		figure{s.Goodput, "Calls that succeed, as a share of the calls that come."},
	)
	return sec, err
}

// Load draws the attempts over time; nil if there are none.
func (s Storm) Load() ([]byte, error) {
	return s.overTime("Load", "attempts / calls", func(r lab.StormRow) []float64 { return r.Attempts },
		chart.HLine{Y: s.Storm.Capacity() / s.Storm.Rate, Label: "capacity"})
}

// Goodput draws the successes over time; nil if there are none.
func (s Storm) Goodput() ([]byte, error) {
	return s.overTime("Goodput", "successes / calls", func(r lab.StormRow) []float64 { return r.Goodputs })
}

func (s Storm) overTime(title, label string, series func(lab.StormRow) []float64, marks ...chart.HLine) ([]byte, error) {
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
		return nil, nil
	}
	o := s.Storm.Outage
	return chart.Lines{
		Title:  title,
		X:      chart.Axis{Label: "time (s)", Seconds: true},
		Y:      chart.Axis{Label: label},
		Series: lines,
		Shade:  []chart.Interval{{From: o.From.Seconds(), To: o.To.Seconds(), Label: strings.ReplaceAll(o.Kind.String(), "-", "‑")}},
		Marks:  marks,
	}.SVG()
}

// Metastability is what is shown of a [lab.Metastability].
type Metastability struct {
	Backoff string // the text of its rule
	Points  []lab.MetastabilityPoint
}

// axes returns the numbers of retries and the utilisations, in their order.
func (m Metastability) axes() (retries []int, utilisations []float64) {
	for _, p := range m.Points {
		if len(retries) == 0 || retries[len(retries)-1] != p.Retries {
			retries = append(retries, p.Retries)
		}
		if len(retries) == 1 {
			utilisations = append(utilisations, p.Utilisation)
		}
	}
	return retries, utilisations
}

// Table returns a row for each number of retries.
func (m Metastability) Table() *page.Table {
	retries, utilisations := m.axes()
	t := &page.Table{Headers: []string{"retries", "1 / (1 + retries)"}}
	for _, u := range utilisations {
		t.Headers = append(t.Headers, fmt.Sprint(u))
	}
	for i, k := range retries {
		row := []string{strconv.Itoa(k), number(1 / float64(1+k))}
		for j := range utilisations {
			p := m.Points[i*len(utilisations)+j]
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
		rows = append(rows, []any{p.Retries, p.Utilisation, p.Trials, p.Never, mean(p.Recovery), se(p.Recovery)})
	}
	return writeCSV(w, []string{"retries", "utilisation", "trials", "never", "recovery_s_mean", "recovery_s_se"}, rows)
}

// Section returns the table and the map.
func (m Metastability) Section() (page.Section, error) {
	s := page.Section{
		Heading: "When a failure feeds itself",
		Text: fmt.Sprintf("How many seconds after the outage the server is back, by how much of it is used (ρ) and how often clients "+
			"try again, with %s and no budget. Above the line, where ρ · (1 + retries) > 1, the retries of calls that fail "+
			"are more than the server can do, and they keep failing although nothing is broken any more.", m.Backoff),
		Table: m.Table(),
	}
	err := addFigures(&s, figure{m.Map, "Seconds from the end of the outage to recovery."})
	return s, err
}

// Map draws the map; nil without points.
func (m Metastability) Map() ([]byte, error) {
	retries, utilisations := m.axes()
	var rows []float64
	var cells [][]float64
	for i, k := range retries {
		rows = append(rows, float64(k))
		var row []float64
		for j := range utilisations {
			p := m.Points[i*len(utilisations)+j]
			switch {
			case p.Trials == 0:
				return nil, nil // interrupted: the table shows what there is
			case p.Never > 0.5:
				row = append(row, math.Inf(1))
			default:
				row = append(row, math.Round(p.Recovery.Mean))
			}
		}
		cells = append(cells, row)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	threshold := &chart.Series{Name: "ρ · (1 + retries) = 1", Muted: true}
	for k := 0.0; k <= rows[len(rows)-1]; k += 0.05 {
		threshold.X = append(threshold.X, 1/(1+k))
		threshold.Y = append(threshold.Y, k)
	}
	return chart.Map{
		Title: "Seconds to recovery",
		X:     chart.Axis{Label: "utilisation ρ"},
		Y:     chart.Axis{Label: "retries"},
		Xs:    utilisations,
		Ys:    rows,
		Cells: cells,
		Scale: chart.Axis{Label: "seconds", Log: false},
		Never: "never",
		Curve: threshold,
	}.SVG()
}
