package retry

import (
	"math"
	"time"
)

// The rules of AWS SDKs whose arithmetic is not that of the exported rules.

// wholeFull is FullJitter in the arithmetic of Math.floor in JavaScript and of
// java.util.Random.nextInt: floor(u · t) whole milliseconds, where t is the
// ceiling in milliseconds.
type wholeFull struct {
	Base time.Duration
	Cap  time.Duration
}

func (b wholeFull) Delay(a Attempt, u float64) time.Duration {
	t := Exponential{Base: b.Base / time.Millisecond, Cap: b.Cap / time.Millisecond}.ceiling(retriesBefore(a.Number))
	return saturate(math.Floor(unit(u)*t)*float64(time.Millisecond), capOrMax(b.Cap))
}

func (b wholeFull) limit(Class) time.Duration { return capOrMax(b.Cap) }

// javaFull is FullJitter as the AWS SDK for Java v1 has it: floor(u · t) + 1
// whole milliseconds, from 1 to t inclusive, where t is the ceiling in whole
// milliseconds.
type javaFull struct {
	Base time.Duration
	Cap  time.Duration
}

func (b javaFull) Delay(a Attempt, u float64) time.Duration {
	t := javaCeiling(b.Base, b.Cap, a.Number)
	return time.Duration(min(int64(unit(u)*t)+1, int64(t))) * time.Millisecond
}

func (b javaFull) limit(Class) time.Duration { return capOrMax(b.Cap) }

// javaEqual is EqualJitter as the AWS SDKs for Java have it:
// t/2 + floor(u · (t/2 + 1)) whole milliseconds, from t/2 to t inclusive,
// where t is the ceiling and t/2 its half, rounded down.
type javaEqual struct {
	Base time.Duration
	Cap  time.Duration
}

func (b javaEqual) Delay(a Attempt, u float64) time.Duration {
	t := javaCeiling(b.Base, b.Cap, a.Number)
	half := int64(t) / 2
	return time.Duration(min(half+int64(unit(u)*float64(half+1)), int64(t))) * time.Millisecond
}

func (b javaEqual) limit(Class) time.Duration { return capOrMax(b.Cap) }

// javaCeiling is min(Cap, Base · 2ⁿ) in whole milliseconds. The SDK lets n
// grow to 30 and holds the result in an int, so it is a whole number below 2³¹.
func javaCeiling(base, limit time.Duration, number int) float64 {
	t := milliseconds(base) * power(2, min(retriesBefore(number), 30))
	return min(t, milliseconds(capOrMax(limit)), math.MaxInt32)
}

// milliseconds are the whole milliseconds of d; below 0 counts as 0.
func milliseconds(d time.Duration) float64 { return float64(max(0, d) / time.Millisecond) }

// goFull is the rule of the AWS SDK for Go v2 before 2026: u · 2ᵃ seconds,
// where a is the number of the attempt that failed, as long as 2ᵃ seconds are
// not more than Cap, and from then on exactly Cap.
type goFull struct {
	Cap time.Duration
}

func (b goFull) Delay(a Attempt, u float64) time.Duration {
	limit, number := capOrMax(b.Cap), max(0, a.Number)
	if number > int(math.Log2(limit.Seconds())) {
		return limit
	}
	return saturate(unit(u)*power(2, number)*float64(time.Second), limit)
}

func (b goFull) limit(Class) time.Duration { return capOrMax(b.Cap) }
