package durable

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hibiken/asynq"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

var (
	errOp = errors.New("the warehouse does not respond")

	doubling = retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 4, Hint: retry.HintAtLeast{Exact: true}}
	jittered = retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 10}
)

func TestRefused(t *testing.T) {
	for name, policy := range map[string]retry.Policy{
		"no number of attempts": {},
		"invalid":               {MaxAttempts: 3, Backoff: retry.Constant(-1)},
	} {
		t.Run(name, func(t *testing.T) {
			config := &river.Config{}
			require.ErrorIs(t, RetryRiver(config, policy), retry.ErrInvalid)
			assert.Equal(t, &river.Config{}, config)
			require.ErrorIs(t, RetryAsynq(&asynq.Config{}, asynq.NewServeMux(), policy), retry.ErrInvalid)
			_, err := TemporalInterceptor(policy)
			require.ErrorIs(t, err, retry.ErrInvalid)
			_, err = TemporalRetryPolicy(policy)
			require.ErrorIs(t, err, retry.ErrInvalid)
		})
	}
}

func riverWorker(t *testing.T, policy retry.Policy) (rivertype.HookWorkEnd, river.ClientRetryPolicy) {
	t.Helper()
	var config river.Config
	require.NoError(t, RetryRiver(&config, policy))
	require.Len(t, config.Hooks, 1)
	return config.Hooks[0].(rivertype.HookWorkEnd), config.RetryPolicy
}

func TestRiverDecides(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	ending := doubling
	ending.MaxElapsed = 4 * time.Second
	for name, tt := range map[string]struct {
		ctx     context.Context
		policy  retry.Policy
		attempt int
		err     error
		wait    time.Duration // if the job continues
		reason  error         // if it is canceled
	}{
		"first":        {t.Context(), doubling, 1, errOp, time.Second, nil},
		"third":        {t.Context(), doubling, 3, errOp, 4 * time.Second, nil},
		"hint":         {t.Context(), doubling, 1, retry.After(errOp, time.Minute), time.Minute, nil},
		"permanent":    {t.Context(), doubling, 1, retry.Permanent(errOp), 0, retry.ErrPermanent},
		"unrepeatable": {t.Context(), doubling, 1, retry.Unrepeatable(errOp), 0, retry.ErrUnrepeatable},
		"elapsed":      {t.Context(), ending, 3, errOp, 0, retry.ErrMaxElapsed},
		"timeout":      {late, doubling, 2, fmt.Errorf("%w: %w", errOp, context.DeadlineExceeded), 2 * time.Second, nil},
		"stop":         {stopped, doubling, 2, errOp, 2 * time.Second, nil},
		"stop, last":   {stopped, doubling, 4, errOp, 8 * time.Second, nil},
		"canceled":     {t.Context(), doubling, 1, fmt.Errorf("%w: %w", errOp, context.Canceled), time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hook, next := riverWorker(t, tt.policy)
				job := &rivertype.JobRow{ID: 4711, Attempt: tt.attempt, MaxAttempts: 4}
				err := hook.WorkEnd(tt.ctx, job, tt.err)
				require.ErrorIs(t, err, errOp)
				canceled, isCanceled := errors.AsType[*river.JobCancelError](err)
				if tt.reason != nil {
					require.True(t, isCanceled)
					assert.ErrorIs(t, canceled, tt.reason)
					return
				}
				require.False(t, isCanceled)
				assert.Equal(t, tt.wait, time.Until(next.NextRetry(job)))
				assert.Equal(t, doubling.Backoff.Delay(retry.Attempt{Number: tt.attempt}, 0), time.Until(next.NextRetry(job)), "an attempt whose error the hook did not see")
			})
		})
	}
	hook, _ := riverWorker(t, doubling)
	last := &rivertype.JobRow{ID: 4711, Attempt: 4, MaxAttempts: 4}
	for name, err := range map[string]error{
		"success": nil, "last attempt": errOp, "snooze": river.JobSnooze(time.Minute), "cancel": river.JobCancel(errOp),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, err, hook.WorkEnd(t.Context(), last, err))
		})
	}
}

// TestRiverStopPermanent: a job that would fail again is canceled, also if its client stops.
func TestRiverStopPermanent(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	hook, _ := riverWorker(t, doubling)
	err := hook.WorkEnd(stopped, &rivertype.JobRow{ID: 4711, Attempt: 1, MaxAttempts: 4}, retry.Permanent(errOp))
	_, isCanceled := errors.AsType[*river.JobCancelError](err)
	assert.True(t, isCanceled)
	assert.ErrorIs(t, err, retry.ErrPermanent)
	assert.ErrorContains(t, err, errOp.Error())
}

// TestRiverStopUnrepeatable: a job that may have taken effect is canceled, also if its client
// stops. River would make it available again if the error were context.Canceled.
func TestRiverStopUnrepeatable(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	hook, _ := riverWorker(t, doubling)
	err := hook.WorkEnd(stopped, &rivertype.JobRow{ID: 4711, Attempt: 1, MaxAttempts: 4}, retry.Unrepeatable(context.Canceled))
	_, isCanceled := errors.AsType[*river.JobCancelError](err)
	assert.True(t, isCanceled)
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.NotErrorIs(t, err, context.Canceled)
}

// TestRiverSame: the wait depends only on the job's ID and the number of the failure, in
// every worker and after a restart, even if the failure was not reported.
func TestRiverSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(id int64, unseen bool) (waits []time.Duration) {
			for attempt := 1; attempt < jittered.MaxAttempts; attempt++ {
				hook, next := riverWorker(t, jittered)
				job := &rivertype.JobRow{ID: id, Attempt: attempt, MaxAttempts: jittered.MaxAttempts}
				if !unseen {
					require.Equal(t, errOp, hook.WorkEnd(t.Context(), job, errOp))
				}
				waits = append(waits, time.Until(next.NextRetry(job)))
			}
			return waits
		}
		assert.Equal(t, waits(1, false), waits(1, false))
		assert.Equal(t, waits(1, false), waits(1, true))
		assert.NotEqual(t, waits(1, false), waits(2, false))
		for i, wait := range waits(1, false) {
			want, reason := adapt.DelayFor(jittered, "1", i+1, errOp)
			require.NoError(t, reason)
			assert.Equal(t, want, wait)
		}
	})
}

// TestDueAfter: although asynq truncates times to whole seconds, it waits at least as long
// as requested, and less than a second longer.
func TestDueAfter(t *testing.T) {
	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for _, wait := range []time.Duration{0, 1, 54 * time.Millisecond, time.Second - 1, time.Second, 1500 * time.Millisecond} {
		for fraction := time.Duration(0); fraction < time.Second; fraction += 99_999_999 {
			now := start.Add(fraction)
			due := time.Unix(now.Add(dueAfter(wait)).Unix(), 0) // as asynq stores it
			over := due.Sub(now.Add(wait))
			assert.GreaterOrEqual(t, over, time.Duration(0), "%v at %v", wait, now)
			assert.Less(t, over, time.Second, "%v at %v", wait, now)
		}
	}
	assert.Equal(t, time.Duration(math.MaxInt64-1), dueAfter(math.MaxInt64))
}

// TestAsynqUnseen: after a failure that did not reach the middleware, every worker waits as
// after a transient one.
func TestAsynqUnseen(t *testing.T) {
	delay := func(retried int, err error) time.Duration {
		var config asynq.Config
		require.NoError(t, RetryAsynq(&config, asynq.NewServeMux(), jittered))
		return config.RetryDelayFunc(retried, err, asynq.NewTask("ship", []byte("order-4711")))
	}
	for retried := range jittered.MaxAttempts - 1 {
		want, reason := adapt.DelayFor(jittered, "shiporder-4711", retried+1, errOp)
		require.NoError(t, reason)
		assert.Equal(t, dueAfter(want), delay(retried, asynq.ErrLeaseExpired))
		assert.Equal(t, dueAfter(want), delay(retried, retry.Permanent(errOp)))
		assert.Equal(t, dueAfter(time.Minute), delay(retried, &retryError{errOp, time.Minute}))
	}
}
