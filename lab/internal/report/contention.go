// The result of contention.

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/chart"
)

// Contention presents the results of a [lab.Contention].
type Contention struct {
	Cells   []lab.Cell
	Network lab.Network
}

const mostLines = chart.MostLines - 1 // one more line may show a bound

// longTable is the number of rows above which a page shows only the rows with the largest
// number of clients.
const longTable = 40

func (c Contention) finished() []lab.Cell {
	return slices.DeleteFunc(slices.Clone(c.Cells), func(cell lab.Cell) bool { return cell.Calls.N == 0 })
}

// Table returns a row for each cell.
func (c Contention) Table() *Table {
	t := &Table{Headers: []string{"policy", "clients", "trials", "calls", "calls a client", "time (s)", "ms a client", "done"}}
	for _, cell := range c.Cells {
		n := float64(cell.Clients)
		row := []string{cell.Contender, strconv.Itoa(cell.Clients), strconv.Itoa(cell.Calls.N), "–", "–", "–", "–", "–"}
		if cell.Calls.N > 0 {
			row = append(row[:3], estimate(cell.Calls), number(cell.Calls.Mean/n),
				estimate(scaled(cell.Time, 1e-3)), number(cell.Time.Mean/n), percent(cell.Done.Mean))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func scaled(s lab.Summary, factor float64) lab.Summary {
	s.Mean *= factor
	s.SD *= factor
	return s
}

// CSV writes a line for each cell, in full precision.
func (c Contention) CSV(w io.Writer) error {
	header := []string{
		"policy", "clients", "trials", "calls_mean", "calls_se", "calls_sd",
		"time_ms_mean", "time_ms_se", "time_ms_sd", "done_mean",
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

// Section returns the table, the pictures, and the findings about own, the user's policies.
func (c Contention) Section(own ...string) Section {
	s := Section{
		Heading:  "Clients that contend for one row",
		Findings: c.findings(own),
		Text: "All clients start at the same time. Each reads a row and writes it on the condition that no other client has written since; " +
			"otherwise it backs off and reads again. One of the conflicting writes succeeds. " +
			"Calls are the writes that reach the server, and time is until the last client is done. " +
			"Bands and ± are 95 % confidence intervals.",
		Table: c.Table(),
		Figures: figures(
			Figure{c.Calls(), "Calls that the server gets. If all N clients start at the same time, at least N − 1 calls fail: a policy under which all clients succeed is not below the gray line."},
			Figure{c.Time(), "Time until the last client is done. The gray line is the time if no call is wasted."},
			Figure{c.Tradeoff(), "Calls and time. Nearer to the lower left corner is better; the gray curve is the best for clients that choose their times at random, at a steady rate."},
			Figure{c.Timing(), "When the calls come."},
		),
		Files: []File{file("contention.csv", c.CSV)},
	}
	if n := len(c.most()); n > chart.MostStrips {
		s.Text += fmt.Sprintf("\n\nOf the %d policies the first %d have a line, and the first %d a strip.", n, min(n, mostLines), chart.MostStrips)
	}
	if most := c.most(); len(c.Cells) > longTable && len(most) > 0 {
		s.Table = Contention{Cells: most}.Table()
		s.Table.Caption = fmt.Sprintf("With %d clients.", most[0].Clients)
	}
	return s
}

// findings compares each of the user's policies with the others, at the largest number of
// clients.
func (c Contention) findings(own []string) []Finding {
	cells := c.most()
	if len(cells) == 0 {
		return nil
	}
	callsPerSuccess := func(cell lab.Cell) float64 { return cell.Calls.Mean / (cell.Done.Mean * float64(cell.Clients)) }
	best := func(cells []lab.Cell) string {
		cell := slices.MinFunc(cells, func(a, b lab.Cell) int { return cmp.Compare(callsPerSuccess(a), callsPerSuccess(b)) })
		return fmt.Sprintf("%s needs the fewest calls for each client that succeeds: %s, in %s s.", cell.Contender, number(callsPerSuccess(cell)), number(cell.Time.Mean/1000))
	}
	if len(own) == 0 {
		return []Finding{{Text: fmt.Sprintf("Contention: with %d clients, %s", cells[0].Clients, best(cells))}}
	}
	var list []Finding
	for _, cell := range cells {
		if !slices.Contains(own, cell.Contender) {
			continue
		}
		calls := number(cell.Calls.Mean / float64(cell.Clients))
		f := Finding{
			Policy: cell.Contender, Headline: "Under contention: " + calls + " calls a client",
			Text: fmt.Sprintf("Contention: with %d clients it makes %s calls a client in %s s, and %s of the clients succeed.",
				cell.Clients, calls, number(cell.Time.Mean/1000), percent(cell.Done.Mean)),
		}
		others := slices.DeleteFunc(slices.Clone(cells), func(other lab.Cell) bool { return slices.Contains(own, other.Contender) })
		if len(others) > 0 {
			f.Text += " Of the others, " + best(others)
		}
		list = append(list, f)
	}
	return list
}

// byClients returns a line with margins for each contender.
func (c Contention) byClients(figure func(lab.Cell) lab.Summary) (lines []chart.Series, clients []float64) {
	for _, cell := range c.finished() {
		i := slices.IndexFunc(lines, func(s chart.Series) bool { return s.Name == cell.Contender })
		if i < 0 {
			if len(lines) == mostLines {
				continue
			}
			i = len(lines)
			lines = append(lines, chart.Series{Name: cell.Contender})
		}
		v, l := figure(cell), &lines[i]
		l.X = append(l.X, float64(cell.Clients))
		l.Y = append(l.Y, v.Mean)
		// A margin wider than the mean does not fit a logarithmic axis.
		l.Low = append(l.Low, max(v.Mean-v.Margin(), v.Mean/10))
		l.High = append(l.High, v.Mean+v.Margin())
		clients = append(clients, float64(cell.Clients))
	}
	slices.Sort(clients)
	return lines, slices.Compact(clients)
}

func bound(name string, clients []float64, of func(n float64) float64) chart.Series {
	s := chart.Series{Name: name, X: clients, Muted: true}
	for _, n := range clients {
		s.Y = append(s.Y, of(n))
	}
	return s
}

func needsLog(values []float64) bool { return values[len(values)-1] > 50*values[0] }

// Calls shows calls by number of clients; nil if there is only one number of clients.
func (c Contention) Calls() chart.Picture {
	lines, clients := c.byClients(func(cell lab.Cell) lab.Summary { return cell.Calls })
	if len(clients) < 2 {
		return nil
	}
	lines = append(lines, bound("2N − 1", clients, func(n float64) float64 { return 2*n - 1 }))
	return chart.Lines{
		Title:  "Calls",
		X:      chart.Axis{Label: "clients", Log: needsLog(clients)},
		Y:      chart.Axis{Label: "calls in all", Log: needsLog(clients)},
		Series: lines,
	}
}

// Time shows the time by number of clients; nil if there is only one number of clients.
func (c Contention) Time() chart.Picture {
	lines, clients := c.byClients(func(cell lab.Cell) lab.Summary { return scaled(cell.Time, 1e-3) })
	if len(clients) < 2 {
		return nil
	}
	trip := 2 * c.Network.Mean.Seconds()
	lines = append(lines, bound("no call wasted", clients, func(n float64) float64 { return trip * (n + 1) }))
	return chart.Lines{
		Title:  "Completion time",
		X:      chart.Axis{Label: "clients", Log: needsLog(clients)},
		Y:      chart.Axis{Label: "time until all are done (s)", Log: true},
		Series: lines,
	}
}

func (c Contention) most() []lab.Cell {
	cells := c.finished()
	if len(cells) == 0 {
		return nil
	}
	n := slices.MaxFunc(cells, func(a, b lab.Cell) int { return a.Clients - b.Clients }).Clients
	return slices.DeleteFunc(cells, func(cell lab.Cell) bool { return cell.Clients != n })
}

// Tradeoff shows calls against time at the largest number of clients; nil for a single
// policy.
func (c Contention) Tradeoff() chart.Picture {
	cells := c.most()
	var points []chart.Point
	for _, cell := range cells[:min(len(cells), chart.MostPoints)] {
		n := float64(cell.Clients)
		points = append(points, chart.Point{Name: cell.Contender, X: cell.Calls.Mean / n, Y: cell.Time.Mean / n})
	}
	if len(points) < 2 {
		return nil
	}
	return chart.Points{
		Title:  fmt.Sprintf("Calls against time, %d clients", cells[0].Clients),
		X:      chart.Axis{Label: "calls a client", Log: true},
		Y:      chart.Axis{Label: "time a client (ms)", Log: true},
		Points: points,
		Curve:  c.steady(),
	}
}

// steady returns the curve of clients that call at random times at a steady rate. If r is
// the round trip, c the number of calls per success, and t the time per success, then
// (c − 1)(t − r) ≈ r.
func (c Contention) steady() *chart.Series {
	r := 2 * float64(c.Network.Mean) / float64(time.Millisecond)
	s := &chart.Series{Name: "best steady rate", Muted: true}
	for calls := 1.2; calls < 12; calls *= 1.08 {
		s.X = append(s.X, calls)
		s.Y = append(s.Y, r+r/(calls-1))
	}
	return s
}

// Timing shows when clients call, with the largest number of clients. It returns nil if the
// calls were not counted by time.
func (c Contention) Timing() chart.Picture {
	var strips []chart.Strip
	clients := 0
	for _, cell := range c.most() {
		if cell.Timing != nil && len(strips) < chart.MostStrips {
			clients = cell.Clients
			strips = append(strips, chart.Strip{Name: cell.Contender, Values: cell.Timing})
		}
	}
	if strips == nil {
		return nil
	}
	return chart.Strips{
		Title:  fmt.Sprintf("When %d clients call", clients),
		X:      chart.Axis{Label: "time since the start (ms)"},
		Y:      chart.Axis{Label: fmt.Sprintf("calls in %d ms", lab.TimingBin.Milliseconds())},
		Width:  float64(lab.TimingBin.Milliseconds()),
		Strips: strips,
	}
}
