package retry

import (
	"log/slog"
	"math"
	"time"
)

// A Backoff computes how long to wait before the next attempt.
//
// Delay is a pure function: the same arguments give the same delay, and
// nothing is remembered between calls. One value may therefore serve any
// number of calls and goroutines at once.
//
// u is uniform in [0, 1) and is the only source of randomness. For one Attempt,
// 0 must give the smallest delay and 1-ε the largest. The delay must not be
// negative; one that is all the same counts as 0. Delay must return for every
// Attempt, with a Number from below 1 to math.MaxInt and any Delay, without
// overflow. Package retrytest has a test for implementations.
type Backoff interface {
	Delay(a Attempt, u float64) time.Duration
}

// A BackoffFunc is a function used as a [Backoff].
type BackoffFunc func(a Attempt, u float64) time.Duration

// Delay calls f.
func (f BackoffFunc) Delay(a Attempt, u float64) time.Duration { return f(a, u) }

// An Attempt is what is known about one call of the operation.
type Attempt struct {
	Number       int           // 1 for the first attempt
	Waited       time.Duration // the wait that preceded this attempt; 0 before the first
	Err          error         // what the attempt failed with; nil before it ends, and if it succeeded
	Class        Class         // how Err was classified
	Unrepeatable bool          // Err forbids a retry, whatever its Class: see [Unrepeatable]
	Hint         time.Duration // the wait that the server asked for; 0: none
}

// retriesBefore returns how many retries came before the one that may follow
// the attempt of that number: the n of the formulas.
func retriesBefore(number int) int {
	if number <= 1 {
		return 0
	}
	return number - 1
}

// LogValue returns a group of the fields that are set, with the keys number,
// waited, error, class, unrepeatable and hint.
func (a Attempt) LogValue() slog.Value {
	attrs := make([]slog.Attr, 1, 6)
	attrs[0] = slog.Int("number", a.Number)
	if a.Waited > 0 {
		attrs = append(attrs, slog.Duration("waited", a.Waited))
	}
	if a.Err != nil {
		attrs = append(attrs, slog.String("error", a.Err.Error()), slog.String("class", a.Class.String()))
	}
	if a.Unrepeatable {
		attrs = append(attrs, slog.Bool("unrepeatable", true))
	}
	if a.Hint > 0 {
		attrs = append(attrs, slog.Duration("hint", a.Hint))
	}
	return slog.GroupValue(attrs...)
}

// NoDelay retries at once. It is for tests, and for operations that wait by
// themselves; anything else wants a delay.
type NoDelay struct{}

// Delay returns 0.
func (NoDelay) Delay(Attempt, float64) time.Duration { return 0 }

// Constant is the same delay before every retry. A negative value counts as 0.
type Constant time.Duration

// Delay returns the constant.
func (b Constant) Delay(Attempt, float64) time.Duration { return max(0, time.Duration(b)) }

// Exponential multiplies the delay by a factor from retry to retry, without
// jitter: min(Cap, Base · Factorⁿ), where n is 0 before the first retry.
//
// Without jitter, callers that failed together come back together. Prefer
// [FullJitter]; the formulas of both are those of Marc Brooker, "Exponential
// Backoff And Jitter", AWS Architecture Blog, 2015.
type Exponential struct {
	Base   time.Duration // delay before the first retry; below 0 counts as 0
	Cap    time.Duration // largest delay; 0 or less: none
	Factor float64       // growth; 0 and NaN: 2; below 1 counts as 1, so that delays never fall
}

// Delay returns min(Cap, Base · Factorⁿ).
func (b Exponential) Delay(a Attempt, _ float64) time.Duration {
	return saturate(b.ceiling(retriesBefore(a.Number)), capOrMax(b.Cap))
}

// ceiling is min(Cap, Base · Factorⁿ) in nanoseconds, before any rounding: the
// jittered forms draw below it, and rounding twice would cost them accuracy.
// Without a Cap it may be more than a Duration holds, but not +Inf.
func (b Exponential) ceiling(n int) float64 {
	limit := math.MaxFloat64
	if b.Cap > 0 {
		limit = float64(b.Cap)
	}
	t := float64(b.Base) * power(b.Factor, n)
	if t > limit {
		return limit
	}
	return t
}

func (b Exponential) limit(Class) time.Duration { return capOrMax(b.Cap) }

// Linear adds the same step from retry to retry: min(Cap, Base + n · Step),
// where n is 0 before the first retry.
type Linear struct {
	Base time.Duration // delay before the first retry; below 0 counts as 0
	Step time.Duration // what each further retry adds; 0: Base; below 0 counts as 0
	Cap  time.Duration // largest delay; 0 or less: none
}

// Delay returns min(Cap, Base + n · Step).
//
//go:noinline
func (b Linear) Delay(a Attempt, _ float64) time.Duration {
	// Inlined into the wrapper that interface calls go through, it would copy
	// the Attempt twice, which takes three times as long as all the rest.
	step := b.Step
	if step == 0 {
		step = b.Base
	}
	return saturate(float64(max(0, b.Base))+float64(float64(retriesBefore(a.Number))*float64(max(0, step))), capOrMax(b.Cap))
}

func (b Linear) limit(Class) time.Duration { return capOrMax(b.Cap) }

// Fibonacci multiplies the base by the Fibonacci numbers 1, 1, 2, 3, 5, 8 …:
// slower growth than doubling. The delay is min(Cap, Base · F(n+1)), where n
// is 0 before the first retry.
type Fibonacci struct {
	Base time.Duration // delay before the first and the second retry; below 0 counts as 0
	Cap  time.Duration // largest delay; 0 or less: none
}

// Delay returns min(Cap, Base · F(n+1)).
//
//go:noinline
func (b Fibonacci) Delay(a Attempt, _ float64) time.Duration {
	// Not inlined for the reason given in Linear.
	last, next := 0.0, float64(max(0, b.Base))
	for range min(retriesBefore(a.Number), maxFibonacci) {
		last, next = next, last+next
	}
	return saturate(next, capOrMax(b.Cap))
}

func (b Fibonacci) limit(Class) time.Duration { return capOrMax(b.Cap) }

// maxFibonacci is the first retry whose Fibonacci number alone is more
// nanoseconds than a Duration holds: F(93) > 2⁶³.
const maxFibonacci = 92

// Schedule is a list of delays, one for each retry. After its end the last
// one repeats; an empty Schedule does not wait. A negative entry counts as 0.
// The slice must not be changed while it is in use.
type Schedule []time.Duration

// Delay returns the entry for the retry that follows a.
//
//go:noinline
func (b Schedule) Delay(a Attempt, _ float64) time.Duration {
	// Not inlined for the reason given in Linear.
	if len(b) == 0 {
		return 0
	}
	return max(0, b[min(retriesBefore(a.Number), len(b)-1)])
}

// Capped bounds any rule: min(Cap, Of). A rule with a Cap of its own draws its
// jitter below that cap; Capped cuts after the jitter, as several older AWS
// SDKs do, so that delays pile up at the cap.
type Capped struct {
	Of  Backoff       // nil: the default rule
	Cap time.Duration // largest delay; 0 or less: none
}

// Delay returns min(Cap, Of).
func (b Capped) Delay(a Attempt, u float64) time.Duration {
	return min(max(0, orDefault(b.Of).Delay(a, u)), capOrMax(b.Cap))
}

func (b Capped) limit(class Class) time.Duration { return min(capOrMax(b.Cap), limitOf(b.Of, class)) }

// WhenThrottled uses one rule after throttled attempts and another after all others.
type WhenThrottled struct {
	Throttled Backoff // after [ClassThrottled]; nil: the default rule
	Else      Backoff // after every other class; nil: the default rule
}

// Delay returns what the rule for a.Class returns.
func (b WhenThrottled) Delay(a Attempt, u float64) time.Duration {
	if a.Class == ClassThrottled {
		return max(0, orDefault(b.Throttled).Delay(a, u))
	}
	return max(0, orDefault(b.Else).Delay(a, u))
}

func (b WhenThrottled) limit(class Class) time.Duration {
	if class == ClassThrottled {
		return limitOf(b.Throttled, class)
	}
	return limitOf(b.Else, class)
}

// defaultBackoff is what a nil Backoff means: the growth, cap and jitter of
// the cross-SDK standard retry mode of AWS (November 2026).
var defaultBackoff Backoff = FullJitter{Base: 50 * time.Millisecond, Cap: 20 * time.Second}

// orDefault returns b, or the default rule where b is nil. It hands back the
// rule instead of asking it, because each further function that an Attempt is
// passed through costs more than the arithmetic of most rules.
func orDefault(b Backoff) Backoff {
	if b == nil {
		return defaultBackoff
	}
	return b
}

// limitOf returns the most that b can return after a failure of the class, as
// far as b tells.
func limitOf(b Backoff, class Class) time.Duration {
	if l, ok := orDefault(b).(interface{ limit(Class) time.Duration }); ok {
		return l.limit(class)
	}
	return math.MaxInt64
}

func capOrMax(limit time.Duration) time.Duration {
	if limit <= 0 {
		return math.MaxInt64
	}
	return limit
}

// saturate turns nanoseconds into a Duration in [0, limit]. It is the one
// place where a float becomes a Duration: it compares before it converts,
// because converting a float that is too large for an int64 is undefined.
// NaN becomes 0.
func saturate(ns float64, limit time.Duration) time.Duration {
	switch {
	case ns >= float64(limit):
		return limit
	case ns > 0:
		return time.Duration(ns)
	}
	return 0
}

// power returns factorⁿ for n >= 0, with the meanings that [Exponential] gives
// to factors that make no sense. It is exact as long as the result is a whole
// number below 2⁵³. math.Pow is as exact but several times slower.
func power(factor float64, n int) float64 {
	if factor == 0 || factor == 2 || factor != factor {
		return math.Float64frombits(uint64(1023+min(n, 1023)) << 52) // 2ⁿ
	}
	p := 1.0
	for f := max(1, factor); n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= f
		}
		f *= f
	}
	return p
}
