package adapt_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/retrytest"
)

func TestRateLimiter(t *testing.T) {
	r := adapt.RateLimiter[string]{Backoff: retry.Exponential{Base: time.Second}}
	assert.Zero(t, r.NumRequeues("a"))
	assert.Equal(t, time.Second, r.When("a"))
	assert.Equal(t, 2*time.Second, r.When("a"))
	assert.Equal(t, time.Second, r.When("b"), "each item has its own chain")
	assert.Equal(t, 2, r.NumRequeues("a"))
	assert.Equal(t, 1, r.NumRequeues("b"))
	r.Forget("a")
	r.Forget("never seen")
	assert.Zero(t, r.NumRequeues("a"))
	assert.Equal(t, time.Second, r.When("a"))
	assert.Equal(t, 2*time.Second, r.When("b"))
}

func TestRateLimiterChain(t *testing.T) {
	r := adapt.RateLimiter[int]{Backoff: retry.DecorrelatedJitter{Base: time.Second}, Rand: retrytest.Fixed(0.5)}
	assert.Equal(t, 2*time.Second, r.When(0))
	assert.Equal(t, 3500*time.Millisecond, r.When(0))
}

// TestRateLimiterZero: the zero value uses the zero Policy's rule and never gives up.
func TestRateLimiterZero(t *testing.T) {
	var r adapt.RateLimiter[int]
	for n := 1; n <= 50; n++ {
		d := r.When(1)
		assert.GreaterOrEqual(t, d, time.Duration(0))
		assert.LessOrEqual(t, d, 20*time.Second)
		assert.Equal(t, n, r.NumRequeues(1))
	}
}

func TestRateLimiterShared(t *testing.T) {
	var r adapt.RateLimiter[int]
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 1000 {
				r.When(i % 2)
				r.NumRequeues(i)
				r.When(2 + i)
				r.Forget(2 + i)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 4000, r.NumRequeues(0))
	assert.Equal(t, 4000, r.NumRequeues(1))
}
