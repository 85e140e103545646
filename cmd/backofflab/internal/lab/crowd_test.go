package lab

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gobackoff/retry"
)

func TestCrowdAgreesWithTheModel(t *testing.T) {
	policies := append(Blog(), mustParse(
		"full base=10ms cap=2s attempts=5",
		"full base=10ms cap=2s attempts=unlimited stagger=200ms",
		"constant delay=15ms elapsed=300ms attempts=unlimited",
		"schedule delays=10ms/100ms/50ms",
		"no-delay elapsed=300ms",
		"aws-standard-2.1 budget=none",
	)...)
	c := Contention{Contenders: policies, Clients: []int{20, 60}, Trials: 150, Seed: 5}
	model, err := c.Run(t.Context())
	require.NoError(t, err)
	for i := range policies {
		parsed := policies[i].Policy
		c.Contenders[i].Policy = func(clock retry.Clock) retry.Policy {
			p := parsed(clock)
			p.AttemptTimeout = time.Hour // which the model does not support
			if p.MaxElapsed > 0 {
				p.AttemptTimeout = p.MaxElapsed - 1
			}
			return p
		}
	}
	c.Seed = 6
	crowd, err := c.Run(t.Context())
	require.NoError(t, err)
	squares, n := 0.0, 0
	for i, want := range model {
		for what, pair := range map[string][2]Summary{
			"calls": {want.Calls, crowd[i].Calls}, "time": {want.Time, crowd[i].Time}, "done": {want.Done, crowd[i].Done},
		} {
			se := math.Hypot(pair[0].SE(), pair[1].SE())
			if se == 0 {
				assert.InDelta(t, pair[0].Mean, pair[1].Mean, 1e-9, "%s of %s", what, want.Contender)
				continue
			}
			z := (pair[0].Mean - pair[1].Mean) / se
			assert.Less(t, math.Abs(z), 4.0, "%s of %s with %d clients: %v, %v", what, want.Contender, want.Clients, pair[0].Mean, pair[1].Mean)
			squares += z * z
			n++
		}
	}
	limit := distuv.ChiSquared{K: float64(n)}.Quantile(0.999)
	t.Logf("sum of z²: %.1f of %d figures, below %.1f", squares, n, limit)
	assert.Less(t, squares, limit)
}

// Every part of a policy changes the result.
func TestContentionHonors(t *testing.T) {
	run := func(text string, processes int) Cell {
		c := Contention{Contenders: mustParse(text), Clients: []int{40}, Trials: 20, Processes: processes}
		cells, err := c.Run(t.Context())
		require.NoError(t, err)
		return cells[0]
	}
	base := run("full base=10ms cap=2s attempts=unlimited", 0)
	assert.Equal(t, 1.0, base.Done.Mean)
	five := run("full base=10ms cap=2s attempts=5", 0)
	assert.LessOrEqual(t, five.Calls.Mean, 5*40.0)
	assert.Less(t, five.Done.Mean, 0.8)

	// A budget of ten tokens refuses retries when five are left, so it allows four.
	own := run("full base=10ms cap=2s attempts=unlimited budget=throttle", 0)
	assert.Less(t, own.Done.Mean, 0.8)
	shared := run("full base=10ms cap=2s attempts=unlimited budget=throttle", 1)
	assert.InDelta(t, 44.0, shared.Calls.Mean, 1.5)
	assert.Less(t, shared.Done.Mean, 0.15)
	ratio := run("full base=10ms cap=2s attempts=unlimited budget=ratio(ratio=0.1 floor=0.1)", 0)
	assert.InDelta(t, 80.0, ratio.Calls.Mean, 2, "each client has one retry in ten seconds")

	limited := run("aws-standard-2.1 limiter=adaptive attempts=unlimited budget=none", 0)
	assert.Equal(t, 1.0, limited.Done.Mean)
	impatient := run("no-delay attempts=unlimited timeout=25ms elapsed=2s", 0)
	assert.Less(t, impatient.Done.Mean, 0.05, "an attempt takes 40 ms")
	assert.Greater(t, impatient.Calls.Mean, 40*50.0, "and its write continues")
	assert.Zero(t, run("no-delay attempts=3 timeout=5ms", 0).Calls.Mean, "no client reaches the write")
}

func TestContentionFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty thousand clients")
	}
	c := Contention{Contenders: mustParse("full base=1s cap=20s attempts=2 budget=throttle"), Clients: []int{20_000}, Trials: 1}
	cells, err := c.Run(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, 40_000, cells[0].Calls.Mean, 200)
}
