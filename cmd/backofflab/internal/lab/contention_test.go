package lab

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// reference is a result of the original program, from 100 trials.
type reference struct {
	strategy       string
	clients        int
	time, timeSE   float64
	calls, callsSE float64
}

func contentionReference(t *testing.T) []reference {
	t.Helper()
	f, err := os.Open("testdata/contention-reference.csv")
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	var list []reference
	for _, row := range rows[1:] {
		list = append(list, reference{
			strategy: row[7], clients: int(parse(t, row[0])),
			time: parse(t, row[1]) / 1000, timeSE: parse(t, row[2]) / 1000,
			calls: parse(t, row[4]), callsSE: parse(t, row[5]),
		})
	}
	require.Len(t, list, 55)
	return list
}

var strategies = map[string]string{
	"None":        "no-delay attempts=unlimited",
	"Exponential": "exponential base=10ms cap=2s attempts=unlimited",
	"EqualJitter": "equal base=10ms cap=2s attempts=unlimited",
	"FullJitter":  "full base=10ms cap=2s attempts=unlimited",
	"Decorr":      "decorrelated base=5ms cap=2s attempts=unlimited",
}

// The figures agree with those of the original program, apart from random deviations. The
// seed was not chosen to make them agree.
func TestContentionAgreesWithTheOriginal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 55,000 trials")
	}
	list := contentionReference(t)
	cells := map[string]map[int]Cell{}
	result, err := Contention{Clients: []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 190}, Trials: 1000, Seed: 20150304}.Run(t.Context())
	require.NoError(t, err)
	for _, cell := range result {
		if cells[cell.Contender] == nil {
			cells[cell.Contender] = map[int]Cell{}
		}
		cells[cell.Contender][cell.Clients] = cell
	}
	var sum, most float64
	for _, want := range list {
		got := cells[strategies[want.strategy]][want.clients]
		for what, z := range map[string]float64{
			"time":  (got.Time.Mean - want.time) / math.Hypot(got.Time.SE(), want.timeSE),
			"calls": (got.Calls.Mean - want.calls) / math.Hypot(got.Calls.SE(), want.callsSE),
		} {
			sum, most = sum+z*z, max(most, math.Abs(z))
			assert.Less(t, math.Abs(z), 4.0, "%s of %s with %d clients", what, want.strategy, want.clients)
		}
	}
	limit := distuv.ChiSquared{K: float64(2 * len(list))}.Quantile(0.99)
	t.Logf("sum of z²: %.1f of %d figures, below %.1f; largest z: %.2f", sum, 2*len(list), limit, most)
	assert.Less(t, sum, limit)

	full, exponential := cells[strategies["FullJitter"]][100], cells[strategies["Exponential"]][100]
	assert.Less(t, full.Calls.Mean, exponential.Calls.Mean/2, "the headline of the blog")
}

func TestContentionIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	c := Contention{Contenders: append(Blog(), contender(t, "full base=10ms attempts=9 budget=throttle stagger=200ms")), Clients: []int{3, 40}, Trials: 20, Seed: 7, Timing: 10, Parallel: 1}
	one, err := c.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, one, 2*len(c.Contenders))
	c.Parallel = 5
	five, err := c.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, one, five)
	c.Seed = 8
	other, err := c.Run(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, one, other)
}

func contender(t testing.TB, text string) Contender {
	t.Helper()
	c, err := ParseContender(text)
	require.NoError(t, err)
	return c
}

func TestContentionLaws(t *testing.T) {
	for _, clients := range []int{1, 2, 17, 150} {
		cells, err := Contention{Contenders: append(Blog(), contender(t, "full base=10ms cap=2s attempts=unlimited stagger=200ms")), Clients: []int{clients}, Trials: 30}.Run(t.Context())
		require.NoError(t, err)
		for _, c := range cells {
			assert.Equal(t, 1.0, c.Done.Mean, c.Contender)
			assert.Zero(t, c.Done.SD)
			assert.GreaterOrEqual(t, c.Time.Mean, 0.035, "four messages take 40 ms")
			if !strings.Contains(c.Contender, "stagger") {
				assert.GreaterOrEqual(t, c.Calls.Mean, 2*float64(clients)-1.2, "%s: one of the clients that start together succeeds with its first write", c.Contender)
			}
		}
	}
}

func TestContentionLimits(t *testing.T) {
	c := Contention{Clients: []int{50}, Trials: 50}
	run := func(text string) Cell {
		c.Contenders = []Contender{contender(t, text)}
		cells, err := c.Run(t.Context())
		require.NoError(t, err)
		return cells[0]
	}
	once := run("full base=10ms attempts=1")
	assert.Equal(t, 50.0, once.Calls.Mean)
	assert.Equal(t, Summary{N: 50, Mean: 0.02}, once.Done, "one of 50 succeeds")
	assert.Less(t, once.Time.Mean, 0.07)

	all := run("full base=10ms cap=1h attempts=unlimited")
	assert.Equal(t, 1.0, all.Done.Mean)
	three := run("full base=10ms")
	assert.Less(t, three.Calls.Mean, 3*50.0)
	assert.Greater(t, three.Done.Mean, once.Done.Mean)

	short := run("full base=10ms cap=1h attempts=unlimited elapsed=300ms")
	assert.Less(t, short.Time.Mean, 0.4)
	assert.Less(t, short.Done.Mean, 0.9)
}

func TestContentionTiming(t *testing.T) {
	cells, err := Contention{Clients: []int{100}, Trials: 20, Timing: 10_000}.Run(t.Context())
	require.NoError(t, err)
	for _, c := range cells {
		var sum float64
		for _, n := range c.Timing {
			sum += n
		}
		assert.InDelta(t, c.Calls.Mean, sum, 1e-6, c.Contender)
		assert.GreaterOrEqual(t, c.Timing[0], 99.9, "all start in the first 50 ms")
	}
	exponential := cells[1]
	empty := 0
	for _, n := range exponential.Timing[:200] {
		if n == 0 {
			empty++
		}
	}
	assert.Greater(t, empty, 100, "without jitter the calls come in spikes")
}

func TestContentionInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := Contention{Clients: []int{20}, Trials: 4, Parallel: 2, Contenders: mustParse("full base=10ms cap=1h attempts=unlimited", "no-delay attempts=unlimited")}
	c.Progress = func(done, total int) {
		assert.Equal(t, 8*20, total)
		if done >= 60 {
			cancel()
		}
	}
	cells, err := c.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, cells, 2)
	trials := cells[0].Calls.N + cells[1].Calls.N
	assert.GreaterOrEqual(t, trials, 3)
	assert.Less(t, trials, 8)
	assert.InDelta(t, cells[0].Calls.N, cells[1].Calls.N, 1, "finished trials can be compared")
	assert.Positive(t, cells[0].Calls.Mean)

	for _, text := range []string{"no-delay attempts=unlimited", "no-delay attempts=unlimited stagger=1ns", "no-delay attempts=unlimited budget=throttle(maxtokens=1e9)"} {
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		c = Contention{Clients: []int{20_000}, Trials: 1, Contenders: mustParse(text)}
		if strings.Contains(text, "stagger") {
			c.Network = Network{Mean: time.Millisecond, SD: time.Millisecond} // uses the heap
		}
		cells, err = c.Run(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, cells[0].Calls.N)
	}
}

func TestContentionRefuses(t *testing.T) {
	for name, c := range map[string]Contention{
		"clients: 0 is not in":                  {Clients: []int{5, 0}},
		"clients: -3 is not in":                 {Clients: []int{-3}},
		"clients: none":                         {Clients: []int{}},
		"contenders: none":                      {Contenders: []Contender{}},
		"trials: -1":                            {Trials: -1},
		"timing: -1":                            {Timing: -1},
		"has no policy":                         {Contenders: []Contender{{Name: "x"}}},
		"stagger of":                            {Contenders: mustParse("no-delay stagger=2562047h")},
		"up to 200000":                          {Contenders: mustParse("no-delay timeout=1s"), Clients: []int{200_001}},
		"processes: -1":                         {Processes: -1},
		"network: the mean":                     {Network: Network{SD: 1}},
		"network: the mean delay is ab":         {Network: Network{Mean: 2 * time.Hour}},
		"network: the standard":                 {Network: Network{Mean: 1, SD: -1}},
		"network: the standard deviation is ab": {Network: Network{Mean: 1, SD: 11}},
	} {
		cells, err := c.Run(t.Context())
		assert.ErrorContains(t, err, name)
		assert.Nil(t, cells)
	}
}

// A wait of centuries does not overflow.
func TestContentionForEver(t *testing.T) {
	cells, err := Contention{Contenders: mustParse("constant delay=2500000h attempts=unlimited"), Clients: []int{5}, Trials: 3}.Run(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, 0.2, cells[0].Done.Mean, 1e-9)

	cells, err = Contention{
		Contenders: mustParse("constant delay=2562044h elapsed=2562047h attempts=unlimited", "no-delay stagger=9000h attempts=unlimited"),
		Clients:    []int{1, 5}, Trials: 3, Network: Network{Mean: time.Hour}, Timing: 5,
	}.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 1}, []float64{cells[0].Done.Mean, cells[2].Done.Mean})
}

// A long trial reports its progress, and the reports count all clients, even those that
// gave up.
func TestContentionProgress(t *testing.T) {
	var last, calls int
	c := Contention{
		Contenders: mustParse("no-delay attempts=30", "no-delay attempts=3"), Clients: []int{3000, 10}, Trials: 2,
		Progress: func(done, total int) {
			assert.GreaterOrEqual(t, done, last)
			assert.Equal(t, 4*3010, total)
			last, calls = done, calls+1
		},
	}
	_, err := c.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 4*3010, last)
	assert.Greater(t, calls, 8, "more than one for each trial")
}

// MaxElapsed limits the time from the client's start to the response.
func TestContentionElapsed(t *testing.T) {
	c := Contention{Clients: []int{2}, Trials: 1, Network: Network{Mean: 10 * time.Millisecond}}
	calls := func(text string) float64 {
		c.Contenders = mustParse(text)
		cells, err := c.Run(t.Context())
		require.NoError(t, err)
		return cells[0].Calls.Mean
	}
	assert.Equal(t, 2.0, calls("no-delay attempts=unlimited elapsed=39ms"), "the response arrives after 40 ms")
	assert.Equal(t, 3.0, calls("no-delay attempts=unlimited elapsed=40ms"))
	assert.Equal(t, 3.0, calls("constant delay=1s attempts=unlimited elapsed=1040ms"))
	assert.Equal(t, 2.0, calls("constant delay=1s attempts=unlimited elapsed=1039ms"))

	c = Contention{Clients: []int{200}, Trials: 10, Contenders: mustParse(
		"full base=10ms elapsed=1s attempts=unlimited",
		"full base=10ms elapsed=1s attempts=unlimited stagger=20s",
	)}
	cells, err := c.Run(t.Context())
	require.NoError(t, err)
	assert.Less(t, cells[0].Done.Mean, 0.5)
	assert.Greater(t, cells[1].Done.Mean, 0.99, "MaxElapsed does not include the stagger")
}

// An interrupted trial does not affect the next one.
func TestInterruptedModelsAreReused(t *testing.T) {
	c, err := Contention{Contenders: Blog(), Clients: []int{7000, 50}, Trials: 2}.WithDefaults()
	require.NoError(t, err)
	reused := model{progress: &progress{}}
	for _, cell := range c.cells() {
		ctx, cancel := context.WithCancel(t.Context())
		reused.progress.report = func(done, _ int) {
			if done > cell.Clients/3 {
				cancel()
			}
		}
		reused.progress.done = 0
		reused.run(ctx, &c, cell, 0)
		cancel()
		reused.progress.report = nil
		if cell.Clients > 1000 {
			continue
		}
		fresh := model{progress: &progress{}}
		require.True(t, fresh.run(t.Context(), &c, cell, 1))
		want := cell.trials[1]
		require.True(t, reused.run(t.Context(), &c, cell, 1))
		assert.Equal(t, want, cell.trials[1], "%s", cell.Contender)
	}
}

// A read at the time of a commit returns the new version.
func TestTies(t *testing.T) {
	m := model{commit: 5}
	assert.True(t, m.current(&event{read: 5}))
	assert.False(t, m.current(&event{read: 4}))
}
