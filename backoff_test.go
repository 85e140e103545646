package retry_test

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// everyBackoff maps the name of each rule to an example and its longest delay.
var everyBackoff = map[string]struct {
	rule retry.Backoff
	most time.Duration
}{
	"NoDelay":            {retry.NoDelay{}, 0},
	"Constant":           {retry.Constant(time.Second), time.Second},
	"Exponential":        {retry.Exponential{Base: 100 * ms, Cap: 20 * time.Second}, 20 * time.Second},
	"Exponential by 1.5": {retry.Exponential{Base: 100 * ms, Cap: 20 * time.Second, Factor: 1.5}, 20 * time.Second},
	"Linear":             {retry.Linear{Base: 100 * ms, Step: 50 * ms, Cap: time.Second}, time.Second},
	"Fibonacci":          {retry.Fibonacci{Base: 100 * ms, Cap: 20 * time.Second}, 20 * time.Second},
	"Schedule":           {retry.Schedule{ms, 2 * ms, 5 * ms}, 5 * ms},
	"FullJitter":         {retry.FullJitter{Base: 100 * ms, Cap: 20 * time.Second}, 20 * time.Second},
	"EqualJitter":        {retry.EqualJitter{Base: 100 * ms, Cap: 20 * time.Second}, 20 * time.Second},
	"Decorrelated":       {retry.DecorrelatedJitter{Base: 100 * ms, Cap: 20 * time.Second}, 20 * time.Second},
	"Decorrelated again": {retry.DecorrelatedJitter{Base: 100 * ms, Cap: 20 * time.Second, Redraw: true}, 20 * time.Second},
	"Jittered":           {retry.Jittered{Of: retry.Fibonacci{Base: 100 * ms, Cap: 20 * time.Second}, Share: 1}, 20 * time.Second},
	"Spread":             {retry.Spread{Of: retry.Exponential{Base: 100 * ms, Cap: 20 * time.Second}, Fraction: 0.5}, 30 * time.Second},
	"Spread of random":   {retry.Spread{Of: retry.FullJitter{Base: 100 * ms, Cap: 20 * time.Second}, Fraction: 0.5}, 30 * time.Second},
	"Capped":             {retry.Capped{Of: retry.FullJitter{Base: 100 * ms}, Cap: time.Second}, time.Second},
	"WhenThrottled":      {retry.WhenThrottled{Throttled: retry.Constant(time.Minute), Else: retry.Constant(time.Second)}, time.Minute},
}

func TestBackoffContract(t *testing.T) {
	for name, b := range everyBackoff {
		t.Run(name, func(t *testing.T) { retrytest.TestBackoff(t, b.rule) })
	}
}

func TestBackoffDelays(t *testing.T) {
	s := time.Second
	checkDelays(t, []delayCase{
		{"none", retry.NoDelay{}, 0.5, []time.Duration{0, 0}},
		{"constant", retry.Constant(s), 0.5, []time.Duration{s, s}},
		{"exponential", retry.Exponential{Base: s, Cap: 10 * s}, 0.5, []time.Duration{s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s}},
		{"exponential by 3 is exact", retry.Exponential{Base: s, Factor: 3}, 0.5, []time.Duration{s, 3 * s, 9 * s, 27 * s, 81 * s, 243 * s}},
		{"exponential by 1.5", retry.Exponential{Base: s, Factor: 1.5}, 0.5, []time.Duration{s, 1500 * ms, 2250 * ms, 3375 * ms}},
		{"exponential by 1", retry.Exponential{Base: s, Factor: 1}, 0.5, []time.Duration{s, s, s}},
		{"exponential, base above cap", retry.Exponential{Base: time.Minute, Cap: s}, 0.5, []time.Duration{s, s}},
		{"linear", retry.Linear{Base: s, Step: 2 * s, Cap: 6 * s}, 0.5, []time.Duration{s, 3 * s, 5 * s, 6 * s}},
		{"linear without step", retry.Linear{Base: s}, 0.5, []time.Duration{s, 2 * s, 3 * s}},
		{"linear from 0", retry.Linear{Step: s}, 0.5, []time.Duration{0, s, 2 * s}},
		{"fibonacci", retry.Fibonacci{Base: s, Cap: 10 * s}, 0.5, []time.Duration{s, s, 2 * s, 3 * s, 5 * s, 8 * s, 10 * s}},
		{"schedule", retry.Schedule{s, 3 * s}, 0.5, []time.Duration{s, 3 * s, 3 * s, 3 * s}},
		{"schedule, empty", retry.Schedule{}, 0.5, []time.Duration{0}},
		{"schedule, negative", retry.Schedule{-s, s}, 0.5, []time.Duration{0, s}},
		{"a huge factor jumps to the cap", retry.Exponential{Base: s, Cap: forever, Factor: 1e16}, 0.5, []time.Duration{s, forever, forever}},
		{"an infinite factor jumps to the cap", retry.Exponential{Base: s, Cap: forever, Factor: math.Inf(1)}, 0.5, []time.Duration{s, forever, forever}},
		{"a factor NaN is 2", retry.Exponential{Base: s, Cap: forever, Factor: math.NaN()}, 0.5, []time.Duration{s, 2 * s, 4 * s, 8 * s}},
		{"a factor below 1 is 1", retry.Exponential{Base: s, Cap: forever, Factor: 0.001}, 0.5, []time.Duration{s, s, s, s}},
	})
}

// TestBackoffExtremes: invalid arguments have their documented meaning.
func TestBackoffExtremes(t *testing.T) {
	nan, inf, s := math.NaN(), math.Inf(1), time.Second
	checkExtremes(t, []extremeCase{
		{"number 0 is the first", retry.Exponential{Base: s}, 0, 0, s},
		{"a negative number is the first", retry.Exponential{Base: s}, math.MinInt, 0, s},
		{"factor NaN is 2", retry.Exponential{Base: s, Factor: nan}, 3, 0, 4 * s},
		{"factor -3 is 1", retry.Exponential{Base: s, Factor: -3}, 3, 0, s},
		{"factor 0.5 is 1", retry.Exponential{Base: s, Factor: 0.5}, 3, 0, s},
		{"factor -Inf is 1", retry.Exponential{Base: s, Factor: -inf}, 3, 0, s},
		{"factor +Inf jumps to the cap", retry.Exponential{Base: s, Factor: inf, Cap: time.Hour}, 2, 0, time.Hour},
		{"factor +Inf before the first retry", retry.Exponential{Base: s, Factor: inf, Cap: time.Hour}, 1, 0, s},
		{"base 0 is 50 ms", retry.Exponential{}, 0, 0, 50 * ms},
		{"a negative base is 0", retry.Exponential{Base: -s}, 5, 0, 0},
		{"a negative base of linear is 0", retry.Linear{Base: -s, Step: s}, 3, 0, 2 * s},
		{"a negative step is 0", retry.Linear{Base: s, Step: -s}, 3, 0, s},
		{"a negative base of fibonacci is 0", retry.Fibonacci{Base: -s}, 3, 0, 0},
		{"a negative cap is none", retry.Exponential{Base: s, Cap: -1}, 11, 0, 1024 * s},
		{"a negative constant is 0", retry.Constant(-s), 1, 0, 0},
		{"saturation without a cap", retry.Exponential{Base: s}, 64, 0, forever},
		{"saturation at the last number", retry.Exponential{Base: 1, Factor: 1.0001}, math.MaxInt, 0, forever},
		{"a factor of nearly 1", retry.Exponential{Base: s, Factor: 1 + 0x1p-52}, 1 << 20, 0, s},
		{"linear saturates", retry.Linear{Base: time.Hour}, math.MaxInt, 0, forever},
		{"fibonacci saturates", retry.Fibonacci{Base: 1}, 93, 0, forever},
		{"fibonacci at the last number", retry.Fibonacci{Base: 1}, math.MaxInt, 0, forever},
	})
}

// TestGrowthWithoutCap: uncapped delays never fall, and saturate instead of
// overflowing.
func TestGrowthWithoutCap(t *testing.T) {
	for _, b := range []retry.Backoff{
		retry.Exponential{Base: time.Second},
		retry.Fibonacci{Base: time.Second},
		retry.Linear{Base: time.Second, Step: 1 << 60},
	} {
		delays := delaysOf(b, 2000, nil)
		assert.Equal(t, time.Second, delays[0])
		assert.True(t, slices.IsSorted(delays), "%T", b)
		assert.Equal(t, forever, delays[len(delays)-1])
	}
	assert.Equal(t, time.Second<<33, retry.Exponential{Base: time.Second}.Delay(retry.Attempt{Number: 34}, 0))
}

// TestNegativeDelays: a rule with negative parameters never waits, even in a
// composition.
func TestNegativeDelays(t *testing.T) {
	for name, b := range map[string]retry.Backoff{
		"constant":     retry.Constant(-1),
		"schedule":     retry.Schedule{-1},
		"linear":       retry.Linear{Base: -1, Step: -1},
		"fibonacci":    retry.Fibonacci{Base: -1},
		"exponential":  retry.Exponential{Base: -1},
		"full":         retry.FullJitter{Base: -1},
		"decorrelated": retry.DecorrelatedJitter{Base: -1},
	} {
		for _, b := range []retry.Backoff{
			b, retry.Capped{Of: b, Cap: time.Second}, retry.Jittered{Of: b, Share: 1},
			retry.Spread{Of: b, Fraction: 0.5}, retry.WhenThrottled{Else: b},
		} {
			waits := slices.Collect(retry.Policy{Backoff: b, MaxAttempts: 2}.Delays())
			assert.Equal(t, []time.Duration{0}, waits, "%s: %#v", name, b)
		}
	}
}

// TestNoDelayAboveTheCap: delays stay below the cap, but come close to it.
func TestNoDelayAboveTheCap(t *testing.T) {
	const limit = time.Second
	exponential := retry.Exponential{Base: 10 * ms, Cap: limit, Factor: 1.5}
	for name, b := range map[string]retry.Backoff{
		"exponential":          exponential,
		"full":                 retry.FullJitter(exponential),
		"equal":                retry.EqualJitter(exponential),
		"linear":               retry.Linear{Base: limit, Step: 99 * limit, Cap: limit},
		"fibonacci":            retry.Fibonacci{Base: ms, Cap: limit},
		"decorrelated":         retry.DecorrelatedJitter{Base: ms, Cap: limit},
		"redrawn":              retry.DecorrelatedJitter{Base: ms, Cap: limit, Redraw: true},
		"jittered":             retry.Jittered{Of: exponential, Share: 0.9},
		"capped spread":        retry.Capped{Of: retry.Spread{Of: retry.Constant(time.Minute), Fraction: 1}, Cap: limit},
		"exponential at once":  retry.Exponential{Base: time.Minute, Cap: limit},
		"full at once":         retry.FullJitter{Base: time.Minute, Cap: limit},
		"equal at once":        retry.EqualJitter{Base: time.Minute, Cap: limit},
		"linear at once":       retry.Linear{Base: time.Minute, Cap: limit},
		"fibonacci at once":    retry.Fibonacci{Base: time.Minute, Cap: limit},
		"decorrelated at once": retry.DecorrelatedJitter{Base: time.Minute, Cap: limit},
		"redrawn at once":      retry.DecorrelatedJitter{Base: time.Minute, Cap: limit, Redraw: true},
	} {
		for _, random := range []func() float64{retrytest.Seeded(1), retrytest.Fixed(almost1), retrytest.Fixed(0)} {
			delays := delaysOf(b, 500, random)
			assert.GreaterOrEqual(t, slices.Min(delays), time.Duration(0), name)
			assert.LessOrEqual(t, slices.Max(delays), limit, name)
		}
		assert.Greater(t, slices.Max(delaysOf(b, 500, retrytest.Seeded(1))), limit*9/10, name)
	}
}

// TestEveryArgument: for all extreme parameters, delays stay between 0 and the cap,
// and those of rules without memory never fall.
func TestEveryArgument(t *testing.T) {
	durations := []time.Duration{math.MinInt64, -1, 0, 1, ms, time.Hour, forever}
	factors := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 0.5, 1, 1.5, 2, 1e16, math.MaxFloat64}
	for _, base := range durations {
		for _, limit := range durations {
			checkRange(t, retry.Fibonacci{Base: base, Cap: limit}, limit, true)
			checkRange(t, retry.DecorrelatedJitter{Base: base, Cap: limit}, limit, false)
			checkRange(t, retry.DecorrelatedJitter{Base: base, Cap: limit, Redraw: true}, limit, false)
			for _, step := range durations {
				checkRange(t, retry.Linear{Base: base, Cap: limit, Step: step}, limit, true)
			}
			for _, factor := range factors {
				e := retry.Exponential{Base: base, Cap: limit, Factor: factor}
				checkRange(t, e, limit, true)
				checkRange(t, retry.FullJitter(e), limit, true)
				checkRange(t, retry.EqualJitter(e), limit, true)
				checkRange(t, retry.Jittered{Of: e, Share: factor}, limit, true)
				checkRange(t, retry.Capped{Of: retry.Spread{Of: e, Fraction: factor}, Cap: limit}, limit, true)
			}
		}
	}
}

func checkRange(t *testing.T, b retry.Backoff, limit time.Duration, rises bool) {
	t.Helper()
	if limit <= 0 {
		limit = forever
	}
	numbers := []int{math.MinInt, -1, 0, 1, 2, 3, 31, 32, 63, 64, 65, 1024, math.MaxInt32, math.MaxInt} // ascending
	for _, u := range []float64{0, 0.5, almost1} {
		last := time.Duration(0)
		for _, number := range numbers {
			for _, prev := range []time.Duration{math.MinInt64, time.Second, forever} {
				d := b.Delay(retry.Attempt{Number: number, Waited: prev}, u)
				if d < 0 || d > limit || rises && d < last {
					require.Failf(t, "out of range", "%#v, attempt %d after %v, u %v: %v after %v, cap %v",
						b, number, prev, u, d, last, limit)
				}
				last = d
			}
		}
	}
}

func TestSharedRules(t *testing.T) {
	rules := []retry.Backoff{
		retry.Exponential{Base: time.Second}, retry.FullJitter{Base: time.Second}, retry.EqualJitter{Base: time.Second},
		retry.Linear{Base: time.Second, Step: 1 << 60}, retry.Fibonacci{Base: time.Second},
		retry.Spread{Of: retry.Exponential{Base: time.Second}, Fraction: 0.1},
	}
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for _, b := range rules {
				last := time.Duration(0)
				for number := 1; number <= 150; number++ {
					d := b.Delay(retry.Attempt{Number: number, Waited: last}, 0.75)
					if d < last || number > 100 && d < forever/4 {
						wrong.Add(1)
					}
					last = d
				}
			}
		})
	}
	wg.Wait()
	assert.Zero(t, wrong.Load())
}

// FuzzDelay: for all parameters, delays stay within [0, cap] and ceilings never fall.
func FuzzDelay(f *testing.F) {
	f.Add(int64(100*ms), int64(20*time.Second), 2.0, 1, int64(0), 0.5)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), math.Inf(1), math.MaxInt, int64(math.MaxInt64), almost1)
	f.Add(int64(-1), int64(-1), math.NaN(), math.MinInt, int64(math.MinInt64), math.NaN())
	f.Add(int64(1), int64(0), 1+0x1p-52, 1<<30, int64(-1), 1.0)
	f.Add(int64(time.Hour), int64(1), 1e300, 3, int64(1), -1.0)
	f.Fuzz(func(t *testing.T, base, limit int64, factor float64, number int, prev int64, u float64) {
		b, c := time.Duration(base), time.Duration(limit)
		most := c
		if c <= 0 {
			most = forever
		}
		exponential := retry.Exponential{Base: b, Cap: c, Factor: factor}
		rules := []retry.Backoff{
			exponential,
			retry.FullJitter{Base: b, Cap: c, Factor: factor},
			retry.EqualJitter{Base: b, Cap: c, Factor: factor},
			retry.Linear{Base: b, Step: time.Duration(prev), Cap: c},
			retry.Fibonacci{Base: b, Cap: c},
			retry.DecorrelatedJitter{Base: b, Cap: c},
			retry.DecorrelatedJitter{Base: b, Cap: c, Redraw: true},
			retry.Jittered{Of: exponential, Share: factor},
			retry.Capped{Of: retry.Spread{Of: exponential, Fraction: factor}, Cap: c},
			retry.Capped{Of: retry.Spread{Of: retry.Schedule{b, time.Duration(prev)}, Fraction: factor}, Cap: c},
			retry.Capped{Of: retry.Spread{Of: retry.WhenThrottled{Throttled: exponential, Else: retry.Linear{Base: b, Cap: c}}, Fraction: factor}, Cap: c},
		}
		a := retry.Attempt{Number: number, Waited: time.Duration(prev), Verdict: retry.Verdict{Class: retry.ClassTransient}}
		for _, rule := range rules {
			d := rule.Delay(a, u)
			if d < 0 || d > most {
				t.Errorf("%#v.Delay(%d after %v, %v) = %v, not in [0, %v]", rule, number, a.Waited, u, d, most)
			}
			if again := rule.Delay(a, u); again != d {
				t.Errorf("%#v.Delay(%d after %v, %v) = %v and then %v", rule, number, a.Waited, u, d, again)
			}
		}
		if number < math.MaxInt {
			now, next := exponential.Delay(a, u), exponential.Delay(retry.Attempt{Number: number + 1}, u)
			// With a factor of 1 + 1e-9, two powers may differ by less than a float64's
			// last bit.
			if float64(next) < float64(now)*(1-0x1p-40) {
				t.Errorf("%#v falls from %v to %v after attempt %d", exponential, now, next, number)
			}
		}
	})
}
