package ratelimit_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// slowClock is the system's clock, slow by a time that a test changes.
type slowClock struct {
	retry.SystemClock
	by time.Duration
}

func (c *slowClock) Now() time.Time { return time.Now().Add(-c.by) }

// TestTimeGoesBack in a window that no response has confirmed: the clock was set, or a call was
// suspended between its look at the clock and its turn.
func TestTimeGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &slowClock{}
		l := &ratelimit.Limiter{Clock: clock}
		exhaust(l, 7*sec)
		time.Sleep(8 * sec)
		assert.Zero(t, waits(t, l, t.Context()))
		clock.by = 5 * sec
		assert.InDelta(t, 5, waits(t, l, t.Context()).Seconds(), 1.2)
	})
}

// TestNoMaxWait: what is left is spread, although twice the MaxWait is more than any Duration.
func TestNoMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{MaxWait: math.MaxInt64}
		call(l, ratelimit.Response{Refused: true, Hint: sec, States: state(1000, 0, sec)})
		time.Sleep(sec)
		start, left := time.Now(), 1000.0
		next := func() {
			assert.NoError(t, l.Wait(t.Context()))
			left -= 2 // another process begins as many calls
			call(l, ratelimit.Response{OK: true, States: state(1000, left, 50*sec-time.Since(start))})
		}
		for left > 200 {
			next()
		}
		tight := time.Now()
		for range 20 {
			next()
		}
		assert.Greater(t, time.Since(tight), sec, "20 calls without a wait take 0.2 s")
	})
}

// TestBucketOfOthers: others have emptied a bucket that gets 50 calls in a second. The part of a
// process that has hardly begun is small, and it grows while the first call waits.
func TestBucketOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		call(l, ratelimit.Response{OK: true, States: state(400, 200, 4*sec)})
		assert.Zero(t, waits(t, l, t.Context()))
		call(l, ratelimit.Response{Refused: true, Hint: 20 * ms, States: state(400, 0, 8*sec)})
		waited := waits(t, l, within(t, time.Minute))
		assert.Greater(t, waited, sec)
		assert.Less(t, waited, 10*sec)
	})
}

// TestNothingIsRefused: a server that only tells a limit does not make calls wait for long, whether
// its headers count the calls or always say the same.
func TestNothingIsRefused(t *testing.T) {
	counts := func(w *window) []ratelimit.State {
		_, _ = w.take(time.Now(), 1)
		return state(w.state(time.Now()))
	}
	same := func(*window) []ratelimit.State { return state(400, 5, time.Minute) }
	for _, tt := range []struct {
		name string
		told func(*window) []ratelimit.State
	}{
		{"100 calls in 30 s", counts},
		{"always 5 of 400", same},
	} {
		for _, takes := range []time.Duration{100 * ms, 200 * ms, 600 * ms} {
			t.Run(fmt.Sprint(tt.name, ", ", takes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := &ratelimit.Limiter{}
					w := &window{limit: 100, length: 30 * sec}
					longest := time.Duration(0)
					for start := time.Now(); time.Since(start) < 5*time.Minute; {
						longest = max(longest, waits(t, l, t.Context()))
						b := l.Begin(t.Context())
						time.Sleep(takes)
						l.Hear(b, ratelimit.Response{OK: true, States: tt.told(w)})
					}
					assert.LessOrEqual(t, longest, 2*sec)
				})
			})
		}
	}
}
