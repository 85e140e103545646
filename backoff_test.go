package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

const (
	ms       = time.Millisecond
	forever  = time.Duration(math.MaxInt64)
	almost1  = 1 - 0x1p-53
	nanotick = time.Nanosecond
)

// everyBackoff has one value of each rule, with the most that it may return.
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
	"Spread":             {retry.Spread{Of: retry.Exponential{Base: 100 * ms, Cap: 20 * time.Second}, Fraction: 0.5}, 20 * time.Second},
	"Spread of random":   {retry.Spread{Of: retry.FullJitter{Base: 100 * ms, Cap: 20 * time.Second}, Fraction: 0.5}, 20 * time.Second},
	"Capped":             {retry.Capped{Of: retry.FullJitter{Base: 100 * ms}, Cap: time.Second}, time.Second},
	"WhenThrottled":      {retry.WhenThrottled{Throttled: retry.Constant(time.Minute), Else: retry.Constant(time.Second)}, time.Minute},
}

func TestBackoffContract(t *testing.T) {
	for name, b := range everyBackoff {
		t.Run(name, func(t *testing.T) { retrytest.TestBackoff(t, b.rule) })
	}
}

func TestDelay(t *testing.T) {
	s := time.Second
	tests := []struct {
		name string
		rule retry.Backoff
		u    float64
		want []time.Duration // before the first retry, the second …
	}{
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
		{"full", retry.FullJitter{Base: s, Cap: 4 * s}, 0.25, []time.Duration{s / 4, s / 2, s, s}},
		{"full, lowest", retry.FullJitter{Base: s, Cap: 4 * s}, 0, []time.Duration{0, 0, 0, 0}},
		{"full, highest", retry.FullJitter{Base: s, Cap: 4 * s}, almost1, []time.Duration{s - nanotick, 2*s - nanotick, 4*s - nanotick}},
		{"equal", retry.EqualJitter{Base: s, Cap: 4 * s}, 0.5, []time.Duration{3 * s / 4, 3 * s / 2, 3 * s, 3 * s}},
		{"equal, lowest", retry.EqualJitter{Base: s, Cap: 4 * s}, 0, []time.Duration{s / 2, s, 2 * s, 2 * s}},
		{"jittered, all", retry.Jittered{Of: retry.Fibonacci{Base: s}, Share: 1}, 0.5, []time.Duration{s / 2, s / 2, s, 3 * s / 2}},
		{"jittered, nothing", retry.Jittered{Of: retry.Fibonacci{Base: s}}, 0.5, []time.Duration{s, s, 2 * s, 3 * s}},
		{"jittered, a fifth", retry.Jittered{Of: retry.Constant(s), Share: 0.2}, 0.5, []time.Duration{900 * ms}},
		{"spread, lowest", retry.Spread{Of: retry.Exponential{Base: s, Cap: 4 * s}, Fraction: 0.5}, 0, []time.Duration{s / 2, s, 2 * s}},
		{"spread, middle", retry.Spread{Of: retry.Exponential{Base: s, Cap: 4 * s}, Fraction: 0.5}, 0.5, []time.Duration{s, 2 * s, 4 * s}},
		{"spread, highest", retry.Spread{Of: retry.Exponential{Base: s, Cap: 4 * s}, Fraction: 0.5}, almost1, []time.Duration{3 * s / 2, 3 * s, 4 * s}},
		{"spread of a constant has no cap", retry.Spread{Of: retry.Constant(s), Fraction: 0.5}, 0.75, []time.Duration{1250 * ms}},
		{"spread of capped", retry.Spread{Of: retry.Capped{Of: retry.Constant(s), Cap: s}, Fraction: 0.5}, 0.75, []time.Duration{s}},
		{"spread of a random rule", retry.Spread{Of: retry.FullJitter{Base: s, Cap: 4 * s}, Fraction: 0.5}, 0.5, []time.Duration{s / 2, s, 2 * s}},
		{"spread of a random rule, highest", retry.Spread{Of: retry.FullJitter{Base: s, Cap: 4 * s}, Fraction: 0.5}, almost1, []time.Duration{1499999998, 2999999998, 4 * s}},
		{"capped", retry.Capped{Of: retry.FullJitter{Base: s}, Cap: 3 * s}, 0.5, []time.Duration{s / 2, s, 2 * s, 3 * s, 3 * s}},
		{"a rule that is missing", retry.Capped{Cap: s}, 0.5, []time.Duration{25 * ms, 50 * ms, 100 * ms}},
		{"decorrelated, lowest", retry.DecorrelatedJitter{Base: s, Cap: 4 * s}, 0, []time.Duration{s, s, s}},
		{"decorrelated", retry.DecorrelatedJitter{Base: s, Cap: 10 * s}, 0.5, []time.Duration{2 * s, 3500 * ms, 5750 * ms, 9125 * ms, 10 * s, 10 * s}},
		{"decorrelated, drawn again", retry.DecorrelatedJitter{Base: s, Cap: 10 * s, Redraw: true}, 0.5, []time.Duration{2 * s, 3500 * ms, 5500 * ms, 5500 * ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []time.Duration
			a := retry.Attempt{Number: 1, Class: retry.ClassTransient}
			for range tt.want {
				a.Waited = tt.rule.Delay(a, tt.u)
				a.Number++
				got = append(got, a.Waited)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestWhenThrottled(t *testing.T) {
	b := retry.WhenThrottled{Throttled: retry.Constant(time.Minute), Else: retry.Constant(time.Second)}
	for class, want := range map[retry.Class]time.Duration{
		retry.ClassThrottled: time.Minute,
		retry.ClassTransient: time.Second,
		retry.ClassTimeout:   time.Second,
		retry.ClassUnknown:   time.Second,
	} {
		assert.Equal(t, want, b.Delay(retry.Attempt{Number: 1, Class: class}, 0.5), "%v", class)
	}
	missing := retry.WhenThrottled{}
	assert.Equal(t, 500*ms, missing.Delay(retry.Attempt{Number: 1, Class: retry.ClassThrottled}, 0.5))
	assert.Equal(t, 25*ms, missing.Delay(retry.Attempt{Number: 1}, 0.5))
}

// TestSpreadKeepsTheCapOfTheClass: the cap is that of the rule that applies.
func TestSpreadKeepsTheCapOfTheClass(t *testing.T) {
	b := retry.Spread{Fraction: 0.5, Of: retry.WhenThrottled{
		Throttled: retry.Exponential{Base: time.Second, Cap: 20 * time.Second},
		Else:      retry.Exponential{Base: time.Second, Cap: time.Second},
	}}
	assert.Equal(t, time.Second, b.Delay(retry.Attempt{Number: 1, Class: retry.ClassTransient}, 1))
	assert.Equal(t, 1500*ms, b.Delay(retry.Attempt{Number: 1, Class: retry.ClassThrottled}, 1))
}

// TestCompositionsDrawTwice: a rule inside another gets a random number that
// is independent of the outer one, or means would move.
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

// TestExtremes: arguments that make no sense have the documented meaning.
func TestExtremes(t *testing.T) {
	nan, inf, s := math.NaN(), math.Inf(1), time.Second
	tests := []struct {
		name   string
		rule   retry.Backoff
		number int
		u      float64
		want   time.Duration
	}{
		{"number 0 is the first", retry.Exponential{Base: s}, 0, 0, s},
		{"a negative number is the first", retry.Exponential{Base: s}, math.MinInt, 0, s},
		{"factor NaN is 2", retry.Exponential{Base: s, Factor: nan}, 3, 0, 4 * s},
		{"factor -3 is 1", retry.Exponential{Base: s, Factor: -3}, 3, 0, s},
		{"factor 0.5 is 1", retry.Exponential{Base: s, Factor: 0.5}, 3, 0, s},
		{"factor -Inf is 1", retry.Exponential{Base: s, Factor: -inf}, 3, 0, s},
		{"factor +Inf jumps to the cap", retry.Exponential{Base: s, Factor: inf, Cap: time.Hour}, 2, 0, time.Hour},
		{"factor +Inf before the first retry", retry.Exponential{Base: s, Factor: inf, Cap: time.Hour}, 1, 0, s},
		{"base 0 with factor +Inf", retry.Exponential{Factor: inf}, 5, 0, 0},
		{"a negative base is 0", retry.Exponential{Base: -s}, 5, 0, 0},
		{"a negative base of full jitter is 0", retry.FullJitter{Base: -s}, 5, 0.5, 0},
		{"a negative base of linear is 0", retry.Linear{Base: -s, Step: s}, 3, 0, 2 * s},
		{"a negative step is 0", retry.Linear{Base: s, Step: -s}, 3, 0, s},
		{"a negative base of fibonacci is 0", retry.Fibonacci{Base: -s}, 3, 0, 0},
		{"a negative base of decorrelated is 0", retry.DecorrelatedJitter{Base: -s}, 3, 0.5, 0},
		{"a negative cap is none", retry.Exponential{Base: s, Cap: -1}, 11, 0, 1024 * s},
		{"a negative constant is 0", retry.Constant(-s), 1, 0, 0},
		{"saturation without a cap", retry.Exponential{Base: s}, 64, 0, forever},
		{"saturation at the last number", retry.Exponential{Base: 1, Factor: 1.0001}, math.MaxInt, 0, forever},
		{"a factor of nearly 1", retry.Exponential{Base: s, Factor: 1 + 0x1p-52}, 1 << 20, 0, s},
		{"linear saturates", retry.Linear{Base: time.Hour}, math.MaxInt, 0, forever},
		{"fibonacci saturates", retry.Fibonacci{Base: 1}, 93, 0, forever},
		{"fibonacci at the last number", retry.Fibonacci{Base: 1}, math.MaxInt, 0, forever},
		{"u NaN is 0", retry.FullJitter{Base: s}, 1, nan, 0},
		{"u above 1 is 1", retry.FullJitter{Base: s}, 1, 7, s},
		{"u below 0 is 0", retry.FullJitter{Base: s}, 1, -7, 0},
		{"u NaN in equal jitter", retry.EqualJitter{Base: s}, 1, nan, s / 2},
		{"share NaN is 0", retry.Jittered{Of: retry.Constant(s), Share: nan}, 1, 0, s},
		{"share above 1 is 1", retry.Jittered{Of: retry.Constant(s), Share: 9}, 1, 0.25, s / 4},
		{"fraction above 1 is 1", retry.Spread{Of: retry.Constant(s), Fraction: 9}, 1, 0, 0},
		{"fraction NaN is 0", retry.Spread{Of: retry.Constant(s), Fraction: nan}, 1, 0, s},
		{"spread saturates", retry.Spread{Of: retry.Constant(forever), Fraction: 1}, 1, 0.9, forever},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.rule.Delay(retry.Attempt{Number: tt.number}, tt.u)
			// Floating point has 53 bits; a second has 30.
			assert.InDelta(t, float64(tt.want), float64(got), float64(tt.want)*0x1p-30)
		})
	}
}

// FuzzDelay: whatever the parameters, a delay stays within [0, cap], ceilings
// never fall from retry to retry, and nothing panics.
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
			retry.Spread{Of: exponential, Fraction: factor},
			retry.Capped{Of: retry.Spread{Of: retry.Schedule{b, time.Duration(prev)}, Fraction: factor}, Cap: c},
			retry.Spread{Of: retry.WhenThrottled{Throttled: exponential, Else: retry.Linear{Base: b, Cap: c}}, Fraction: factor},
		}
		a := retry.Attempt{Number: number, Waited: time.Duration(prev), Class: retry.ClassTransient}
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
			// With a factor of 1 + 1e-9 two powers may differ by less than the
			// last bit of a float64.
			if float64(next) < float64(now)*(1-0x1p-40) {
				t.Errorf("%#v falls from %v to %v after attempt %d", exponential, now, next, number)
			}
		}
	})
}
