package retry

import "time"

// FullJitter draws the delay between 0 and an exponential ceiling:
// u · min(Cap, Base · Factorⁿ), where n is 0 before the first retry.
// Of all rules that know nothing but the attempt number it spreads a crowd
// best, and it is the default. Base is no least delay; for one use
// [EqualJitter], [DecorrelatedJitter] or [Jittered].
//
// The formula is that of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015. The fields mean what they mean in [Exponential].
type FullJitter struct {
	Base   time.Duration // ceiling before the first retry
	Cap    time.Duration // largest ceiling; 0 or less: none
	Factor float64       // growth; 0: 2
}

// Delay returns u · min(Cap, Base · Factorⁿ).
func (b FullJitter) Delay(a Attempt, u float64) time.Duration {
	return saturate(jitter(Exponential(b).ceiling(retriesBefore(a.Number)), 1, u), capOrMax(b.Cap))
}

func (b FullJitter) limit(Class) time.Duration { return capOrMax(b.Cap) }

// EqualJitter keeps half of an exponential delay and draws the other half:
// t/2 + u · t/2, t = min(Cap, Base · Factorⁿ), where n is 0 before the first
// retry. It never waits less than half the ceiling, which costs time and
// spreads a crowd less than [FullJitter].
//
// The formula is that of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015. The fields mean what they mean in [Exponential].
type EqualJitter struct {
	Base   time.Duration // ceiling before the first retry
	Cap    time.Duration // largest ceiling; 0 or less: none
	Factor float64       // growth; 0: 2
}

// Delay returns t/2 + u · t/2.
func (b EqualJitter) Delay(a Attempt, u float64) time.Duration {
	return saturate(jitter(Exponential(b).ceiling(retriesBefore(a.Number)), 0.5, u), capOrMax(b.Cap))
}

func (b EqualJitter) limit(Class) time.Duration { return capOrMax(b.Cap) }

// Jittered draws a share of any rule's delay t: (1 − Share) · t + u · Share · t.
// A Share of 1 is full jitter and 0.5 is equal jitter, so that for example
// Jittered{Of: Fibonacci{…}, Share: 1} is full jitter over Fibonacci growth.
type Jittered struct {
	Of    Backoff // nil: the default rule
	Share float64 // the random part of the delay, in [0, 1]; NaN and below 0 count as 0, above 1 as 1
}

// Delay returns (1 − Share) · t + u · Share · t.
func (b Jittered) Delay(a Attempt, u float64) time.Duration {
	t := max(0, orDefault(b.Of).Delay(a, leftover(u)))
	return saturate(jitter(float64(t), unit(b.Share), u), t)
}

func (b Jittered) limit(class Class) time.Duration { return limitOf(b.Of, class) }

// DecorrelatedJitter draws the delay from the one before, not from the attempt
// number: min(Cap, Base + u · (3·prev − Base)), where prev is a.Waited, and Base
// before the first retry. That is the whole wait, with what a server asked
// for, so a rule that meets hints should have a Cap.
//
// At the cap the formula loses its jitter: once prev is well above Cap/3, most
// draws are cut to exactly Cap. With Redraw the delay is what drawing again
// until the result fits would give, uniform in [Base, min(Cap, 3·prev)], and
// stays spread out at the cap.
//
// The formula is that of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015.
type DecorrelatedJitter struct {
	Base   time.Duration // smallest delay; below 0 counts as 0
	Cap    time.Duration // largest delay; 0 or less: none
	Redraw bool          // keep the jitter at the cap
}

// Delay returns min(Cap, Base + u · (3·prev − Base)).
func (b DecorrelatedJitter) Delay(a Attempt, u float64) time.Duration {
	limit := capOrMax(b.Cap)
	base := min(float64(max(0, b.Base)), float64(limit))
	top := 3 * max(base, float64(a.Waited))
	if b.Redraw {
		top = min(top, float64(limit))
	}
	return saturate(base+float64(unit(u)*(top-base)), limit)
}

func (b DecorrelatedJitter) limit(Class) time.Duration { return capOrMax(b.Cap) }

// Spread moves any rule's delay up or down by at most a fraction:
// Of · (1 ± Fraction), uniform, and never above the cap of Of.
// Where that cap does not cut, the mean is that of Of.
type Spread struct {
	Of       Backoff // nil: the default rule
	Fraction float64 // in [0, 1]; NaN and below 0 count as 0, above 1 as 1
}

// Delay returns Of · (1 + Fraction · (2u − 1)).
func (b Spread) Delay(a Attempt, u float64) time.Duration {
	t := max(0, orDefault(b.Of).Delay(a, leftover(u)))
	return saturate(float64(t)*(1+unit(b.Fraction)*(2*unit(u)-1)), limitOf(b.Of, a.Class))
}

func (b Spread) limit(class Class) time.Duration { return limitOf(b.Of, class) }

// jitter draws the given share of t: with share 1 between 0 and t.
func jitter(t, share, u float64) float64 {
	random := share * t
	// The conversion forbids a fused multiply-add, which would make delays
	// differ between processors.
	return t - random + float64(unit(u)*random)
}

// leftover makes a second uniform number of u, for the rule inside a
// composition, which does not depend on the first: using u twice would tie the
// two draws together and move the mean. It takes the bits of u that decide next
// to nothing where u itself is used, and rotates them by u. That keeps the ends
// and, for numbers of few bits such as ½, the number itself.
func leftover(u float64) float64 {
	u = unit(u)
	return fraction(fraction(u*(1<<26)) + u)
}

// fraction is the part of x behind the point.
func fraction(x float64) float64 { return x - float64(int64(x)) }

// unit clamps x to [0, 1]; NaN becomes 0.
func unit(x float64) float64 {
	if x > 0 {
		return min(x, 1)
	}
	return 0
}
