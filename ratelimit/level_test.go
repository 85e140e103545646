package ratelimit_test

import (
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
		assert.InDelta(t, 5, waits(t, l, t.Context()).Seconds(), 1)
	})
}
