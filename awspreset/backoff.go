package awspreset

import (
	"fmt"
	"math"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// wholeFull is FullJitter with JavaScript's Math.floor or Java's Random.nextInt:
// floor(u · t) milliseconds, where t is the ceiling.
type wholeFull struct {
	Base time.Duration
	Cap  time.Duration
}

func (b wholeFull) Delay(a retry.Attempt, u float64) time.Duration {
	t := dur.Ceiling(b.Base/time.Millisecond, b.Cap/time.Millisecond, 2, retriesBefore(a.Number))
	return dur.Saturate(math.Floor(dur.Unit(u)*t)*float64(time.Millisecond), dur.Limit(b.Cap))
}

func (b wholeFull) String() string { return fmt.Sprint("whole-full base=", b.Base, " cap=", b.Cap) }

// javaFull is FullJitter as in the AWS SDK for Java v1: floor(u · t) + 1 milliseconds,
// from 1 to t, where t is javaCeiling.
type javaFull struct {
	Base time.Duration
	Cap  time.Duration
}

func (b javaFull) Delay(a retry.Attempt, u float64) time.Duration {
	t := javaCeiling(b.Base, b.Cap, a.Number)
	return time.Duration(min(int64(dur.Unit(u)*t)+1, int64(t))) * time.Millisecond
}

func (b javaFull) String() string { return fmt.Sprint("java-full base=", b.Base, " cap=", b.Cap) }

// javaEqual is EqualJitter as in the AWS SDKs for Java: t/2 + floor(u · (t/2 + 1))
// milliseconds, from t/2 (rounded down) to t, where t is javaCeiling.
type javaEqual struct {
	Base time.Duration
	Cap  time.Duration
}

func (b javaEqual) Delay(a retry.Attempt, u float64) time.Duration {
	t := javaCeiling(b.Base, b.Cap, a.Number)
	half := int64(t) / 2
	return time.Duration(min(half+int64(dur.Unit(u)*float64(half+1)), int64(t))) * time.Millisecond
}

func (b javaEqual) String() string { return fmt.Sprint("java-equal base=", b.Base, " cap=", b.Cap) }

// javaCeiling returns min(limit, base · 2ⁿ) in whole milliseconds, where n is the
// number of earlier retries. In the SDK, n is at most 30 and the result is an int, so
// the ceiling is below 2³¹.
func javaCeiling(base, limit time.Duration, number int) float64 {
	t := milliseconds(base) * dur.Power(2, min(retriesBefore(number), 30))
	return min(t, milliseconds(dur.Limit(limit)), math.MaxInt32)
}

func milliseconds(d time.Duration) float64 { return float64(max(0, d) / time.Millisecond) }

// goV2Full is the rule of the AWS SDK for Go v2 until v1.47: after attempt a, it waits
// u · 2ᵃ seconds if 2ᵃ seconds are at most Cap, and exactly Cap otherwise.
type goV2Full struct {
	Cap time.Duration
}

func (b goV2Full) Delay(a retry.Attempt, u float64) time.Duration {
	limit, number := dur.Limit(b.Cap), max(0, a.Number)
	if number > int(math.Log2(limit.Seconds())) {
		return limit
	}
	return dur.Saturate(dur.Unit(u)*dur.Power(2, number)*float64(time.Second), limit)
}

func (b goV2Full) String() string { return fmt.Sprint("go-v2-full cap=", b.Cap) }

// goV1Equal is EqualJitter as in the AWS SDK for Go v1: 2ⁿ · (Least + floor(u · Least))
// nanoseconds. If that can exceed Cap for some u, it is Cap/2 + u · Cap/2.
type goV1Equal struct {
	Least time.Duration
	Cap   time.Duration
}

func (b goV1Equal) Delay(a retry.Attempt, u float64) time.Duration {
	limit, least := dur.Limit(b.Cap), max(0, b.Least)
	doubled := dur.Power(2, retriesBefore(a.Number))
	if 2*float64(least)*doubled > float64(limit) {
		return min(limit/2+time.Duration(dur.Unit(u)*float64(limit/2)), limit)
	}
	jittered := least + time.Duration(dur.Unit(u)*float64(least))
	return dur.Saturate(float64(jittered)*doubled, limit)
}

func (b goV1Equal) String() string { return fmt.Sprint("go-v1-equal least=", b.Least, " cap=", b.Cap) }

// retriesBefore returns the number of retries before the one that follows the attempt
// with the given number.
func retriesBefore(attempt int) int { return max(1, attempt) - 1 }
