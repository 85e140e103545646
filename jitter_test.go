package retry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/exp/stats"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// TestJitterDistribution compares the mean, the range, the standard deviation
// and the quartiles of each jitter with those of the uniform distribution that
// it documents. The draws are seeded, so the test is not flaky; its tolerances
// are about five standard errors.
func TestJitterDistribution(t *testing.T) {
	const draws = 40_000
	fourth := retry.Attempt{Number: 4, Waited: 2 * time.Second} // a ceiling of 8 s
	tests := []struct {
		name      string
		rule      retry.Backoff
		low, high float64 // seconds
	}{
		{"full", retry.FullJitter{Base: time.Second, Cap: time.Minute}, 0, 8},
		{"full at the cap", retry.FullJitter{Base: time.Second, Cap: 5 * time.Second}, 0, 5},
		{"equal", retry.EqualJitter{Base: time.Second, Cap: time.Minute}, 4, 8},
		{"equal at the cap", retry.EqualJitter{Base: time.Second, Cap: 5 * time.Second}, 2.5, 5},
		{"decorrelated", retry.DecorrelatedJitter{Base: time.Second, Cap: time.Minute}, 1, 6},
		{"decorrelated, drawn again at the cap", retry.DecorrelatedJitter{Base: time.Second, Cap: 5 * time.Second, Redraw: true}, 1, 5},
		{"jittered by a quarter", retry.Jittered{Of: retry.Constant(8 * time.Second), Share: 0.25}, 6, 8},
		{"spread by a tenth", retry.Spread{Of: retry.Exponential{Base: time.Second, Cap: time.Minute}, Fraction: 0.1}, 7.2, 8.8},
		{"spread around microseconds", retry.Spread{Of: retry.Constant(10 * time.Microsecond), Fraction: 0.1}, 9e-6, 11e-6},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			next := retrytest.Seeded(uint64(i))
			seconds := make([]float64, draws)
			for i := range seconds {
				seconds[i] = tt.rule.Delay(fourth, next()).Seconds()
			}
			width := tt.high - tt.low
			mean, deviation := stats.MeanAndStdDev(seconds)
			assert.InDelta(t, tt.low+width/2, mean, width*0.0075, "mean")
			assert.InDelta(t, width*0.288675, deviation, width*0.005, "standard deviation")
			for i, q := range stats.Quantiles(seconds, 0.25, 0.5, 0.75) {
				assert.InDelta(t, tt.low+width*0.25*float64(i+1), q, width*0.0125, "quartile %d", i+1)
			}
			assert.GreaterOrEqual(t, slices.Min(seconds), tt.low)
			assert.LessOrEqual(t, slices.Max(seconds), tt.high)
			assert.InDelta(t, tt.low, slices.Min(seconds), width*0.001, "lowest")
			assert.InDelta(t, tt.high, slices.Max(seconds), width*0.001, "highest")
		})
	}
}

// TestDecorrelatedAtTheCap: the two forms of decorrelated jitter differ in
// what they do at the cap, as documented.
func TestDecorrelatedAtTheCap(t *testing.T) {
	atCap := func(redraw bool) (share float64) {
		b := retry.DecorrelatedJitter{Base: 100 * ms, Cap: time.Second, Redraw: redraw}
		next := retrytest.Seeded(7)
		a := retry.Attempt{Number: 1}
		const retries = 10_000
		for range retries {
			a.Waited = b.Delay(a, next())
			a.Number++
			if a.Waited == b.Cap {
				share += 1. / retries
			}
		}
		return share
	}
	assert.Greater(t, atCap(false), 0.3, "the clamp piles delays up at the cap")
	assert.Less(t, atCap(true), 0.001, "drawing again keeps them apart")
}
