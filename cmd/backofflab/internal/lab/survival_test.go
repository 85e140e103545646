package lab

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// The zero policy outlasts an outage if the sum of two uniform waits, below 50 and 100 ms,
// does.
func TestSurvival(t *testing.T) {
	s := Survival{
		Contenders: mustParse("standard attempts=3", "standard elapsed=1m", "none", "schedule delays=10ms/10ms", "standard timeout=100us attempts=3"),
		Calls:      []int{1, 20}, Latency: time.Microsecond * 200, Trials: 4000,
		Outages: []time.Duration{20 * time.Millisecond, 50 * time.Millisecond, time.Second},
	}
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 5)
	assert.Zero(t, rows[0].Calls)
	assert.InDelta(t, 0.76, rows[0].Success[1], 0.02, "1 - 50²/2/(50·100) = 0.75, and some for the latency")
	assert.Zero(t, rows[0].Success[2])
	assert.Equal(t, 3.0, rows[0].Requests[2])
	assert.Equal(t, []float64{1, 1, 1}, rows[1].Success, "a minute is enough")
	assert.Greater(t, rows[1].Requests[2], 5.0)
	assert.Equal(t, []float64{0, 0, 0}, rows[2].Success)
	assert.Equal(t, []float64{1, 0, 0}, rows[3].Success, "20 ms and three latencies")
	assert.Equal(t, []float64{0, 0, 0}, rows[4].Success, "each attempt is too long")

	s.Contenders, s.Calls = s.Contenders[:1], []int{20}
	together, err := s.Run(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, rows[0].Success[1], together[0].Success[1], 0.02, "without a budget, calls do not depend on each other")
}

// A budget that the calls of a process share is spent by a burst.
func TestSurvivalWithBudget(t *testing.T) {
	s := Survival{Contenders: mustParse("standard elapsed=1m budget=token"), Calls: []int{1, 100}, Outages: []time.Duration{5 * time.Second}}
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1.0, rows[0].Success[0])
	assert.Zero(t, rows[1].Success[0])
	assert.InDelta(t, 1.35, rows[1].Requests[0], 0.01, "35 retries of 14 tokens")
}

func TestSurvivalRefuses(t *testing.T) {
	one := mustParse("standard attempts=3")
	invalid := Contender{Name: "invalid", Policy: func(retry.Clock) retry.Policy { return retry.Policy{MaxAttempts: -1} }}
	for name, s := range map[string]Survival{
		"contenders: none":    {},
		"calls: 0":            {Contenders: one, Calls: []int{0}},
		"outages: -1ns":       {Contenders: one, Outages: []time.Duration{-1}},
		"is negative":         {Contenders: one, Trials: -1},
		"not staggered":       {Contenders: mustParse("standard attempts=3 stagger=1s")},
		"MaxAttempts is nega": {Contenders: []Contender{invalid}},
	} {
		rows, err := s.Run(t.Context())
		assert.ErrorContains(t, err, name)
		assert.Nil(t, rows)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Survival{Contenders: one}.Run(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}
