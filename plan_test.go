package retry_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

var planPolicies = flag.Int("plan.policies", 4, "random policies whose plans are checked")

// randomRule returns a rule with compositions up to the depth.
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

// TestPlanAgainstCalls: Min and Max are bounds, and Mean and P99 as close as documented,
// for random nested policies with a million calls each.
func TestPlanAgainstCalls(t *testing.T) {
	const calls = 1_000_000
	rng := rand.New(rand.NewPCG(2026, 11))
	for range *planPolicies {
		p := retry.Policy{Backoff: randomRule(rng, 3), MaxAttempts: 2 + rng.IntN(4)}
		if rng.IntN(3) == 0 {
			p.MaxElapsed = p.Plan().Total.Mean
		}
		seed := rng.Uint64()
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			plan := p.Plan()
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
						assert.Less(t, float64(seen[0].n), calls/1e4, "a retry that is not planned")
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
			}
		})
	}
}

// statistic compares durations with what was planned for them.
type statistic struct {
	plan                    retry.WaitStats
	n, below, above, beyond int
	sum                     float64
}

// slack is how far Mean and P99 may be off.
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
	if s.n < 10_000 { // reached by too few calls to tell
		return
	}
	assert.InDelta(t, s.sum/float64(s.n), float64(s.plan.Mean), s.slack(s.plan.Mean), "retry %d: mean", retry)
	// The true P99 is within the slack if at most 99 % lie below that range, and at most 1 % above.
	noise := 4 * math.Sqrt(0.01*float64(s.n))
	assert.LessOrEqual(t, float64(s.below), 0.99*float64(s.n)+noise, "retry %d: P99 %v is too high", retry, s.plan.P99)
	assert.LessOrEqual(t, float64(s.above), 0.01*float64(s.n)+noise, "retry %d: P99 %v is too low", retry, s.plan.P99)
}

// TestPlanOfNestedRules: the ends are kept at any depth.
func TestPlanOfNestedRules(t *testing.T) {
	s := time.Second
	var rule retry.Backoff = retry.FullJitter{Base: s, Cap: time.Minute}
	for range 5 {
		rule = retry.Spread{Of: retry.Jittered{Of: rule, Share: 0.5}, Fraction: 0.1}
		retrytest.TestBackoff(t, rule)
	}
	p, err := retry.ParsePolicy("spread(jittered(full base=1s cap=1m) share=0.5) fraction=0.1 attempts=4")
	assert.NoError(t, err)
	assert.InDelta(t, float64(1100*ms), float64(p.Plan().Retries[0].Max), 1e3)
	assert.Zero(t, p.Plan().Retries[0].Min)
}
