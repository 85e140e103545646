package retry

import (
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// FullJitter draws the delay between 0 and an exponential ceiling: u · min(Cap, Base ·
// Factorⁿ). It spreads retries well and is the default. For a minimum delay, use
// [EqualJitter], [DecorrelatedJitter] or [Jittered].
type FullJitter struct {
	Base   time.Duration // first ceiling; 0: 50 ms
	Cap    time.Duration // largest ceiling
	Factor float64       // as in [Exponential]
}

// Delay implements [Backoff].
func (b FullJitter) Delay(a Attempt, u float64) time.Duration {
	return dur.Saturate(jitter(Exponential(b).ceiling(retriesBefore(a.Number)), 1, u), dur.Limit(b.Cap))
}

// Validate reports invalid fields.
func (b FullJitter) Validate() error {
	return ruleError("FullJitter", rangeFaults(b.Base, b.Cap), factorFaults(b.Factor))
}

// EqualJitter keeps half of an exponential delay and draws the other half: t/2 + u · t/2,
// where t = min(Cap, Base · Factorⁿ). It waits longer and spreads retries less than
// [FullJitter].
type EqualJitter struct {
	Base   time.Duration // first ceiling; 0: 50 ms
	Cap    time.Duration // largest ceiling
	Factor float64       // as in [Exponential]
}

// Delay implements [Backoff].
func (b EqualJitter) Delay(a Attempt, u float64) time.Duration {
	return dur.Saturate(jitter(Exponential(b).ceiling(retriesBefore(a.Number)), 0.5, u), dur.Limit(b.Cap))
}

// Validate reports invalid fields.
func (b EqualJitter) Validate() error {
	return ruleError("EqualJitter", rangeFaults(b.Base, b.Cap), factorFaults(b.Factor))
}

// DecorrelatedJitter draws the delay from the previous wait: min(Cap, Base + u ·
// (3·prev − Base)), where prev is a.Waited, or Base before the first retry. prev
// includes hints, so set a Cap if there are any.
//
// At the cap, most draws are cut to exactly Cap. With Redraw the delay is uniform in
// [Base, min(Cap, 3·prev)], as if drawn again until it fits.
type DecorrelatedJitter struct {
	Base   time.Duration // smallest delay; 0: 50 ms
	Cap    time.Duration // largest delay
	Redraw bool          // keep the jitter at the cap
}

// Delay implements [Backoff].
func (b DecorrelatedJitter) Delay(a Attempt, u float64) time.Duration {
	limit := dur.Limit(b.Cap)
	base := min(float64(max(0, baseOrDefault(b.Base))), float64(limit))
	top := 3 * max(base, float64(a.Waited))
	if b.Redraw {
		top = min(top, float64(limit))
	}
	return dur.Saturate(base+float64(dur.Unit(u)*(top-base)), limit)
}

// Validate reports invalid fields.
func (b DecorrelatedJitter) Validate() error {
	return ruleError("DecorrelatedJitter", rangeFaults(b.Base, b.Cap))
}

// jitter randomizes the given share of t: with a share of 1, the result is between 0
// and t.
func jitter(t, share, u float64) float64 {
	random := share * t
	// The conversion prevents a fused multiply-add, which would make delays differ
	// between processors.
	return t - random + float64(dur.Unit(u)*random)
}
