package retry_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

func TestCompositionDelays(t *testing.T) {
	s := time.Second
	checkDelays(t, []delayCase{
		{"jittered, all", retry.Jittered{Of: retry.Fibonacci{Base: s}, Share: 1}, 0.5, []time.Duration{s / 2, s / 2, s, 3 * s / 2}},
		{"jittered, nothing", retry.Jittered{Of: retry.Fibonacci{Base: s}}, 0.5, []time.Duration{s, s, 2 * s, 3 * s}},
		{"jittered, a fifth", retry.Jittered{Of: retry.Constant(s), Share: 0.2}, 0.5, []time.Duration{900 * ms}},
		{"spread, lowest", retry.Spread{Of: retry.Exponential{Base: s, Cap: 4 * s}, Fraction: 0.5}, 0, []time.Duration{s / 2, s, 2 * s}},
		{"spread, middle", retry.Spread{Of: retry.Exponential{Base: s, Cap: 4 * s}, Fraction: 0.5}, 0.5, []time.Duration{s, 2 * s, 4 * s}},
		{"spread, highest", retry.Spread{Of: retry.Exponential{Base: s, Cap: 4 * s}, Fraction: 0.5}, almost1, []time.Duration{3 * s / 2, 3 * s, 6 * s}},
		{"spread of a constant", retry.Spread{Of: retry.Constant(s), Fraction: 0.5}, 0.75, []time.Duration{1250 * ms}},
		{"spread of capped", retry.Spread{Of: retry.Capped{Of: retry.Constant(2 * s), Cap: s}, Fraction: 0.5}, 0.75, []time.Duration{1250 * ms}},
		{"capped spread", retry.Capped{Of: retry.Spread{Of: retry.Constant(s), Fraction: 0.5}, Cap: s}, 0.75, []time.Duration{s}},
		{"spread of a random rule", retry.Spread{Of: retry.FullJitter{Base: s, Cap: 4 * s}, Fraction: 0.5}, 0.5, []time.Duration{s / 2, s, 2 * s}},
		{"spread of a random rule, highest", retry.Spread{Of: retry.FullJitter{Base: s, Cap: 4 * s}, Fraction: 0.5}, almost1, []time.Duration{1499999998, 2999999998, 5999999998}},
		{"capped", retry.Capped{Of: retry.FullJitter{Base: s}, Cap: 3 * s}, 0.5, []time.Duration{s / 2, s, 2 * s, 3 * s, 3 * s}},
		{"a rule that is missing", retry.Capped{Cap: s}, 0.5, []time.Duration{25 * ms, 50 * ms, 100 * ms}},
	})
}

// TestCompositionExtremes: invalid arguments have their documented meaning.
func TestCompositionExtremes(t *testing.T) {
	nan, inf, s := math.NaN(), math.Inf(1), time.Second
	checkExtremes(t, []extremeCase{
		{"share NaN is 0", retry.Jittered{Of: retry.Constant(s), Share: nan}, 1, 0, s},
		{"share above 1 is 1", retry.Jittered{Of: retry.Constant(s), Share: 9}, 1, 0.25, s / 4},
		{"fraction above 1 is 1", retry.Spread{Of: retry.Constant(s), Fraction: 9}, 1, 0, 0},
		{"fraction NaN is 0", retry.Spread{Of: retry.Constant(s), Fraction: nan}, 1, 0, s},
		{"spread saturates", retry.Spread{Of: retry.Constant(forever), Fraction: 1}, 1, 0.9, forever},
		{"share below 0 is 0", retry.Jittered{Of: retry.Constant(s), Share: -1}, 1, 0.9, s},
		{"share -Inf is 0", retry.Jittered{Of: retry.Constant(s), Share: -inf}, 1, 0.9, s},
		{"fraction below 0 is 0", retry.Spread{Of: retry.Constant(s), Fraction: -1}, 1, 0.9, s},
		{"fraction -Inf is 0", retry.Spread{Of: retry.Constant(s), Fraction: -inf}, 1, 0.9, s},
	})
}

func TestWhenThrottled(t *testing.T) {
	b := retry.WhenThrottled{Throttled: retry.Constant(time.Minute), Else: retry.Constant(time.Second)}
	for class, want := range map[retry.Class]time.Duration{
		retry.ClassThrottled: time.Minute,
		retry.ClassTransient: time.Second,
		retry.ClassTimeout:   time.Second,
		retry.ClassUnknown:   time.Second,
	} {
		assert.Equal(t, want, b.Delay(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: class}}, 0.5), "%v", class)
	}
	missing := retry.WhenThrottled{}
	assert.Equal(t, 500*ms, missing.Delay(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled}}, 0.5))
	assert.Equal(t, 25*ms, missing.Delay(retry.Attempt{Number: 1}, 0.5))
}

// TestCompositionsDrawTwice: an inner rule gets an independent random number, because
// sharing one number would change the mean.
func TestCompositionsDrawTwice(t *testing.T) {
	rule := retry.Spread{Of: retry.FullJitter{Base: time.Second}, Fraction: 1}
	next := retrytest.Seeded(1)
	const n = 100_000
	var sum float64
	for range n {
		sum += rule.Delay(retry.Attempt{Number: 1}, next()).Seconds()
	}
	// Independent: E[u·2v] = 1/2. With the same number twice: E[u·2u] = 2/3.
	assert.InDelta(t, 0.5, sum/n, 0.01)
}

// seen is a Backoff that stores its random number.
type seen struct{ u *float64 }

func (s seen) Delay(_ retry.Attempt, u float64) time.Duration {
	*s.u = u
	return time.Second
}

// TestNumbersAtDepth: the number of each depth is uniform and independent of the others, by
// a test of chi-squared with 16 x 16 cells, whose mean is 255 and standard deviation 23.
func TestNumbersAtDepth(t *testing.T) {
	const n, depths, cells = 100_000, 6, 16
	var numbers [depths]float64
	next := retrytest.Seeded(1)
	var counts [depths][depths][cells * cells]float64
	for range n {
		numbers[0] = next()
		var rule retry.Backoff
		for depth := 1; depth < depths; depth++ {
			rule = seen{&numbers[depth]}
			for range depth {
				rule = retry.Spread{Of: rule, Fraction: 0.5}
			}
			rule.Delay(retry.Attempt{Number: 1}, numbers[0])
		}
		for i, x := range numbers {
			for j, y := range numbers[:i] {
				counts[i][j][int(x*cells)*cells+int(y*cells)]++
			}
		}
	}
	for i := range numbers {
		for j := range i {
			sum := 0.0
			for _, count := range counts[i][j] {
				expected := float64(n) / (cells * cells)
				sum += (count - expected) * (count - expected) / expected
			}
			assert.InDelta(t, 255, sum, 4*23, "depths %d and %d", i, j)
		}
	}
}

// TestSameNumbersAtDepth: workers with different versions of this package compute the same
// delays from the same random numbers. An implementation of the formula in Python computed
// the table.
func TestSameNumbersAtDepth(t *testing.T) {
	for _, want := range [][4]float64{ // the number, and those of depths 1 to 3
		{0.1, 0.8272261311885328, 0.7198956574696809, 0.538828192679776},
		{0.3, 0.2349999771920147, 0.22916015335548912, 0.5940814686555232},
		{0.7, 0.06141902761236118, 0.6362034559812677, 0.13507487383567018},
		{0x1p-53, 0.976149531270783, 0.4939796458493263, 0.8721784716548964},
		{1 - 0x1p-52, 0.7106181540900631, 0.5374977485091481, 0.1503040654645702},
		{0x1p-27 - 0x1p-53, 0.16894045551075487, 0.2680597469770457, 0.32973684372415113},
		{0x1p-27 + 0x1p-53, 0.19113629425439405, 0.2674278071831211, 0.4663862830297224},
		{0, 0, 0, 0},
		{0x1p-27, 0x1p-27, 0x1p-27, 0x1p-27},
		{0.5, 0.5, 0.5, 0.5},
		{almost1, almost1, almost1, almost1},
	} {
		for depth, number := range want {
			got := -1.0
			var rule retry.Backoff = seen{&got}
			for range depth {
				rule = retry.Jittered{Of: rule, Share: 1}
			}
			rule.Delay(retry.Attempt{Number: 1}, want[0])
			assert.Equal(t, number, got, "%v at depth %d", want[0], depth)
		}
	}
}

// TestCompositionOfNegativeDelays: a composition passes on a negative delay, which ends the
// call.
func TestCompositionOfNegativeDelays(t *testing.T) {
	twice := retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
		if a.Number > 2 {
			return -1
		}
		return 2 * time.Second
	})
	for _, rule := range []retry.Backoff{
		twice, retry.Jittered{Of: twice, Share: 1}, retry.Spread{Of: twice, Fraction: 1}, retry.Capped{Of: twice, Cap: time.Second},
		retry.WhenThrottled{Throttled: twice, Else: twice}, retry.Capped{Of: retry.Jittered{Of: twice}, Cap: time.Hour},
	} {
		for _, err := range []error{errOp, retry.Throttled(errOp), retry.After(errOp, time.Hour)} {
			calls, waits, got := play(t, retry.Policy{Backoff: rule, MaxAttempts: 9}, err)
			assert.Equal(t, 3, calls, "%T", rule)
			assert.Len(t, waits, 2)
			assert.ErrorIs(t, got, retry.ErrBackoff)
			assert.NotErrorIs(t, got, retry.ErrMaxAttempts)
			assert.ErrorIs(t, got, errOp)
			loop, _ := errors.AsType[*retry.Error](got)
			assert.Equal(t, "backoff", loop.ReasonLabel())
		}
		p := retry.Policy{Backoff: rule, MaxAttempts: 9}
		assert.Len(t, slices.Collect(p.Delays()), 2)
		_, reason := decide(p, retry.Attempt{Number: 3, Err: errOp}, 0)
		assert.Equal(t, retry.ErrBackoff, reason)
	}
}

// TestSpreadOfANanosecond: a fraction above 1 does not make a short delay negative.
func TestSpreadOfANanosecond(t *testing.T) {
	delays := delaysOf(retry.Spread{Of: retry.Constant(1), Fraction: 3}, 1000, retrytest.Seeded(1))
	assert.Len(t, delays, 1000)
	assert.GreaterOrEqual(t, slices.Min(delays), time.Duration(0))
}

func TestCappedBelowTheCap(t *testing.T) {
	for _, b := range []retry.Backoff{nil, retry.Capped{Cap: 20 * time.Second}, retry.Capped{Cap: 75 * ms}} {
		p := retry.Policy{Backoff: b, Rand: retrytest.Fixed(math.Nextafter(1, 0))}
		waits := slices.Collect(p.Delays())
		require.Len(t, waits, 2)
		assert.InDelta(t, 50*ms, waits[0], 1)
	}
	assert.Equal(t, delaysOf(nil, 20, retrytest.Seeded(1)), delaysOf(retry.Capped{Cap: 20 * time.Second}, 20, retrytest.Seeded(1)))
}

// TestCompositionOfNothing: a nil inner rule means the standard rule.
func TestCompositionOfNothing(t *testing.T) {
	want := delaysOf(nil, 5, retrytest.Seeded(1))
	assert.Positive(t, slices.Min(want))
	for _, b := range []retry.Backoff{retry.Capped{}, retry.WhenThrottled{}, retry.WhenThrottled{Throttled: retry.NoDelay{}}} {
		assert.Equal(t, want, delaysOf(b, 5, retrytest.Seeded(1)), "%#v", b)
	}
	// Jittered and Spread pass another number to the inner rule.
	for _, b := range []retry.Backoff{retry.Jittered{}, retry.Spread{}} {
		assert.LessOrEqual(t, slices.Max(delaysOf(b, 5, retrytest.Seeded(1))), 800*ms, "%#v", b)
	}
}
