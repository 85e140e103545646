package retry_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// TestJitterDelays checks the ends and the middle of the delay ranges.
func TestJitterDelays(t *testing.T) {
	s := time.Second
	checkDelays(t, []delayCase{
		{"full", retry.FullJitter{Base: s, Cap: 4 * s}, 0.25, []time.Duration{s / 4, s / 2, s, s}},
		{"full, lowest", retry.FullJitter{Base: s, Cap: 4 * s}, 0, []time.Duration{0, 0, 0, 0}},
		{"full, highest", retry.FullJitter{Base: s, Cap: 4 * s}, almost1, []time.Duration{s - nanotick, 2*s - nanotick, 4*s - nanotick}},
		{"equal", retry.EqualJitter{Base: s, Cap: 4 * s}, 0.5, []time.Duration{3 * s / 4, 3 * s / 2, 3 * s, 3 * s}},
		{"equal, lowest", retry.EqualJitter{Base: s, Cap: 4 * s}, 0, []time.Duration{s / 2, s, 2 * s, 2 * s}},
		{"decorrelated, lowest", retry.DecorrelatedJitter{Base: s, Cap: 4 * s}, 0, []time.Duration{s, s, s}},
		{"decorrelated", retry.DecorrelatedJitter{Base: s, Cap: 10 * s}, 0.5, []time.Duration{2 * s, 3500 * ms, 5750 * ms, 9125 * ms, 10 * s, 10 * s}},
		{"decorrelated, drawn again", retry.DecorrelatedJitter{Base: s, Cap: 10 * s, Redraw: true}, 0.5, []time.Duration{2 * s, 3500 * ms, 5500 * ms, 5500 * ms}},
		{"decorrelated, beyond an hour", retry.DecorrelatedJitter{Base: time.Hour}, 0.5, []time.Duration{2 * time.Hour, 7 * time.Hour / 2, 23 * time.Hour / 4}},
		{"equal, highest", retry.EqualJitter{Base: s, Cap: 4 * s}, almost1, []time.Duration{s, 2 * s, 4 * s, 4 * s}},
		{"full, a huge factor", retry.FullJitter{Base: time.Hour, Cap: forever, Factor: 1e10}, 0.5, []time.Duration{time.Hour / 2, 1 << 62, 1 << 62}},
		{"full, an infinite factor", retry.FullJitter{Base: time.Hour, Cap: forever, Factor: math.Inf(1)}, 0.5, []time.Duration{time.Hour / 2, 1 << 62, 1 << 62}},
	})
}

// TestJitterExtremes: invalid arguments have their documented meaning.
func TestJitterExtremes(t *testing.T) {
	nan, s := math.NaN(), time.Second
	checkExtremes(t, []extremeCase{
		{"a negative base of full jitter is 0", retry.FullJitter{Base: -s}, 5, 0.5, 0},
		{"a negative base of decorrelated is 0", retry.DecorrelatedJitter{Base: -s}, 3, 0.5, 0},
		{"u NaN is 0", retry.FullJitter{Base: s}, 1, nan, 0},
		{"u above 1 is 1", retry.FullJitter{Base: s}, 1, 7, s},
		{"u below 0 is 0", retry.FullJitter{Base: s}, 1, -7, 0},
		{"u NaN in equal jitter", retry.EqualJitter{Base: s}, 1, nan, s / 2},
	})
}

// TestJitterOfTheLongestDelay: a product beyond the longest duration does not
// overflow.
func TestJitterOfTheLongestDelay(t *testing.T) {
	a := retry.Attempt{Number: 60}
	for _, b := range []retry.Backoff{
		retry.FullJitter{Base: time.Hour, Cap: forever},
		retry.Jittered{Of: retry.Exponential{Base: time.Hour}, Share: 1},
	} {
		assert.Equal(t, time.Duration(1<<62), b.Delay(a, 0.5))
		assert.Equal(t, time.Duration(1<<63-1<<10), b.Delay(a, almost1))
	}
	assert.GreaterOrEqual(t, retry.FullJitter{Base: time.Hour}.Delay(a, 0.5), time.Duration(1<<62))
}

// TestJitterOfShortDelays: delays of microseconds are jittered evenly, to the nanosecond.
func TestJitterOfShortDelays(t *testing.T) {
	const us = time.Microsecond
	for _, tt := range []struct {
		rule      retry.Backoff
		low, high time.Duration
	}{
		{retry.Spread{Of: retry.Constant(10 * us), Fraction: 0.1}, 9 * us, 11 * us},
		{retry.Jittered{Of: retry.Constant(10 * us), Share: 0.1}, 9 * us, 10 * us},
		{retry.FullJitter{Base: 10 * us, Cap: 10 * us}, 0, 10 * us},
		{retry.EqualJitter{Base: 10 * us, Cap: 10 * us}, 5 * us, 10 * us},
		{retry.DecorrelatedJitter{Base: us, Cap: 3 * us, Redraw: true}, us, 3 * us},
	} {
		draws := delaysOf(tt.rule, 20_000, retrytest.Seeded(1))
		checkUniform(t, draws, tt.low, tt.high)
		slices.Sort(draws)
		assert.Greater(t, len(slices.Compact(draws)), 900, "%#v", tt.rule)
	}
}

// checkUniform checks that each tenth of [low, high] has a tenth of the draws, within
// five standard deviations.
func checkUniform(t *testing.T, draws []time.Duration, low, high time.Duration) {
	t.Helper()
	var tenths [10]int
	for _, d := range draws {
		require.GreaterOrEqual(t, d, low)
		require.LessOrEqual(t, d, high)
		tenths[min(9, int(10*float64(d-low)/float64(high-low)))]++
	}
	want := float64(len(draws)) / 10
	for i, n := range tenths {
		assert.InDelta(t, want, n, 5*math.Sqrt(want*0.9), "tenth %d: %v", i, tenths)
	}
}

// TestJitterDistribution: the delays of each jitter are uniform in the documented range. The
// Kolmogorov-Smirnov distance of 40,000 uniform draws is below 0.01 in 999 of 1,000 cases;
// the draws are seeded.
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
			slices.Sort(seconds)
			distance := 0.0
			for i, s := range seconds {
				share := (s - tt.low) / width
				distance = max(distance, share-float64(i)/draws, float64(i+1)/draws-share)
			}
			assert.Less(t, distance, 0.01)
			assert.GreaterOrEqual(t, slices.Min(seconds), tt.low)
			assert.LessOrEqual(t, slices.Max(seconds), tt.high)
			assert.InDelta(t, tt.low, slices.Min(seconds), width*0.001, "lowest")
			assert.InDelta(t, tt.high, slices.Max(seconds), width*0.001, "highest")
		})
	}
}

// TestDecorrelatedAtTheCap: Redraw makes the documented difference at the cap.
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

// TestDecorrelatedForever: delays stay between base and cap for 10,000 attempts, and
// with Redraw they keep varying at the cap.
func TestDecorrelatedForever(t *testing.T) {
	for _, redraw := range []bool{false, true} {
		for limit, top := range map[time.Duration]time.Duration{0: forever, time.Second: time.Second, forever: forever} {
			b := retry.DecorrelatedJitter{Base: ms, Cap: limit, Redraw: redraw}
			for _, random := range []func() float64{retrytest.Seeded(1), retrytest.Fixed(almost1)} {
				delays := delaysOf(b, 10_000, random)
				require.Len(t, delays, 10_000)
				assert.GreaterOrEqual(t, slices.Min(delays), ms, "%#v", b)
				assert.LessOrEqual(t, slices.Max(delays), top, "%#v", b)
			}
			delays := delaysOf(b, 10_000, retrytest.Seeded(1))
			assert.Greater(t, slices.Max(delays), top/10*9)
			if slices.Sort(delays); redraw {
				assert.Greater(t, len(slices.Compact(delays)), 9000)
			}
		}
	}
}
