package retry_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/ratelimit"
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

// invites is a Limiter's error that says when to come back.
type invites time.Duration

func (invites) Error() string               { return "used up" }
func (e invites) RetryAfter() time.Duration { return time.Duration(e) }

// TestLimiterNamesAWait: a Limiter's error may say when an attempt could begin.
func TestLimiterNamesAWait(t *testing.T) {
	for want, err := range map[time.Duration]error{
		time.Hour: invites(time.Hour),
		0:         invites(-time.Hour),
	} {
		p := retry.Policy{Limiter: limiterFunc(func(context.Context) error { return err })}
		e := asError(t, retry.Do(t.Context(), p, retrytest.Script().Run))
		assert.Equal(t, err, e.Reason)
		assert.Equal(t, want, e.Next)
	}
}

// pacer is a Limiter that paces the retries of some attempts.
type pacer struct {
	limiterFunc
	paces bool
	asked int
}

func (p *pacer) Paces(retry.Attempt) bool { p.asked++; return p.paces }

// TestPacer: a retry after throttling that the Limiter paces takes no token of the Budget and
// returns none.
func TestPacer(t *testing.T) {
	throttled := retry.Throttled(errOp)
	for _, tt := range []struct {
		name    string
		failure error
		paces   bool
		want    float64 // tokens that are left after a call with two retries that succeeds
		asked   int
	}{
		{"paced", throttled, true, 500, 2},
		{"not paced", throttled, false, 495, 2},
		{"not throttled", errOp, true, 486, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			budget := &awspreset.TokenBudget{}
			limiter := &pacer{limiterFunc: func(context.Context) error { return nil }, paces: tt.paces}
			p, _ := onClock(3)
			p.Budget, p.Limiter = budget, limiter
			require.NoError(t, retry.Do(t.Context(), p, retrytest.Fail(2, tt.failure).Run))
			assert.Equal(t, tt.want, budget.Balance())
			assert.Equal(t, tt.asked, limiter.asked)
		})
	}
	t.Run("an empty Budget does not refuse", func(t *testing.T) {
		p, _ := onClock(3)
		p.Budget = refusing(func() { t.Error("the Budget was asked") })
		p.Limiter = &pacer{limiterFunc: func(context.Context) error { return nil }, paces: true}
		require.NoError(t, retry.Do(t.Context(), p, retrytest.Fail(2, throttled).Run))
		_, err := p.Start().Failed(t.Context(), throttled)
		assert.NoError(t, err)
	})
	t.Run("a token of another retry stays taken", func(t *testing.T) {
		budget := &awspreset.TokenBudget{}
		p, _ := onClock(4)
		p.Budget, p.Limiter = budget, &pacer{limiterFunc: func(context.Context) error { return nil }, paces: true}
		require.NoError(t, retry.Do(t.Context(), p, retrytest.Script(errOp, throttled, nil).Run))
		assert.Equal(t, 487., budget.Balance(), "14 for the first retry; a success without a paid retry earns one")
	})
}

type wrapping struct{ retry.Clock }

func (w wrapping) Unwrap() retry.Clock { return w.Clock }

// TestLimiterUntilMaxElapsed: a limiter keeps a call no longer than MaxElapsed.
func TestLimiterUntilMaxElapsed(t *testing.T) {
	untilDone := limiterFunc(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	deaf := limiterFunc(func(context.Context) error { time.Sleep(time.Hour); return nil })
	looks := limiterFunc(func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		if ok && time.Until(deadline) < time.Hour {
			return errors.New("rate: Wait(n=1) would exceed context deadline") // as the limiter of x/time/rate does
		}
		return nil
	})
	broken := limiterFunc(func(context.Context) error { return io.ErrNoProgress })
	for _, tt := range []struct {
		name     string
		limiter  retry.Limiter
		deadline time.Duration // of the context
		want     error
		after    time.Duration
	}{
		{"waits until the context ends", untilDone, 0, retry.ErrMaxElapsed, 30 * time.Second},
		{"the context's deadline is earlier", untilDone, time.Second, context.DeadlineExceeded, time.Second},
		{"the context's deadline is later", untilDone, time.Minute, retry.ErrMaxElapsed, 30 * time.Second},
		{"ignores its context", deaf, 0, retry.ErrMaxElapsed, time.Hour},
		{"looks at the deadline", looks, 0, retry.ErrMaxElapsed, 0},
		{"fails", broken, 0, io.ErrNoProgress, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				start := time.Now()
				op := retrytest.Script()
				err := retry.Do(ctx, retry.Policy{MaxElapsed: 30 * time.Second, Limiter: tt.limiter}, op.Run)
				assert.ErrorIs(t, err, tt.want)
				assert.Equal(t, tt.want == retry.ErrMaxElapsed, errors.Is(err, retry.ErrMaxElapsed))
				assert.Equal(t, tt.after, time.Since(start))
				assert.Zero(t, op.Calls())
			})
		})
	}
	t.Run("counts from the last progress", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			waits := 0
			slow := limiterFunc(func(ctx context.Context) error {
				waits++
				if waits == 1 {
					return nil
				}
				time.Sleep(20 * time.Second)
				return ctx.Err()
			})
			calls := 0
			err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: 30 * time.Second, Limiter: slow}, func(context.Context) error {
				calls++
				if calls <= 2 {
					time.Sleep(25 * time.Second)
					return retry.Progress(errOp)
				}
				return nil
			})
			assert.NoError(t, err)
			assert.Equal(t, 3, calls)
		})
	})
	t.Run("on a clock that wraps the system's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := retry.Policy{Clock: wrapping{wrapping{retry.SystemClock{}}}, MaxElapsed: 30 * time.Second, Limiter: untilDone}
			assert.ErrorIs(t, retry.Do(t.Context(), p, retrytest.Script().Run), retry.ErrMaxElapsed)
			assert.Equal(t, 30*time.Second, time.Since(start))
		})
	})
	t.Run("on a clock of its own", func(t *testing.T) {
		clock := &retrytest.Clock{Start: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
		var left time.Duration
		limiter := limiterFunc(func(ctx context.Context) error {
			deadline, _ := ctx.Deadline()
			left = deadline.Sub(clock.Now())
			return nil
		})
		require.NoError(t, retry.Do(t.Context(), retry.Policy{Clock: clock, MaxElapsed: time.Minute, Limiter: limiter}, retrytest.Script().Run))
		assert.Equal(t, time.Minute, left)
	})
}

// TestLineEnds: for an hour, ten calls a second meet a server that always answers 429 with a
// long Retry-After. No more calls wait than begin within MaxElapsed.
func TestLineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := &ratelimit.Limiter{}
		policy := retry.Policy{MaxElapsed: 30 * time.Second, Limiter: limiter}
		var waiting, most atomic.Int64
		var calls sync.WaitGroup
		for range 10 * 3600 {
			calls.Go(func() {
				most.Store(max(most.Load(), waiting.Add(1)))
				defer waiting.Add(-1)
				err := retry.Do(t.Context(), policy, func(context.Context) error {
					return retry.After(retry.Throttled(errOp), 10*time.Second)
				})
				assert.Error(t, err)
			})
			time.Sleep(100 * time.Millisecond)
		}
		calls.Wait()
		assert.LessOrEqual(t, most.Load(), int64(10*31))
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
