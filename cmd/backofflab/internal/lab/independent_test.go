package lab

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainStorm simulates a server without code from this package or from package retry.
// Clients wait without limit. Attempts fail as with Storm.Failures or in a Partial
// outage, and are retried after a second. A process has tokens as in a ThrottleBudget.
type plainStorm struct {
	rate, failures, share float64
	from, to, end         float64
	workers, attempts     int
	processes             int
	tokens                float64 // 0: no budget
	serve                 func(rng *rand.Rand) float64
}

type plainAttempt struct {
	at, arrived float64
	number      int
	process     int
	served      bool // the event is the end of the attempt
	fails       bool
}

func (p plainStorm) run(seed uint64) (success, attemptsPerCall, latency float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	free := make([]float64, p.workers) // when each worker is free
	missing := make([]float64, p.processes)
	var list []plainAttempt // in descending order of time
	add := func(a plainAttempt) {
		i, _ := slices.BinarySearchFunc(list, a, func(x, y plainAttempt) int { return cmp.Compare(y.at, x.at) })
		list = slices.Insert(list, i, a)
	}
	for at := rng.ExpFloat64() / p.rate; at < p.end; at += rng.ExpFloat64() / p.rate {
		list = append(list, plainAttempt{at: at, arrived: at, number: 1, process: rng.IntN(p.processes)})
	}
	slices.Reverse(list)
	calls, attempts, good, sum := len(list), 0, 0, 0.0
	early := 0 // successes among the calls that count for Success
	earlyCalls := 0
	for _, a := range list {
		if a.at < p.end-20 {
			earlyCalls++
		}
	}
	for len(list) > 0 {
		a := list[len(list)-1]
		list = list[:len(list)-1]
		switch {
		case !a.served && a.at >= p.from && a.at < p.to && rng.Float64() >= p.share:
			attempts++
			add(plainAttempt{a.at + 0.002, a.arrived, a.number, a.process, true, true})
		case !a.served:
			attempts++
			slices.Sort(free)
			free[0] = max(free[0], a.at) + p.serve(rng)
			add(plainAttempt{free[0], a.arrived, a.number, a.process, true, rng.Float64() < p.failures})
		case !a.fails:
			good++
			if a.arrived < p.end-20 {
				early++
			}
			sum += a.at - a.arrived
			missing[a.process] = max(0, missing[a.process]-0.1)
		case a.number < p.attempts:
			if p.tokens > 0 {
				missing[a.process] = min(p.tokens, missing[a.process]+1)
				if p.tokens-missing[a.process] <= p.tokens/2 {
					continue
				}
			}
			add(plainAttempt{at: a.at + 1, arrived: a.arrived, number: a.number + 1, process: a.process})
		}
	}
	return float64(early) / float64(earlyCalls), float64(attempts) / float64(calls), sum / float64(good)
}

func TestStormAgainstPlainSimulation(t *testing.T) {
	uniform := func(rng *rand.Rand) float64 { // the same distribution as the variable measured, below
		if rng.Float64() < 0.75 {
			return 0.01 * rng.Float64()
		}
		return 0.01 + 0.04*rng.Float64()
	}
	measured := Latency{{10 * time.Millisecond, 75}, {50 * time.Millisecond, 100}}
	for name, tt := range map[string]struct {
		plain  plainStorm
		policy string
	}{
		"failures":         {plainStorm{failures: 0.2, attempts: 3, processes: 100}, "constant delay=1s attempts=3"},
		"no retries":       {plainStorm{failures: 0.05, attempts: 1, processes: 100}, "none"},
		"partial":          {plainStorm{failures: 0.01, attempts: 4, processes: 100, share: 0.3, from: 20, to: 40}, "constant delay=1s attempts=4"},
		"one process":      {plainStorm{failures: 0.01, attempts: 4, processes: 1, tokens: 10, share: 0.3, from: 20, to: 40}, "constant delay=1s attempts=4 budget=throttle"},
		"fleet":            {plainStorm{failures: 0.05, attempts: 4, processes: 300, tokens: 10, share: 0.3, from: 20, to: 40}, "constant delay=1s attempts=4 budget=throttle"},
		"100,000 of a few": {plainStorm{failures: 0.05, attempts: 4, processes: 100_000, tokens: 10, share: 0.3, from: 20, to: 40}, "constant delay=1s attempts=4 budget=throttle"},
	} {
		t.Run(name, func(t *testing.T) {
			p := tt.plain
			p.rate, p.workers, p.serve, p.end = 60, 3, uniform, 100
			s := Storm{
				Contenders: mustParse(tt.policy), Trials: 6, Seed: 11, Rate: 60, Workers: 3, Latency: measured, Failures: p.failures,
				Processes: p.processes, Timeout: 10 * time.Second, Deadline: 20 * time.Second, Horizon: 100 * time.Second,
				Outage: Outage{Kind: BrownOut, Share: 1, From: 20 * time.Second, To: 40 * time.Second},
			}
			if p.to > 0 {
				s.Outage.Kind, s.Outage.Share = Partial, p.share
			}
			if s.Processes == 100_000 {
				s.Trials = 2
			}
			rows, err := s.Run(t.Context())
			require.NoError(t, err)
			var figures [3][]float64
			for seed := range uint64(12) {
				success, attempts, latency := p.run(seed)
				for i, x := range []float64{success, attempts, latency} {
					figures[i] = append(figures[i], x)
				}
			}
			// Amplification covers only some of the calls.
			var attempts []float64
			for _, trial := range rows[0].Trials {
				sum := 0.0
				for _, n := range trial.Attempts {
					sum += float64(n)
				}
				attempts = append(attempts, sum/(60*100))
			}
			for i, got := range []Summary{rows[0].Success, summarize(attempts), rows[0].Mean} {
				want := summarize(figures[i])
				name := []string{"success", "attempts", "latency"}[i]
				t.Logf("%-8s %.5f, independently %.5f", name, got.Mean, want.Mean)
				margin := 4.5*math.Hypot(got.SE(), want.SE()) + 0.012*want.Mean
				assert.InDelta(t, want.Mean, got.Mean, margin, name)
			}
		})
	}
}
