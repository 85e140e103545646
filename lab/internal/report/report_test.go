package report_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/chart"
	"github.com/gobackoff/retry/lab/internal/report"
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
		{Contender: "a", Clients: 10, Calls: summary(50.123, 4, 100), Time: summary(381.4, 30, 100), Done: summary(1, 0, 100), Timing: []float64{10, 20, 20}},
		{Contender: "a", Clients: 1000, Calls: summary(123456.7, 0, 1), Time: summary(15000, 0, 1), Done: summary(0.5, 0, 1), Timing: []float64{10, 20, 20}},
		{Contender: "b", Clients: 10, Calls: summary(40, 4, 100), Time: summary(300, 30, 100), Done: summary(1, 0, 100)},
		{Contender: "b", Clients: 1000}, // interrupted
	}
	c := report.Contention{Cells: cells, Network: lab.Network{Mean: 10 * time.Millisecond}}
	assert.Equal(t, ""+
		"policy  clients  trials  calls         calls a client  time (s)       ms a client  done\n"+
		"a       10       100     50.12 ± 0.79  5.01            0.381 ± 0.006  38.1         100.0 %\n"+
		"a       1000     1       123457        123             15.0           15.0         50.0 %\n"+
		"b       10       100     40.00 ± 0.79  4.00            0.300 ± 0.006  30.0         100.0 %\n"+
		"b       1000     0       –             –               –              –            –\n", text(t, c.Table()))
	list := rows(t, func(w *bytes.Buffer) error { return c.CSV(w) })
	assert.Equal(t, []string{"a", "10", "100", "50.123", "0.4", "4", "381.4", "3", "30", "1"}, list[1])
	assert.Equal(t, []string{"b", "1000", "0", "", "", "", "", "", "", ""}, list[4])

	s := c.Section()
	require.Len(t, s.Figures, 3, "there is only one point with 1000 clients, so there is no picture of calls against time")
	series := s.Figures[0].Picture.(chart.Lines).Series
	assert.Equal(t, "2N − 1", series[len(series)-1].Name)
	assert.Equal(t, "When 1000 clients call", s.Figures[2].Picture.(chart.Strips).Title)
	assert.Equal(t, "contention.csv", s.Files[0].Name)
	assert.Equal(t, []report.Finding{{Text: "Contention: with 1000 clients, a needs the fewest calls for each client that succeeds: 247, in 15.0 s."}}, s.Findings)
	assert.Equal(t, []report.Finding{{
		Policy: "a", Headline: "Under contention: 123 calls a client",
		Text: "Contention: with 1000 clients it makes 123 calls a client in 15.0 s, and 50.0 % of the clients succeed.",
	}}, c.Section("a").Findings)

	c.Cells = cells[3:] // nothing has finished
	s = c.Section()
	assert.Empty(t, s.Figures)
	assert.Len(t, s.Table.Rows, 1)
}

func TestManyPolicies(t *testing.T) {
	var c report.Contention
	for i := range 70 {
		for _, n := range []int{10, 20} {
			c.Cells = append(c.Cells, lab.Cell{Contender: strings.Repeat("x", i+1), Clients: n, Calls: summary(float64(20+i), 1, 9), Time: summary(400, 1, 9)})
		}
	}
	c.Network.Mean = time.Millisecond
	s := c.Section()
	assert.Len(t, s.Figures, 3)
	assert.Len(t, s.Table.Rows, 70, "the rows with most clients")
	assert.Equal(t, "With 20 clients.", s.Table.Caption)
	assert.Contains(t, s.Text, "Of the 70 policies the first 23 have a line, and the first 12 a strip.")
}

func TestStorm(t *testing.T) {
	st, err := lab.Storm{Outage: lab.Outage{Kind: lab.BrownOut, Share: 0.25}}.WithDefaults()
	require.NoError(t, err)
	row := lab.StormRow{
		Contender: "a", Trials: make([]lab.StormTrial, 4), Never: 0.25,
		Peak: summary(3, 0.5, 4), Amplification: summary(1.1, 0.01, 4), Recovery: summary(12, 2, 3),
		Goodput: summary(0.5, 0, 4), Success: summary(0.75, 0, 4), P50: summary(0.008, 0, 4), P99: summary(0.1, 0, 4),
		Attempts: []float64{700, 1400}, Goodputs: []float64{700, 0},
	}
	none := lab.StormRow{Contender: "b"}
	s := report.Storm{Storm: st, Rows: []lab.StormRow{row, none}}
	assert.Equal(t, ""+
		"policy  trials  peak load      attempts a call  recovery (s)              goodput after  success of all  p50 (ms)  p99 (ms)\n"+
		"a       4       3.00 ± 0.80 ×  1.100 ± 0.016    12.0 ± 5.0, 25.0 % never  50.0 %         75.0 %          8.00      100\n"+
		"b       0       –              –                –                         –              –               –         –\n", text(t, s.Table()))
	list := rows(t, func(w *bytes.Buffer) error { return s.CSV(w) })
	assert.Equal(t, []string{"a", "4", "0.25", "3", "0.25"}, list[1][:5])
	assert.Equal(t, len(list[0]), len(list[1]))
	series := rows(t, func(w *bytes.Buffer) error { return s.SeriesCSV(w) })
	assert.Equal(t, [][]string{{"policy", "second", "attempts", "successes"}, {"a", "0", "700", "700"}, {"a", "1", "1400", "0"}}, series)
	sec := s.Section()
	assert.Contains(t, sec.Text, "works at 25.0 % of its pace from second 60 to 90")
	require.Len(t, sec.Figures, 2)
	load := sec.Figures[0].Picture.(chart.Lines)
	assert.Equal(t, []chart.Mark{{Y: st.Capacity() / st.Rate, Label: "capacity"}}, load.Marks)
	assert.Equal(t, &chart.Interval{From: 55, To: 115}, load.First, "the outage, and what follows")
	assert.Contains(t, sec.Findings[0].Text, "1 of 1 policies keep the server down in some trials: a.")
	own := s.Section("a").Findings
	require.Len(t, own, 1)
	assert.True(t, own[0].Bad)
	assert.Equal(t, "Keeps the server down in 25.0 % of the trials", own[0].Headline)

	s.Rows = []lab.StormRow{none}
	sec = s.Section()
	assert.Empty(t, sec.Figures)
	s.Storm.Outage.Kind = lab.Down
	sec = s.Section()
	assert.Contains(t, sec.Text, "refuses everything")
}

func TestMetastability(t *testing.T) {
	m := report.Metastability{Points: []lab.MetastabilityPoint{
		{Contender: "full attempts=1", Attempts: 1, Utilization: 0.3, Trials: 2, Recovery: summary(12.4, 1, 2)},
		{Contender: "full attempts=1", Attempts: 1, Utilization: 0.7, Trials: 2, Recovery: summary(60, 1, 1), Never: 0.5},
		{Contender: "full attempts=4", Attempts: 4, Utilization: 0.3, Trials: 2, Never: 1},
		{Contender: "full attempts=4", Attempts: 4, Utilization: 0.7, Trials: 2, Never: 1},
	}}
	assert.Equal(t, ""+
		"policy           1 / attempts  0.3    0.7\n"+
		"full attempts=1  1.00          12     60.0, 50.0 % never\n"+
		"full attempts=4  0.250         never  never\n", text(t, m.Table()))
	assert.Len(t, rows(t, func(w *bytes.Buffer) error { return m.CSV(w) }), 5)
	s := m.Section()
	require.Len(t, s.Figures, 1)
	picture := s.Figures[0].Picture.(chart.Map)
	assert.Equal(t, chart.Row{Name: "attempts=4", Policy: "full attempts=4", Cells: chart.Numbers{math.Inf(1), math.Inf(1)}}, picture.Rows[1])
	assert.Equal(t, "ρ · attempts = 1", picture.Curve.Name)
	assert.Equal(t, []report.Finding{{
		Policy: "full attempts=4", Bad: true, Headline: "Keeps the server down at a utilization of 0.3",
		Text: "Utilization: the lowest at which the server stays down is 0.3.",
	}}, m.Section("full attempts=4").Findings)
	assert.Contains(t, s.Text, "in common: full")
	m.Points[2].Bounded, m.Points[2].Attempts = true, retry.Unlimited
	assert.Nil(t, m.Map().(chart.Map).Curve, "with a budget there is no such line")
	assert.Contains(t, text(t, m.Table()), "bounded")

	m.Points[3].Trials = 0 // interrupted
	s = m.Section()
	assert.Empty(t, s.Figures)
	assert.Contains(t, text(t, s.Table), "–")
	assert.Nil(t, report.Metastability{}.Map())
}

func TestExplain(t *testing.T) {
	facts := func(text string) map[string]string {
		p, err := retry.ParsePolicy(text)
		require.NoError(t, err)
		all := map[string]string{}
		for _, f := range report.NewExplain("", p, 0).Facts() {
			all[f.Name] = f.Value
		}
		return all
	}
	f := facts("full base=100ms attempts=4 elapsed=1m timeout=2s")
	assert.Equal(t, "4.00 times the load", f["while all attempts fail"])
	assert.Equal(t, "1m0s", f["time limit"])
	assert.Equal(t, "2s", f["limit of an attempt"])
	assert.Contains(t, f["budget"], "more than 25.0 %")
	assert.NotContains(t, facts("none attempts=1"), "budget")
	f = facts("aws-adaptive-2026")
	assert.Equal(t, "*retry.TokenBudget, which ends that load", f["budget"])
	assert.Equal(t, "*awspreset.AdaptiveLimiter", f["limiter"])
	assert.Contains(t, facts("none attempts=unlimited")["attempts"], "without end")
	assert.Contains(t, facts("none attempts=unlimited")["budget"], "however little")
	f = facts("full base=1s attempts=100 elapsed=1ns")
	assert.Equal(t, "1.00 times the load", f["while all attempts fail"], "elapsed allows no retry")
	assert.NotContains(t, f, "budget")
	for elapsed := range 250 { // in some of these, the two samples have different numbers of retries
		p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second, Factor: 1}, MaxAttempts: 100, MaxElapsed: time.Duration(elapsed) * 20 * time.Millisecond}
		report.NewExplain("", p, uint64(elapsed)).Table()
		if elapsed%50 == 0 && testing.Short() {
			break
		}
	}

	assert.Nil(t, report.NewExplain("", retry.Policy{MaxAttempts: 1}, 0).Delays(), "no retry, no wait")
	e := report.NewExplain("x", retry.Policy{MaxAttempts: retry.Unlimited}, 0)
	s := e.Section()
	assert.Len(t, s.Table.Rows, 101)
	list := rows(t, func(w *bytes.Buffer) error { return e.CSV(w) })
	assert.Len(t, list, 101)
	for _, row := range list[1:] {
		assert.Len(t, row, 9)
	}
}
