package retry_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

type observingLimiter struct {
	limiterFunc
	seen []retry.Attempt
}

func (l *observingLimiter) Observe(a retry.Attempt) { l.seen = append(l.seen, a) }

// TestLimiter: a limiter waits before every attempt, may end the call, and observes
// each attempt.
func TestLimiter(t *testing.T) {
	t.Run("waits before every attempt and observes each", func(t *testing.T) {
		waits := 0
		l := &observingLimiter{limiterFunc: func(context.Context) error { waits++; return nil }}
		p, _ := onClock(3)
		p.Limiter = l
		require.NoError(t, retry.Do(t.Context(), p, retrytest.Fail(2, retry.Throttled(errOp)).Run))
		assert.Equal(t, 3, waits)
		require.Len(t, l.seen, 3)
		assert.Equal(t, retry.ClassThrottled, l.seen[0].Class)
		assert.Equal(t, retry.Attempt{Number: 3, Waited: 2 * time.Second}, l.seen[2])
	})
	t.Run("can end the call", func(t *testing.T) {
		p, _ := onClock(3)
		waits := 0
		p.Limiter = limiterFunc(func(context.Context) error {
			if waits++; waits == 2 {
				return io.ErrNoProgress
			}
			return nil
		})
		op := retrytest.Script(errOp)
		err := retry.Do(t.Context(), p, op.Run)
		assert.ErrorIs(t, err, errOp)
		assert.ErrorIs(t, err, io.ErrNoProgress)
		assert.Equal(t, 1, asError(t, err).Attempts)
	})
	t.Run("cannot make a call succeed", func(t *testing.T) {
		p := retry.Policy{Limiter: limiterFunc(func(context.Context) error { return retry.ErrPermanent })}
		op := retrytest.Script()
		assert.ErrorIs(t, retry.Do(t.Context(), p, op.Run), retry.ErrPermanent)
		assert.Zero(t, op.Calls())
	})
	t.Run("ends with the context, and the error has the cause", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := retry.Policy{Limiter: limiterFunc(func(ctx context.Context) error { cancel(errCause); return ctx.Err() })}
		err := retry.Do(ctx, p, retrytest.Script().Run)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errCause)
		assert.EqualError(t, err, "gave up before the first attempt (context canceled: shutting down)")
	})
}

// TestNoNeedlessLimiterWait: Wait is not called if no attempt follows.
func TestNoNeedlessLimiterWait(t *testing.T) {
	asked := 0
	limiter := limiterFunc(func(context.Context) error { asked++; return nil })
	t.Run("the context has ended", func(t *testing.T) {
		asked = 0
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, retry.Do(ctx, retry.Policy{Limiter: limiter}, fails), context.Canceled)
		assert.Zero(t, asked)
	})
	t.Run("the budget refuses", func(t *testing.T) {
		asked = 0
		p, _ := onClock(3)
		p.Limiter, p.Budget = limiter, refusing(func() {})
		assert.ErrorIs(t, retry.Do(t.Context(), p, fails), retry.ErrBudget)
		assert.Equal(t, 1, asked)
	})
}
