package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
)

// exactly is a Latency of one time.
func exactly(d time.Duration) Latency { return Latency{{UpTo: d - 1}, {UpTo: d, Count: 1}} }

// TestGate: the scenarios of package admit, in the model. Four workers serve 400 attempts
// a second. Their clients have four attempts and no budget.
func TestGate(t *testing.T) {
	const sec, ms = time.Second, time.Millisecond
	naive := Contender{Name: "naive", Policy: func(c retry.Clock) retry.Policy { return retry.Policy{MaxAttempts: 4, Clock: c} }}
	busy := Storm{
		Contenders: []Contender{naive}, Trials: 2, Rate: 280, Processes: 20, Workers: 4, Service: 10 * ms, Failures: -1,
		Horizon: 80 * sec, Outage: Outage{From: 20 * sec, To: 22 * sec},
	}
	slow := func(share float64) func(*Storm) {
		return func(s *Storm) {
			s.Workers, s.Service, s.Latency = 4000, 0, exactly(20*ms)
			s.Outage = Outage{Kind: BrownOut, Share: share, From: 20 * sec, To: 50 * sec}
		}
	}
	for _, test := range []struct {
		name            string
		change          func(*Storm)
		without, within float64 // at most without a gate, at least with one
	}{
		{"stall of 2 s", func(*Storm) {}, 0.5, 0.99},
		{"stall of 10 s", func(s *Storm) { s.Outage.To = 30 * sec }, 0.5, 0.9},
		{"brown-out to 50 %", func(s *Storm) { s.Outage = Outage{BrownOut, 20 * sec, 40 * sec, 0.5} }, 0.5, 0.93},
		{"one worker", func(s *Storm) { s.Rate, s.Workers, s.Service = 10, 1, 70*ms }, 0.5, 0.9},
		{"steady", func(s *Storm) { s.Outage = Outage{Kind: BrownOut, From: 20 * sec, To: 21 * sec, Share: 1} }, 1, 0.9999},
		{"always 700 ms", func(s *Storm) { slow(1)(s); s.Latency = exactly(700 * ms) }, 1, 0.9999},
		{"dependency slows from 20 to 400 ms", slow(20. / 400), 1, 0.99},
		{"dependency slows from 20 to 700 ms", slow(20. / 700), 1, 0.99},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := busy
			test.change(&s)
			without, err := s.Run(t.Context())
			require.NoError(t, err)
			s.Gate = func() *admit.Gate { return new(admit.Gate) }
			with, err := s.Run(t.Context())
			require.NoError(t, err)
			t.Logf("%.1f %% of the calls succeed, %.1f %% without a gate; %.1f %% served in vain",
				100*with[0].Success.Mean, 100*without[0].Success.Mean, 100*with[0].Wasted.Mean)
			assert.LessOrEqual(t, without[0].Success.Mean, test.without)
			assert.GreaterOrEqual(t, with[0].Success.Mean, test.within)
		})
	}
}

// TestGateGoodput: at 1.4 times the capacity, the server does useful work only.
func TestGateGoodput(t *testing.T) {
	s := Storm{
		Contenders: mustParse("full base=100ms cap=20s attempts=4"), Trials: 2, Rate: 560, Workers: 4, Service: 10 * time.Millisecond, Failures: -1,
		Horizon: 100 * time.Second, Gate: func() *admit.Gate { return new(admit.Gate) },
	}
	s.Outage = Outage{Kind: BrownOut, From: time.Second, To: 2 * time.Second, Share: 1}
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, rows[0].Goodput.Mean*s.Rate, 0.93*400)
	assert.LessOrEqual(t, rows[0].Wasted.Mean, 0.03)
}
