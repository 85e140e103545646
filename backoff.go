package retry

import (
	"fmt"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// A Backoff computes how long to wait before the next attempt.
//
// Delay is a pure function, so any number of goroutines may share a Backoff. It must accept
// any Number and Waited. u is uniform in [0, 1) and is the only source of randomness. For a
// given Attempt, u = 0 must give the smallest delay, and the largest u the largest one.
//
// A negative delay means that no retry follows, and the call gives up with [ErrBackoff].
// The rules of this package return a negative delay only if a rule inside them does. Package
// retrytest tests implementations.
//
// If a Backoff has a method Validate() error, [Policy.Validate] calls it.
type Backoff interface {
	Delay(a Attempt, u float64) time.Duration
}

// A BackoffFunc is a function used as a [Backoff].
type BackoffFunc func(a Attempt, u float64) time.Duration

// Delay calls f.
func (f BackoffFunc) Delay(a Attempt, u float64) time.Duration { return f(a, u) }

// NoDelay retries at once, for tests and for operations that do their own waiting.
type NoDelay struct{}

// Delay returns 0.
func (NoDelay) Delay(Attempt, float64) time.Duration { return 0 }

// Constant is the same delay before every retry.
type Constant time.Duration

// Delay returns the constant.
func (b Constant) Delay(Attempt, float64) time.Duration { return max(0, time.Duration(b)) }

// Validate reports a negative delay.
func (b Constant) Validate() error {
	return ruleError("Constant", delayFaults("delay", time.Duration(b)))
}

// Exponential multiplies the delay by Factor with each retry: min(Cap, Base · Factorⁿ).
// Without jitter, clients that fail together will retry together: prefer [FullJitter].
// This formula and those of [FullJitter], [EqualJitter] and [DecorrelatedJitter] are
// from Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
type Exponential struct {
	Base   time.Duration // first delay; 0: 50 ms
	Cap    time.Duration // largest delay
	Factor float64       // growth; 0 or NaN: 2; below 1: 1
}

// Delay implements [Backoff].
func (b Exponential) Delay(a Attempt, _ float64) time.Duration {
	return dur.Saturate(b.ceiling(retriesBefore(a.Number)), dur.Limit(b.Cap))
}

// Validate reports invalid fields.
func (b Exponential) Validate() error {
	return ruleError("Exponential", rangeFaults(b.Base, b.Cap), factorFaults(b.Factor))
}

func (b Exponential) ceiling(n int) float64 {
	return dur.Ceiling(baseOrDefault(b.Base), b.Cap, b.Factor, n)
}

const defaultBase = 50 * time.Millisecond

// baseOrDefault keeps a Base that was forgotten from making a loop that never waits.
func baseOrDefault(base time.Duration) time.Duration {
	if base == 0 {
		return defaultBase
	}
	return base
}

// Linear adds Step to the delay with each retry: min(Cap, Base + n · Step).
type Linear struct {
	Base time.Duration // first delay
	Step time.Duration // added by each further retry; 0: Base
	Cap  time.Duration // largest delay
}

// Delay implements [Backoff].
func (b Linear) Delay(a Attempt, _ float64) time.Duration {
	step := b.Step
	if step == 0 {
		step = b.Base
	}
	return dur.Saturate(float64(max(0, b.Base))+float64(float64(retriesBefore(a.Number))*float64(max(0, step))), dur.Limit(b.Cap))
}

// Validate reports invalid fields.
func (b Linear) Validate() error {
	base := b.Base
	if base == 0 {
		base = b.Step // Linear{Step: d} waits from the second retry on
	}
	return ruleError("Linear", neverFaults(base), rangeFaults(b.Base, b.Cap), delayFaults("Step", b.Step))
}

// Fibonacci multiplies Base by the Fibonacci numbers 1, 1, 2, 3, 5, 8 …, which grow more
// slowly than powers of 2: min(Cap, Base · F(n+1)).
type Fibonacci struct {
	Base time.Duration // first and second delay
	Cap  time.Duration // largest delay
}

// Delay implements [Backoff].
func (b Fibonacci) Delay(a Attempt, _ float64) time.Duration {
	last, next := 0.0, float64(max(0, b.Base))
	for range min(retriesBefore(a.Number), maxFibonacci) {
		last, next = next, last+next
	}
	return dur.Saturate(next, dur.Limit(b.Cap))
}

// Validate reports invalid fields.
func (b Fibonacci) Validate() error {
	return ruleError("Fibonacci", neverFaults(b.Base), rangeFaults(b.Base, b.Cap))
}

// maxFibonacci is the n at which F(n+1) nanoseconds overflow a Duration:
// F(93) > 2⁶³.
const maxFibonacci = 92

// Schedule lists the delay before each retry. If a policy has no MaxAttempts, a call makes
// one attempt more than there are delays. If its MaxAttempts allows more, the last delay
// repeats. An empty Schedule does not wait. The slice must not be changed while in use.
type Schedule []time.Duration

// Delay returns the wait before the retry that follows attempt a.
func (b Schedule) Delay(a Attempt, _ float64) time.Duration {
	if len(b) == 0 {
		return 0
	}
	return max(0, b[min(retriesBefore(a.Number), len(b)-1)])
}

// Validate reports an empty list and negative delays.
func (b Schedule) Validate() error {
	if len(b) == 0 {
		return ruleError("Schedule", []string{"has no delays"})
	}
	var faults []string
	for i, d := range b {
		faults = append(faults, delayFaults(fmt.Sprint("delay ", i+1), d)...)
	}
	return ruleError("Schedule", faults)
}
