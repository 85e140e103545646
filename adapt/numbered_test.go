package adapt_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

func TestNumbered(t *testing.T) {
	oneBased, zeroBased := adapt.OneBased(doubling), adapt.ZeroBased(doubling)
	const most = time.Duration(math.MaxInt64)
	for name, tt := range map[string]struct {
		n         int
		one, zero time.Duration
	}{
		"below all":          {math.MinInt, time.Second, time.Second},
		"-1":                 {-1, time.Second, time.Second},
		"0":                  {0, time.Second, time.Second},
		"1":                  {1, time.Second, 2 * time.Second},
		"2":                  {2, 2 * time.Second, 4 * time.Second},
		"beyond MaxAttempts": {5, 16 * time.Second, 32 * time.Second},
		"beyond maxChain":    {5000, most, most},
		"most":               {math.MaxInt, most, most},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.one, oneBased(tt.n), "one-based")
			assert.Equal(t, tt.zero, zeroBased(tt.n), "zero-based")
		})
	}
}

// TestNumberedAlone: only the delays come from the policy; all decisions are left to the
// library.
func TestNumberedAlone(t *testing.T) {
	budget := &awspreset.TokenBudget{}
	policy := doubling
	policy.Budget, policy.MaxElapsed, policy.MaxAttempts = budget, 1, 1
	policy.Classifier = retry.OnlyIf(func(error) bool { return false })
	assert.Equal(t, 8*time.Second, adapt.OneBased(policy)(4))
	assert.EqualValues(t, 500, budget.Balance())
}

func TestNumberedChain(t *testing.T) {
	policy := retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second}, Rand: retrytest.Fixed(0.5)}
	one := adapt.OneBased(policy)
	assert.Equal(t, 2*time.Second, one(1))         // 1 + ½ (3·1 − 1)
	assert.Equal(t, 3500*time.Millisecond, one(2)) // 1 + ½ (3·2 − 1)
}

func TestNumberedDefault(t *testing.T) {
	one := adapt.OneBased(retry.Policy{})
	for n := range 100 {
		assert.LessOrEqual(t, one(n), 20*time.Second)
	}
}

// TestNumberedEnd: if a rule has no further delay, its last one repeats.
func TestNumberedEnd(t *testing.T) {
	rule := retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
		if a.Number > 2 {
			return -1
		}
		return time.Duration(a.Number) * time.Second
	})
	delay := adapt.OneBased(retry.Policy{Backoff: rule})
	limiter := adapt.RateLimiter[int]{Backoff: rule}
	for n, want := range []time.Duration{1: time.Second, 2: 2 * time.Second, 3: 2 * time.Second, 4: 2 * time.Second} {
		if n > 0 {
			assert.Equal(t, want, delay(n))
			assert.Equal(t, want, limiter.When(0))
		}
	}
	_, err := adapt.DelayFor(retry.Policy{Backoff: rule, MaxAttempts: 9}, "id", 4, errOp)
	assert.Equal(t, retry.ErrBackoff, err)
}
