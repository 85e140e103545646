package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func summary(mean, sd float64, n int) lab.Summary { return lab.Summary{N: n, Mean: mean, SD: sd} }

func text(t *testing.T, table *report.Table) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Text(&b, table))
	return b.String()
}

func rows(t *testing.T, write func(w *bytes.Buffer) error) [][]string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b))
	list, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	return list
}

func TestContention(t *testing.T) {
	cells := []lab.Cell{
		{Contender: "a", Clients: 10, Calls: summary(50.123, 4, 100), Time: summary(0.3814, 0.03, 100), Done: summary(1, 0, 100), Timing: []float64{10, 20, 20}},
		{Contender: "a", Clients: 1000, Calls: summary(123456.7, 0, 1), Time: summary(15, 0, 1), Done: summary(0.5, 0, 1), Timing: []float64{10, 20, 20}},
		{Contender: "b", Clients: 10, Calls: summary(40, 4, 100), Time: summary(0.3, 0.03, 100), Done: summary(1, 0, 100)},
		{Contender: "b", Clients: 1000}, // interrupted
	}
	c := report.Contention{Cells: cells}
	assert.Equal(t, ""+
		"policy  clients  done     calls per success  calls         time (s)\n"+
		"a       10       100.0 %  5.01               50.12 ± 0.79  0.381 ± 0.006\n"+
		"a       1000     50.0 %   247                123457        15.0\n"+
		"b       10       100.0 %  4.00               40.00 ± 0.79  0.300 ± 0.006\n"+
		"b       1000     –        –                  –             –\n", text(t, c.Table()))
	list := rows(t, func(w *bytes.Buffer) error { return c.CSV(w) })
	assert.Equal(t, []string{"a", "10", "100", "50.123", "0.4", "4", "0.3814", "0.003", "0.03", "1"}, list[1])
	assert.Equal(t, []string{"b", "1000", "0", "", "", "", "", "", "", ""}, list[4])

	s := c.Section("a")
	require.Len(t, s.Figures, 2)
	series := s.Figures[0].Picture.Series
	assert.Equal(t, chart.Numbers{5.0123, 246.9134}, series[0].Y, "calls of clients that give up count")
	assert.Equal(t, chart.Series{Name: "(2N − 1) / N", X: chart.Numbers{10, 1000}, Y: chart.Numbers{1.9, 1.999}, Muted: true}, series[2])
	assert.Equal(t, "When 1000 clients call", s.Figures[1].Picture.Title)
	assert.Equal(t, "contention.csv", s.Files[0].Name)
	assert.Equal(t, []report.Finding{{
		Policy: "a", Headline: "50.0 % of the clients give up", Bad: true,
		Text: "1000 clients make 247 calls per success, in 15.0 s. Under none of the policies all clients succeed.",
	}}, s.Findings)
	assert.True(t, s.Table.Rows[0][2].Bad)

	c.Cells = []lab.Cell{cells[0], cells[2]}
	assert.Equal(t, []report.Finding{{
		Policy: "a", Headline: "All clients succeed",
		Text: "10 clients make 5.01 calls per success, in 0.381 s. Of the policies under which all succeed, b needs the fewest calls: 4.00 per success, in 0.300 s.",
	}}, c.Section("a").Findings)
	c.Cells = cells[3:] // nothing has finished
	_, pictures, err := c.Section().HTML()
	require.NoError(t, err)
	assert.Empty(t, pictures)
}

// The pictures show at most six policies.
func TestManyPolicies(t *testing.T) {
	var c report.Contention
	s := report.Storm{Storm: lab.Storm{Rate: 1, Horizon: time.Minute, Outage: lab.Outage{To: time.Second}}}
	for i := range 70 {
		name := strings.Repeat("x", i+1)
		for _, n := range []int{10, 20} {
			c.Cells = append(c.Cells, lab.Cell{Contender: name, Clients: n, Calls: summary(float64(20+i), 1, 9), Time: summary(0.4, 0.001, 9), Done: summary(1, 0, 9)})
		}
		s.Rows = append(s.Rows, lab.StormRow{Contender: name, Trials: make([]lab.StormTrial, 1), Attempts: []float64{1}, Goodputs: []float64{1}})
	}
	assert.Len(t, c.Section().Figures[0].Picture.Series, 6+1, "and a bound")
	assert.Len(t, s.Load().Series, 6)
	assert.Contains(t, s.Section().Text, "Of the 70 policies the pictures show 6.")
}

// row returns a row with a trial for each share of successful calls.
func row(name string, recovery float64, successes ...float64) lab.StormRow {
	r := lab.StormRow{
		Contender: name, Peak: summary(3, 0.5, 4), Recovery: summary(recovery, 0, len(successes)), P50: summary(0.008, 0, 4), P99: summary(0.1, 0, 4),
		Attempts: []float64{700, 1400}, Goodputs: []float64{700, 0},
	}
	r.Before, r.PerSuccess = summary(1, 0, len(successes)), summary(3, 0, len(successes))
	for i, success := range successes {
		r.Trials = append(r.Trials, lab.StormTrial{Number: i, Success: success, Recovered: true, Recovery: recovery})
		r.Success.Mean += success / float64(len(successes))
	}
	return r
}

// never returns a row of trials in which the server does not recover.
func never(r lab.StormRow) lab.StormRow {
	r.Never, r.Recovery = 1, lab.Summary{}
	for i := range r.Trials {
		r.Trials[i].Recovered = false
	}
	return r
}

func TestStorm(t *testing.T) {
	st, err := lab.Storm{Outage: lab.Outage{Kind: lab.BrownOut, Share: 0.25, From: time.Minute, To: 90 * time.Second}}.WithDefaults()
	require.NoError(t, err)
	sometimes := row("a", 12, 0.7, 0.8, 0.75)
	sometimes.Recovery, sometimes.Never = summary(12, 2, 3), 0.25
	s := report.Storm{Storm: st, Rows: []lab.StormRow{
		sometimes, row("none", 3, 0.9, 0.9, 0.9), never(row("standard attempts=3", 0, 0.88, 0.88, 0.88)), {Contender: "interrupted"},
	}}
	assert.Equal(t, ""+
		"policy                             success  p99 (s)  peak load  recovery (s)              attempts per success\n"+
		"a                                  75.0 %   –        3.00 ×     12.0 ± 5.0, 25.0 % never  3.00\n"+
		"none (no retry)                    90.0 %   0.100    3.00 ×     3.0                       3.00\n"+
		"standard attempts=3 (zero policy)  88.0 %   0.100    3.00 ×     never                     3.00\n"+
		"interrupted                        –        –        –          –                         –\n", text(t, s.Table()))
	list := rows(t, func(w *bytes.Buffer) error { return s.CSV(w) })
	assert.Equal(t, []string{"a", "3", "0.25", "3", "0.25"}, list[1][:5])
	assert.Equal(t, len(list[0]), len(list[1]))
	series := rows(t, func(w *bytes.Buffer) error { return s.SeriesCSV(w) })
	assert.Equal(t, [][]string{{"policy", "second", "attempts", "successes"}, {"a", "0", "700", "700"}, {"a", "1", "1400", "0"}}, series[:3])
	section := s.Section()
	assert.Contains(t, section.Text[0], "never: not within 180 s.")
	assert.Equal(t, "A server can serve 1000 attempts a second and gets 700 calls a second. It works at 25.0 % of its pace for 30 s.", section.Lead)
	require.Len(t, section.Figures, 2)
	load := section.Figures[0].Picture
	assert.Equal(t, &chart.Mark{Y: st.Capacity() / st.Rate, Label: "capacity"}, load.Mark)
	assert.Equal(t, &chart.Interval{From: 54, To: 120}, load.First, "from before the outage to as long after it")

	s.Rows = []lab.StormRow{row("late", 50, 1, 1)}
	assert.Equal(t, 150.0, s.Load().First.To, "to the last recovery")
	s.Rows = []lab.StormRow{{Contender: "interrupted"}}
	_, pictures, err := s.Section().HTML()
	require.NoError(t, err)
	assert.Empty(t, pictures)
	assert.Empty(t, s.Section("interrupted").Findings)
	s.Storm.Gate, s.Storm.Outage.Kind = func() *admit.Gate { return nil }, lab.Down
	assert.Contains(t, s.Section().Lead, "It refuses everything for 30 s. An admission gate")
}

// A time or a number of calls is not negative, and nor is its confidence interval.
func TestIntervalBeginsAtZero(t *testing.T) {
	r := row("a", 0, 1, 1, 1)
	c := lab.Cell{Contender: "a", Clients: 10, Done: summary(1, 0, 4)}
	for _, tt := range []struct {
		sample         lab.Summary
		recovery, time string
	}{
		{summary(1, 2, 4), "1.0 (0 to 4.2)", "1.0 (0 to 4.2)"},
		{summary(0, 0, 4), "0.0", "0.000"},
		{summary(4, 2, 4), "4.0 ± 3.2", "4.0 ± 3.2"},
	} {
		r.Recovery, c.Time, c.Calls = tt.sample, tt.sample, tt.sample
		assert.Equal(t, tt.recovery, report.Storm{Rows: []lab.StormRow{r}}.Table().Rows[0][4].Text)
		table := report.Contention{Cells: []lab.Cell{c}}.Table()
		assert.Equal(t, tt.time, table.Rows[0][4].Text)
		assert.Equal(t, tt.time, table.Rows[0][5].Text)
	}
}

func TestFindings(t *testing.T) {
	st, err := lab.Storm{}.WithDefaults()
	require.NoError(t, err)
	base := row("none", 3, 0.9, 0.91, 0.92)
	overloaded := row("none", 3, 0.5, 0.5, 0.5)
	overloaded.Before.Mean = 0.5
	sometimes := row("a", 3, 1, 1, 1)
	sometimes.Never = 1.0 / 3
	for _, tt := range []struct {
		name      string
		own, base lab.StormRow
		headline  string
		bad       bool
	}{
		{"better", row("a", 3, 0.95, 0.96, 0.97), base, "Helps: 5.0 points more calls succeed", false},
		{"late", row("a", 17, 0.95, 0.96, 0.97), base, "Helps, but delays the recovery", false},
		{"recovery only with it", row("a", 17, 0.95, 0.96, 0.97), never(base), "Helps: 5.0 points more calls succeed", false},
		{"noise", row("a", 3, 0.95, 0.89, 0.92), base, "Changes little", false},
		{"less than half a point", row("a", 3, 0.896, 0.906, 0.916), base, "Changes little", false},
		{"equal", row("a", 3, 0.9, 0.91, 0.92), base, "Changes little", false},
		{"worse", row("a", 3, 0.89, 0.9, 0.91), base, "Harms: 1.0 points fewer calls succeed", true},
		{"down", never(row("a", 0, 0.2, 0.2, 0.2)), base, "Keeps the server down", true},
		{"down at times", sometimes, base, "Keeps the server down in 33.3 % of the trials", true},
		{"down before", row("a", 3, 0.4, 0.4, 0.4), overloaded, "The server is overloaded even before the outage", true},
		{"down anyway", never(row("a", 0, 0.2, 0.2, 0.2)), never(base), "The server stays down, even without retries", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			findings := report.Storm{Storm: st, Rows: []lab.StormRow{tt.own, tt.base}}.Section("a", "none").Findings
			require.Len(t, findings, 1, "no retry is what the others are compared with")
			assert.Contains(t, findings[0].Headline, tt.headline)
			assert.Equal(t, tt.bad, findings[0].Bad)
		})
	}
}

func TestExplain(t *testing.T) {
	for text, want := range map[string][]string{
		"full base=100ms attempts=4 elapsed=1m timeout=2s": {"attempts: 4", "4.00 times the load; there is no budget", "more than 25.0 % can"},
		"aws-standard-2.1 limiter=adaptive":                {"attempts: 3", "3.00 times the load at first; the budget ends that"},
		"no-delay attempts=unlimited":                      {"without end", "more load from second to second", "however little"},
		"none":                                             {"attempts: 1", "waits in all: 0s to 0s"},
	} {
		p, err := retryconfig.Parse(text)
		require.NoError(t, err)
		for _, part := range want {
			assert.Contains(t, strings.Join(report.NewExplain(p, 0).Facts(), "\n"), part, text)
		}
	}
	elapsed := report.NewExplain(retry.Policy{Backoff: retry.Constant(time.Second), MaxElapsed: 1}, 0)
	assert.NotContains(t, strings.Join(elapsed.Facts(), "\n"), "while", "elapsed allows no retry")
	assert.Len(t, report.NewExplain(retry.Policy{MaxAttempts: 1}, 0).Table().Rows, 1, "no retry, no wait")
	longest := report.NewExplain(retry.Policy{Backoff: retry.Constant(math.MaxInt64), MaxAttempts: 3}, 0)
	assert.Contains(t, fmt.Sprint(longest.Table().Rows), "2561111h", "three digits of the longest time")
	e := report.NewExplain(retry.Policy{MaxAttempts: retry.Unlimited}, 0)
	s := e.Section()
	assert.Len(t, s.Table.Rows, 101)
}
