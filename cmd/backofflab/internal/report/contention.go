// Clients that contend for one row.

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

// Contention presents the results of a [lab.Contention].
type Contention struct {
	Cells []lab.Cell
}

// Crowd returns the user's policies and two under which all clients succeed in the end, with
// and without jitter.
func Crowd(own []lab.Contender) []lab.Contender {
	blog := lab.Blog()
	return lab.Join(own, []lab.Contender{blog[3], blog[1]})
}

// Table returns a row for each cell.
func (c Contention) Table() *Table {
	t := &Table{Headers: []string{"policy", "clients", "done", "calls per success", "calls", "time (s)"}}
	for _, cell := range c.Cells {
		clients := strconv.Itoa(cell.Clients)
		if cell.Calls.N == 0 {
			t.add(cell.Contender, clients, "–", "–", "–", "–")
			continue
		}
		lost := cell.Done.Mean < 1
		t.Rows = append(t.Rows, []Cell{
			{Text: cell.Contender}, {Text: clients}, {Text: percent(cell.Done.Mean), Bad: lost},
			{Text: perSuccess(cell.PerSuccess()), Bad: lost},
			{Text: estimate(cell.Calls)}, {Text: estimate(cell.Time)},
		})
	}
	return t
}

// CSV writes a line for each cell, in full precision.
func (c Contention) CSV(w io.Writer) error {
	header := []string{
		"policy", "clients", "trials", "calls_mean", "calls_se", "calls_sd",
		"time_s_mean", "time_s_se", "time_s_sd", "done_mean",
	}
	var rows [][]any
	for _, cell := range c.Cells {
		rows = append(rows, []any{
			cell.Contender, cell.Clients, cell.Calls.N, mean(cell.Calls), se(cell.Calls), sd(cell.Calls),
			mean(cell.Time), se(cell.Time), sd(cell.Time), mean(cell.Done),
		})
	}
	return writeCSV(w, header, rows)
}

// Section compares own, the user's policies, with the others at the largest number of
// clients.
func (c Contention) Section(own ...string) Section {
	table := Contention{c.most()}.Table()
	table.mark(own)
	return Section{
		Heading:  "Clients that contend for one row",
		Lead:     "All clients start at the same time. Each reads a row and writes it on the condition that no other client has written since; otherwise it waits as its policy says and reads again.",
		Findings: c.findings(own),
		Table:    table,
		Figures: []Figure{
			{c.Calls(), "Writes that the server gets for each that succeeds. If N clients start at the same time and all succeed, at least N − 1 writes fail: the gray line."},
			{c.Timing(), "When the calls come."},
		},
		Text:  []string{"Time is until the last client succeeds or gives up. ± and ranges in parentheses are 95 % confidence intervals. Red: not all clients succeed."},
		Files: []File{file("contention.csv", c.CSV)},
		Own:   own,
	}
}

// most returns the finished cells with the largest number of clients.
func (c Contention) most() []lab.Cell {
	cells := c.finished()
	clients := 0
	for _, cell := range cells {
		clients = max(clients, cell.Clients)
	}
	return slices.DeleteFunc(cells, func(cell lab.Cell) bool { return cell.Clients < clients })
}

func (c Contention) finished() []lab.Cell {
	return slices.DeleteFunc(slices.Clone(c.Cells), func(cell lab.Cell) bool { return cell.Calls.N == 0 })
}

// findings says for each of the user's policies how many clients succeed, and which of the
// policies under which all succeed needs the fewest calls.
func (c Contention) findings(own []string) (list []Finding) {
	cells := c.most()
	complete := slices.DeleteFunc(slices.Clone(cells), func(cell lab.Cell) bool { return cell.Done.Mean < 1 })
	best := "Under none of the policies all clients succeed."
	if len(complete) > 0 {
		b := slices.MinFunc(complete, func(a, b lab.Cell) int { return cmp.Compare(a.Calls.Mean, b.Calls.Mean) })
		best = fmt.Sprintf("Of the policies under which all succeed, %s needs the fewest calls: %s per success, in %s s.",
			b.Contender, perSuccess(b.PerSuccess()), number(b.Time.Mean))
	}
	for _, cell := range cells {
		if !slices.Contains(own, cell.Contender) {
			continue
		}
		f := Finding{
			Policy: cell.Contender, Headline: "All clients succeed",
			Text: fmt.Sprintf("%d clients make %s calls per success, in %s s. %s", cell.Clients,
				perSuccess(cell.PerSuccess()), number(cell.Time.Mean), best),
		}
		if cell.Done.Mean < 1 {
			f.Headline, f.Bad = percent(1-cell.Done.Mean)+" of the clients give up", true
		}
		list = append(list, f)
	}
	return list
}

// Work shows the calls by number of clients; nil if there is only one number of clients.
func (c Contention) Work() *chart.Picture {
	return c.byClients("Work", "calls", func(cell lab.Cell) float64 { return cell.Calls.Mean })
}

// Time shows the time until the last client is done, by number of clients; nil if there is only
// one number of clients.
func (c Contention) Time() *chart.Picture {
	return c.byClients("Time", "time until all are done (s)", func(cell lab.Cell) float64 { return cell.Time.Mean })
}

func (c Contention) byClients(title, label string, value func(lab.Cell) float64) *chart.Picture {
	p := &chart.Picture{
		Kind:  chart.Lines,
		Title: title,
		X:     chart.Axis{Label: "clients"},
		Y:     chart.Axis{Label: label},
	}
	for _, cell := range c.finished() {
		i := slices.IndexFunc(p.Series, func(s chart.Series) bool { return s.Name == cell.Contender })
		if i < 0 && len(p.Series) == chart.MostSeries {
			continue
		}
		if i < 0 {
			i = len(p.Series)
			p.Series = append(p.Series, chart.Series{Name: cell.Contender})
		}
		line := &p.Series[i]
		line.X, line.Y = append(line.X, float64(cell.Clients)), append(line.Y, value(cell))
	}
	if len(p.Series) == 0 || len(p.Series[0].X) < 2 {
		return nil
	}
	return p
}

// Article presents a [Contention] with the pictures of the article "Exponential Backoff And
// Jitter".
type Article struct{ Contention }

// Section shows the pictures, and the table of all numbers of clients.
func (a Article) Section(own ...string) Section {
	s := a.Contention.Section(own...)
	s.Table = a.Table()
	s.Table.mark(own)
	s.Figures = []Figure{
		{a.Work(), "Work: the writes that the server gets until all clients are done."},
		{a.Time(), "Time until all clients are done."},
		{a.Timing(), "When the calls come."},
	}
	return s
}

// Pictures returns the pictures by the names of their files.
func (a Article) Pictures() map[string]*chart.Picture {
	pictures := map[string]*chart.Picture{"work": a.Work(), "time": a.Time(), "calls-over-time": a.Timing()}
	maps.DeleteFunc(pictures, func(_ string, p *chart.Picture) bool { return p == nil })
	return pictures
}

// Calls shows the calls per success, by number of clients; nil if there is only one number of
// clients.
func (c Contention) Calls() *chart.Picture {
	var lines []chart.Series
	bound := chart.Series{Name: "(2N − 1) / N", Muted: true}
	for _, cell := range c.finished() {
		i := slices.IndexFunc(lines, func(s chart.Series) bool { return s.Name == cell.Contender })
		n := float64(cell.Clients)
		if cell.Done.Mean == 0 || i < 0 && len(lines) == chart.MostSeries {
			continue
		}
		if i < 0 {
			i = len(lines)
			lines = append(lines, chart.Series{Name: cell.Contender})
		}
		lines[i].X, lines[i].Y = append(lines[i].X, n), append(lines[i].Y, cell.PerSuccess())
		if !slices.Contains(bound.X, n) {
			bound.X, bound.Y = append(bound.X, n), append(bound.Y, (2*n-1)/n)
		}
	}
	if len(bound.X) < 2 {
		return nil
	}
	return &chart.Picture{
		Kind:   chart.Lines,
		Title:  "Calls per success",
		X:      chart.Axis{Label: "clients"},
		Y:      chart.Axis{Label: "calls / clients that succeed"},
		Series: append(lines, bound),
	}
}

// Timing shows when clients call, with the largest number of clients. It returns nil if the
// calls were not counted by time.
func (c Contention) Timing() *chart.Picture {
	p := chart.Picture{
		Kind: chart.Strips, X: chart.Axis{Label: "time since the start (s)"}, Y: chart.Axis{Label: fmt.Sprintf("calls in %v s", lab.TimingBin.Seconds())},
	}
	for _, cell := range c.most() {
		if cell.Timing == nil || len(p.Series) == chart.MostSeries {
			continue
		}
		s := chart.Series{Name: cell.Contender, Y: cell.Timing}
		for bin := range cell.Timing {
			s.X = append(s.X, float64(bin)*lab.TimingBin.Seconds())
		}
		p.Title, p.Series = fmt.Sprintf("When %d clients call", cell.Clients), append(p.Series, s)
	}
	if p.Series == nil {
		return nil
	}
	return &p
}
