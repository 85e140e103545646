package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// TestBubbles: the system clock works outside of a synctest bubble, then in
// one, then outside again, with the same policy. A timer that travelled from
// one to the other would wait a real hour here.
func TestBubbles(t *testing.T) {
	short := retry.Policy{Backoff: retry.Constant(time.Microsecond)}
	long := short
	long.Backoff = retry.Constant(time.Hour)
	cancellable, cancel := context.WithCancel(t.Context())
	defer cancel()
	outside := func() {
		for range 10 {
			require.NoError(t, retry.Do(cancellable, short, retrytest.Fail(2, errOp).Run))
		}
	}
	inside := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			require.NoError(t, retry.Do(t.Context(), long, retrytest.Fail(2, errOp).Run))
			assert.Equal(t, 2*time.Hour, time.Since(start))
		})
	}
	outside()
	inside(t)
	outside()
	inside(t)
}

// TestSchedule: attempts fall at exactly the times that the delays add up to.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		p := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 5}
		err := retry.Do(t.Context(), p, func(context.Context) error {
			at = append(at, time.Since(start))
			return errOp
		})
		assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}, at)
		assert.Equal(t, 15*time.Second, asError(t, err).Elapsed)
	})
}

func TestSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := retry.SystemClock{}
		start := clock.Now()
		assert.Equal(t, time.Now(), start)
		require.NoError(t, clock.Sleep(t.Context(), time.Hour))
		require.NoError(t, clock.Sleep(t.Context(), 0))
		require.NoError(t, clock.Sleep(t.Context(), -time.Hour))
		assert.Equal(t, time.Hour, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, clock.Sleep(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Hour+time.Minute, time.Since(start))
		require.ErrorIs(t, clock.Sleep(ctx, 0), context.DeadlineExceeded, "a dead context wins over a zero wait")

		// As a policy's Clock it is what nil means.
		p := retry.Policy{Backoff: retry.Constant(time.Minute), Clock: clock}
		begun := time.Now()
		require.NoError(t, retry.Do(t.Context(), p, retrytest.Fail(2, errOp).Run))
		assert.Equal(t, 2*time.Minute, time.Since(begun))
	})
}
