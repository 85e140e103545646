package retryconfig_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retrytest"
)

var planPolicies = flag.Int("plan.policies", 4, "random policies whose plans are checked")

// randomRule returns a rule with compositions of up to this depth.
func randomRule(rng *rand.Rand, depth int) retry.Backoff {
	base := time.Duration(1+rng.IntN(1000)) * ms
	limit := base * time.Duration(1+rng.IntN(100))
	factor := 1 + 3*rng.Float64()
	if depth > 0 && rng.IntN(3) > 0 {
		of := randomRule(rng, depth-1)
		switch rng.IntN(4) {
		case 0:
			return retry.Jittered{Of: of, Share: rng.Float64()}
		case 1:
			return retry.Spread{Of: of, Fraction: rng.Float64()}
		case 2:
			return retry.Capped{Of: of, Cap: limit}
		}
		return retry.WhenThrottled{Throttled: retry.NoDelay{}, Else: of}
	}
	switch rng.IntN(8) {
	case 0:
		return retry.Exponential{Base: base, Cap: limit, Factor: factor}
	case 1:
		return retry.FullJitter{Base: base, Cap: limit, Factor: factor}
	case 2:
		return retry.EqualJitter{Base: base, Cap: limit, Factor: factor}
	case 3:
		return retry.DecorrelatedJitter{Base: base, Cap: limit}
	case 4:
		return retry.DecorrelatedJitter{Base: base, Cap: limit, Redraw: true}
	case 5:
		return retry.Linear{Base: base, Step: base / 2, Cap: limit}
	case 6:
		return retry.Fibonacci{Base: base, Cap: limit}
	}
	return retry.Schedule{base, limit, base}
}

// TestPlanAgainstCalls: for random nested policies, Min and Max bound the waits of a
// million calls each, and Mean and P99 are as close as documented.
func TestPlanAgainstCalls(t *testing.T) {
	const calls = 1_000_000
	rng := rand.New(rand.NewPCG(2026, 11))
	for range *planPolicies {
		p := retry.Policy{Backoff: randomRule(rng, 3), MaxAttempts: 2 + rng.IntN(4)}
		if rng.IntN(3) == 0 {
			p.MaxElapsed = retryconfig.NewPlan(p).Total.Mean
		}
		seed := rng.Uint64()
		t.Run(textOf(p), func(t *testing.T) {
			t.Parallel()
			plan := retryconfig.NewPlan(p)
			p.Rand = rand.New(rand.NewPCG(seed, 1)).Float64
			seen := make([]statistic, len(plan.Retries)+1)
			for i, r := range append(plan.Retries, plan.Total) {
				seen[i].plan = r
			}
			for range calls {
				var total time.Duration
				i := 0
				for wait := range p.Delays() {
					if i == len(plan.Retries) {
						assert.True(t, plan.Truncated, "a retry that is not planned")
						break
					}
					seen[i].add(wait)
					total += wait
					i++
				}
				seen[len(seen)-1].add(total)
			}
			for i, s := range seen {
				s.check(t, i)
				if i < len(plan.Probability) {
					share := plan.Probability[i]
					assert.InDelta(t, share, float64(s.n)/calls, 0.01*share+5*math.Sqrt(share/calls), "retry %d: probability", i)
				}
			}
		})
	}
}

// statistic compares durations with the planned WaitStats.
type statistic struct {
	plan                    retryconfig.WaitStats
	n, below, above, beyond int
	sum                     float64
}

// slack is the allowed error of Mean and P99.
func (s *statistic) slack(of time.Duration) float64 {
	return max(0.02*float64(of), 0.01*float64(s.plan.Max)) + 1
}

func (s *statistic) add(d time.Duration) {
	s.n++
	s.sum += float64(d)
	if d < s.plan.Min || d > s.plan.Max {
		s.beyond++
	}
	if p99, slack := float64(s.plan.P99), s.slack(s.plan.P99); float64(d) < p99-slack {
		s.below++
	} else if float64(d) > p99+slack {
		s.above++
	}
}

func (s *statistic) check(t *testing.T, retry int) {
	assert.Zero(t, s.beyond, "retry %d: outside of %v to %v", retry, s.plan.Min, s.plan.Max)
	if s.n < 10_000 { // too few calls for a mean
		return
	}
	assert.InDelta(t, s.sum/float64(s.n), float64(s.plan.Mean), s.slack(s.plan.Mean), "retry %d: mean", retry)
	// The planned P99 is close enough to the true one if at most 99 % of the waits lie
	// below the allowed range and at most 1 % above it.
	noise := 4 * math.Sqrt(0.01*float64(s.n))
	assert.LessOrEqual(t, float64(s.below), 0.99*float64(s.n)+noise, "retry %d: P99 %v is too high", retry, s.plan.P99)
	assert.LessOrEqual(t, float64(s.above), 0.01*float64(s.n)+noise, "retry %d: P99 %v is too low", retry, s.plan.P99)
}

func TestPlanOfNestedRules(t *testing.T) {
	s := time.Second
	var rule retry.Backoff = retry.FullJitter{Base: s, Cap: time.Minute}
	for range 5 {
		rule = retry.Spread{Of: retry.Jittered{Of: rule, Share: 0.5}, Fraction: 0.1}
		retrytest.TestBackoff(t, rule)
	}
	p, err := retryconfig.Parse("spread(jittered(full base=1s cap=1m) share=0.5) fraction=0.1 attempts=4")
	assert.NoError(t, err)
	assert.InDelta(t, float64(1100*ms), float64(retryconfig.NewPlan(p).Retries[0].Max), 1e3)
	assert.Zero(t, retryconfig.NewPlan(p).Retries[0].Min)
}

func TestPlan(t *testing.T) {
	s := time.Second
	close := func(want, got time.Duration, percent float64) {
		t.Helper()
		assert.InEpsilon(t, float64(want), float64(got), percent/100, "%v", got)
	}
	t.Run("full jitter", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.FullJitter{Base: s, Cap: 3 * s}, MaxAttempts: 4})
		require.Len(t, plan.Retries, 3)
		for i, ceiling := range []time.Duration{s, 2 * s, 3 * s} {
			r := plan.Retries[i]
			assert.Zero(t, r.Min)
			close(ceiling/2, r.Mean, 0.1)
			close(ceiling*99/100, r.P99, 0.1)
			assert.Equal(t, ceiling-1, r.Max)
		}
		assert.Zero(t, plan.Total.Min)
		assert.Equal(t, 6*s-3, plan.Total.Max)
		close(3*s, plan.Total.Mean, 0.1)
		// The sum of three independent uniform times has, by integration,
		// P(total > 6s−x) = x³/36 for x ≤ 1, so 1 % corresponds to x = 0.711.
		close(6*s-711*ms, plan.Total.P99, 1)
		assert.False(t, plan.Truncated)
	})
	t.Run("no jitter", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.Exponential{Base: s}, MaxAttempts: 4})
		want := []retryconfig.WaitStats{{s, s, s, s}, {2 * s, 2 * s, 2 * s, 2 * s}, {4 * s, 4 * s, 4 * s, 4 * s}}
		assert.Equal(t, retryconfig.Plan{Retries: want, Total: retryconfig.WaitStats{Min: 7 * s, Mean: 7 * s, P99: 7 * s, Max: 7 * s}, Probability: []float64{1, 1, 1}}, plan)
	})
	t.Run("a rule with a memory", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.DecorrelatedJitter{Base: s, Cap: 20 * s}, MaxAttempts: 3})
		assert.Equal(t, retryconfig.WaitStats{Min: s, Mean: plan.Retries[1].Mean, P99: plan.Retries[1].P99, Max: 9 * s}, plan.Retries[1])
		close(2*s, plan.Retries[0].Mean, 0.1)
		close(3500*ms, plan.Retries[1].Mean, 1) // (base + 3·E[prev]) / 2
	})
	t.Run("no retries", func(t *testing.T) {
		assert.Equal(t, retryconfig.Plan{}, retryconfig.NewPlan(retry.Policy{MaxAttempts: 1}))
	})
	t.Run("unlimited", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(s), MaxAttempts: retry.Unlimited})
		assert.Len(t, plan.Retries, 100)
		assert.True(t, plan.Truncated)
		assert.Equal(t, 100*s, plan.Total.Max)
	})
	t.Run("all of a hundred", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(s), MaxAttempts: 101})
		assert.Len(t, plan.Retries, 100)
		assert.False(t, plan.Truncated)
	})
	t.Run("within a time limit", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.FullJitter{Base: 4 * s}, MaxAttempts: retry.Unlimited, MaxElapsed: 10 * s})
		assert.LessOrEqual(t, plan.Total.Max, 10*s)
		assert.Greater(t, plan.Total.Max, 9*s)
		plan = retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(s), MaxAttempts: retry.Unlimited, MaxElapsed: 3 * s})
		assert.Len(t, plan.Retries, 3)
		assert.Equal(t, 3*s, plan.Total.Max)
		assert.False(t, plan.Truncated)
	})
	t.Run("the mean is between the bounds", func(t *testing.T) {
		plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(9535669894329), MaxAttempts: 4})
		for _, r := range append(plan.Retries, plan.Total) {
			assert.LessOrEqual(t, r.Min, r.Mean)
			assert.LessOrEqual(t, r.Mean, r.Max)
		}
	})
	t.Run("the same every time", func(t *testing.T) {
		assert.Equal(t, retryconfig.NewPlan(retry.Policy{}), retryconfig.NewPlan(retry.Policy{}))
	})
	t.Run("sums saturate", func(t *testing.T) {
		assert.Equal(t, forever, retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(forever)}).Total.Max)
	})
}

func TestPlanTable(t *testing.T) {
	assert.Equal(t, "no retries", retryconfig.NewPlan(retry.Policy{MaxAttempts: 1}).String())
	table := retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(1234567 * time.Microsecond), MaxAttempts: retry.Unlimited}).String()
	lines := strings.Split(table, "\n")
	require.Len(t, lines, 1+20+1+1)
	assert.Equal(t, "  retry       min      mean       p99       max   of calls", lines[0])
	assert.Equal(t, "     20     1.23s     1.23s     1.23s     1.23s      100 %", lines[20])
	assert.Equal(t, "      …", lines[21])
	assert.Equal(t, "  1–100      2m3s      2m3s      2m3s      2m3s", lines[22])
}

// TestPlanOfRareRetries: retries less probable than one in a billion are not planned, and
// Truncated says so.
func TestPlanOfRareRetries(t *testing.T) {
	for text, want := range map[string]struct {
		retries   int
		truncated bool
	}{
		"standard attempts=10 elapsed=100ms":          {7, true},
		"standard attempts=8 elapsed=100ms":           {7, false},
		"standard attempts=3 elapsed=100ms":           {2, false},
		"constant delay=40ms attempts=10 elapsed=1s":  {9, false},
		"constant delay=40ms attempts=9 elapsed=80ms": {2, false},
	} {
		p, err := retryconfig.Parse(text)
		require.NoError(t, err)
		plan := retryconfig.NewPlan(p)
		assert.Len(t, plan.Retries, want.retries, text)
		assert.Equal(t, want.truncated, plan.Truncated, text)
	}
}

// TestPlanWithinASimplex: if MaxElapsed is not above the first ceiling, the waits up to
// retry n are uniform in a simplex. So their mean is MaxElapsed/(n+1), and the
// probability of the retry is the simplex's share of the box of all waits.
func TestPlanWithinASimplex(t *testing.T) {
	const limit = 50 * ms
	p := retry.Policy{Backoff: retry.FullJitter{Base: limit, Cap: 10 * time.Second}, MaxAttempts: 7, MaxElapsed: limit}
	plan := retryconfig.NewPlan(p)
	require.Len(t, plan.Retries, 6)
	probability := 1.0
	for i, r := range plan.Retries {
		n := float64(i + 1)
		probability /= n * math.Exp2(float64(i))
		assert.InEpsilon(t, limit.Seconds()/(n+1), r.Mean.Seconds(), 0.02, "retry %d", i+1)
		assert.InEpsilon(t, probability, plan.Probability[i], 0.02, "retry %d", i+1)
		// P(wait > x) = (1 − x/limit)ⁿ
		assert.InDelta(t, 1-math.Pow(0.01, 1/n), float64(r.P99)/float64(limit), 0.03, "retry %d", i+1)
	}
}

// TestPlanOfCenturies: waits whose sum is longer than any Duration keep their bounds.
func TestPlanOfCenturies(t *testing.T) {
	const delay = 2_000_000 * time.Hour
	plan := retryconfig.NewPlan(retry.Policy{Backoff: retry.Constant(delay), MaxAttempts: 5})
	require.Len(t, plan.Retries, 4)
	for _, w := range plan.Retries {
		assert.Equal(t, retryconfig.WaitStats{Min: delay, Mean: delay, P99: delay, Max: delay}, w)
	}
	assert.Equal(t, time.Duration(math.MaxInt64), plan.Total.Max)
}

// TestPlanOfEnd: a rule without a further delay ends the plan, and allows no more retries.
func TestPlanOfEnd(t *testing.T) {
	for n := range 3 {
		rule := retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
			if a.Number > n {
				return -1
			}
			return time.Second
		})
		plan := retryconfig.NewPlan(retry.Policy{Backoff: rule, MaxAttempts: 9})
		assert.Len(t, plan.Retries, n)
		assert.False(t, plan.Truncated)
		assert.Equal(t, time.Duration(n)*time.Second, plan.Total.Max)
	}
}
