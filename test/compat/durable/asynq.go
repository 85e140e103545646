package durable

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hibiken/asynq"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// AsynqRetries returns an option for enqueuing tasks: asynq stores the maximum number of
// retries with each task.
func AsynqRetries(policy retry.Policy) asynq.Option {
	return asynq.MaxRetry(min(policy.MaxAttempts, math.MaxInt32) - 1) // an int32 in the message
}

// RetryAsynq makes a server retry tasks under the policy. Call it before other uses of
// mux.Use, so that the policy also sees the errors that other middleware returns.
func RetryAsynq(config *asynq.Config, mux *asynq.ServeMux, policy retry.Policy) error {
	if err := check(policy); err != nil {
		return err
	}
	config.RetryDelayFunc = func(retried int, err error, task *asynq.Task) time.Duration {
		if e, seen := errors.AsType[*retryError](err); seen {
			return dueAfter(e.wait)
		}
		content := task.Type() + string(task.Payload()) // asynq does not pass the ID here
		return dueAfter(unseen(policy, content, retried+1))
	}
	mux.Use(func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
			return decide(ctx, policy, next.ProcessTask(ctx, task))
		})
	})
	return nil
}

// A retryError carries the wait from the middleware to RetryDelayFunc.
type retryError struct {
	error
	wait time.Duration
}

func (e *retryError) Unwrap() error { return e.error }

// decide returns the error for asynq after a task failed with err.
func decide(ctx context.Context, policy retry.Policy, err error) error {
	if errors.Is(err, asynq.SkipRetry) || errors.Is(err, asynq.RevokeTask) {
		return err
	}
	id, _ := asynq.GetTaskID(ctx)
	retried, _ := asynq.GetRetryCount(ctx)
	retries, _ := asynq.GetMaxRetry(ctx)
	policy.MaxAttempts = retries + 1
	outcome := adapt.Settle(ctx, policy, id, retried+1, err)
	switch outcome.Action {
	case adapt.DeadLetter:
		return fmt.Errorf("%w: %w: %w", outcome.Err.Reason, err, asynq.SkipRetry)
	case adapt.Redeliver:
		return &retryError{err, outcome.Wait}
	}
	return err // after GiveBack, too: asynq does not wait for the result once the context has ended
}

// dueAfter adds almost a second, so no retry is early: asynq truncates the end of a wait to
// whole seconds.
func dueAfter(wait time.Duration) time.Duration {
	return min(wait, math.MaxInt64-time.Second) + time.Second - 1
}
