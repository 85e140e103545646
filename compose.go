package retry

import (
	"math"
	"slices"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// Jittered randomizes a share of another rule's delay t: (1 − Share) · t + u · Share ·
// t. A Share of 1 is full jitter; 0.5 is equal jitter.
type Jittered struct {
	Of    Backoff // nil: the default rule
	Share float64 // clamped to [0, 1]; NaN counts as 0
}

// Delay implements [Backoff].
func (b Jittered) Delay(a Attempt, u float64) time.Duration {
	t := orDefault(b.Of).Delay(a, secondRandom(u))
	if t < 0 {
		return t
	}
	return dur.Saturate(jitter(float64(t), dur.Unit(b.Share), u), t)
}

// Validate reports invalid fields.
func (b Jittered) Validate() error {
	return invalid("backoff", slices.Concat(partFaults("Jittered.Of", b.Of), within("Jittered", shareFaults("Share", b.Share))))
}

// Spread varies another rule's delay uniformly: Of · (1 ± Fraction). The mean is unchanged.
// It may exceed the cap of Of; a [Capped] around it bounds it. It may also wait less than Of says.
// If an attempt must not come sooner than a time, use [EqualJitter] with twice that time as Base:
// it waits at least half of each delay.
type Spread struct {
	Of       Backoff // nil: the default rule
	Fraction float64 // clamped to [0, 1]; NaN counts as 0
}

// Delay implements [Backoff].
func (b Spread) Delay(a Attempt, u float64) time.Duration {
	t := orDefault(b.Of).Delay(a, secondRandom(u))
	if t < 0 {
		return t
	}
	return dur.Saturate(float64(t)*(1+dur.Unit(b.Fraction)*(2*dur.Unit(u)-1)), math.MaxInt64)
}

// Validate reports invalid fields.
func (b Spread) Validate() error {
	return invalid("backoff", slices.Concat(partFaults("Spread.Of", b.Of), within("Spread", shareFaults("Fraction", b.Fraction))))
}

// Capped bounds another rule: min(Cap, Of). It applies after the jitter, as in several
// older AWS SDKs, so many delays are exactly Cap.
type Capped struct {
	Of  Backoff       // nil: the default rule
	Cap time.Duration // largest delay
}

// Delay implements [Backoff].
func (b Capped) Delay(a Attempt, u float64) time.Duration {
	return min(orDefault(b.Of).Delay(a, u), dur.Limit(b.Cap))
}

// Validate reports invalid fields.
func (b Capped) Validate() error {
	return invalid("backoff", slices.Concat(partFaults("Capped.Of", b.Of), within("Capped", durationFaults("Cap", b.Cap))))
}

// WhenThrottled selects a rule by the class of the failure.
type WhenThrottled struct {
	Throttled Backoff // after [ClassThrottled]; nil: the default rule
	Else      Backoff // after every other class; nil: the default rule
}

// Delay implements [Backoff].
func (b WhenThrottled) Delay(a Attempt, u float64) time.Duration {
	if a.Class == ClassThrottled {
		return orDefault(b.Throttled).Delay(a, u)
	}
	return orDefault(b.Else).Delay(a, u)
}

// Validate reports invalid fields.
func (b WhenThrottled) Validate() error {
	return invalid("backoff", slices.Concat(partFaults("WhenThrottled.Throttled", b.Throttled), partFaults("WhenThrottled.Else", b.Else)))
}

// A scheduler is a rule that may be a [Schedule] or contain one. Rules are asked through this
// interface and not recognized by their types, so that a pointer to a rule, or a type that
// embeds one, is the same rule.
type scheduler interface {
	// scheduled returns the length of the longest Schedule, and reports whether there is one.
	scheduled() (delays int, ok bool)
}

func scheduled(rule Backoff) (delays int, ok bool) {
	s, is := rule.(scheduler)
	if !is {
		return 0, false
	}
	return s.scheduled()
}

func (s Schedule) scheduled() (int, bool) { return len(s), true }
func (b Jittered) scheduled() (int, bool) { return scheduled(b.Of) }
func (b Spread) scheduled() (int, bool)   { return scheduled(b.Of) }
func (b Capped) scheduled() (int, bool)   { return scheduled(b.Of) }

func (b WhenThrottled) scheduled() (int, bool) {
	throttled, isThrottled := scheduled(b.Throttled)
	other, isOther := scheduled(b.Else)
	return max(throttled, other), isThrottled || isOther
}

// A waiter is a rule that knows whether all its delays are 0: see scheduler.
type waiter interface {
	neverWaits() bool
}

func neverWaits(rule Backoff) bool {
	w, ok := rule.(waiter)
	return ok && w.neverWaits()
}

func (NoDelay) neverWaits() bool    { return true }
func (c Constant) neverWaits() bool { return c <= 0 }
func (b Jittered) neverWaits() bool { return neverWaits(b.Of) }
func (b Spread) neverWaits() bool   { return neverWaits(b.Of) }
func (b Capped) neverWaits() bool   { return neverWaits(b.Of) }

func (b WhenThrottled) neverWaits() bool {
	return neverWaits(b.Throttled) && neverWaits(b.Else)
}

// standard is the rule of a nil Backoff: the standard retry mode of the AWS SDKs
// since November 2026.
type standard struct{}

const standardCap = 20 * time.Second

func (standard) Delay(a Attempt, u float64) time.Duration {
	base := defaultBase
	if a.Class == ClassThrottled {
		base = time.Second
	}
	return dur.Saturate(dur.Unit(u)*dur.Ceiling(base, standardCap, 2, retriesBefore(a.Number)), standardCap)
}

// orDefault returns b, or the standard rule if b is nil. It does not call the rule
// itself: passing an Attempt through one more call costs more than the arithmetic of
// most rules.
func orDefault(b Backoff) Backoff {
	if b == nil {
		return standard{}
	}
	return b
}

// secondRandom derives a second uniform number from u, for the inner rule of a composition:
// using u twice would correlate the two draws and shift the mean. It permutes the 53
// bits of u with odd multipliers and shifts, so the numbers at all depths are almost
// independent. 0, the largest u and short fractions such as ½ map to themselves.
func secondRandom(u float64) float64 {
	const most, short = 1<<53 - 1, 1<<26 - 1
	k := uint64(dur.Unit(u) * (1 << 53))
	if k >= most || k&short == 0 {
		return dur.Unit(u)
	}
	k = k * 0x9e3779b97f4a7c15 & most
	k ^= k >> 27
	k = k * 0xd1342543de82ef95 & most
	k ^= k >> 29
	return float64(k) * 0x1p-53
}
