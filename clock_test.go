package retry_test

import (
	"context"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// TestBubbles: a policy works outside a synctest bubble, in one, and outside again. A
// timer made outside and used inside would wait for a real hour.
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

func TestSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := retry.SystemClock{}
		start := clock.Now()
		assert.Equal(t, time.Now(), start)
		require.NoError(t, clock.Sleep(t.Context(), time.Hour))
		require.NoError(t, clock.Sleep(t.Context(), 0))
		require.NoError(t, clock.Sleep(t.Context(), -time.Hour))
		assert.Equal(t, time.Hour, time.Since(start))
		require.NoError(t, clock.Sleep(t.Context(), 1))
		assert.Equal(t, time.Hour+1, time.Since(start))
		start = start.Add(1)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, clock.Sleep(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Hour+time.Minute, time.Since(start))
		require.ErrorIs(t, clock.Sleep(ctx, 0), context.DeadlineExceeded, "a context that is done ends even a wait of 0")

		assert.Zero(t, testing.AllocsPerRun(10, func() { _ = clock.Sleep(t.Context(), 0) }), "a wait of 0 creates no timer")

		// A policy treats a SystemClock like a nil Clock.
		p := retry.Policy{Backoff: retry.Constant(time.Minute), Clock: clock}
		begun := time.Now()
		require.NoError(t, retry.Do(t.Context(), p, retrytest.Fail(2, errOp).Run))
		assert.Equal(t, 2*time.Minute, time.Since(begun))
	})
}

func TestOddClocks(t *testing.T) {
	clock := &yearOne{}
	p := retry.Policy{Clock: clock, Backoff: retry.Constant(time.Second), MaxElapsed: 5 * time.Second}
	calls := 0
	err := retry.Do(t.Context(), p, func(context.Context) error { calls++; clock.now += 10 * time.Second; return errOp })
	assert.ErrorIs(t, err, retry.ErrMaxElapsed)
	assert.Equal(t, 1, calls)

	p.MaxElapsed, p.MaxAttempts = forever, 2
	err = retry.Do(t.Context(), p, func(context.Context) error { clock.now -= time.Hour; return errOp })
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Zero(t, asError(t, err).SinceFailure)
}

type yearOne struct{ now time.Duration }

func (c *yearOne) Now() time.Time                           { return time.Time{}.Add(c.now) }
func (*yearOne) Sleep(context.Context, time.Duration) error { return nil }

type brokenClock struct{ retrytest.Clock }

func (*brokenClock) Sleep(context.Context, time.Duration) error { return io.ErrClosedPipe }

// TestClockFails: a clock that cannot wait ends the call, because retrying at once
// would be a hot loop.
func TestClockFails(t *testing.T) {
	op := retrytest.Script(errOp)
	err := retry.Do(t.Context(), retry.Policy{Clock: &brokenClock{}}, op.Run)
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	assert.ErrorIs(t, err, errOp)
	assert.Equal(t, 1, op.Calls())
}

// TestCanceledWaitLeavesNothing: a wait that is cut short leaves neither a goroutine nor
// a running timer.
func TestCanceledWaitLeavesNothing(t *testing.T) {
	for name, clock := range map[string]retry.Clock{"nil": nil, "system": retry.SystemClock{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start, goroutines := time.Now(), runtime.NumGoroutine()
				err := retry.Do(ctx, retry.Policy{Backoff: retry.Constant(time.Hour), Clock: clock}, fails)
				assert.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, time.Second, time.Since(start))
				synctest.Wait()
				noneLeft(t, goroutines)
			})
		})
	}
}
