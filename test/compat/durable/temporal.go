package durable

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// TemporalRetryPolicy returns the RetryPolicy for a workflow's ActivityOptions. It has the
// policy's number of attempts and its longest waits, which apply to failures that do not
// reach the interceptor, such as a timeout.
func TemporalRetryPolicy(policy retry.Policy) (*temporal.RetryPolicy, error) {
	if err := check(policy); err != nil {
		return nil, err
	}
	p := &temporal.RetryPolicy{}
	if policy.MaxAttempts <= math.MaxInt32 { // 0 means no limit
		p.MaximumAttempts = int32(policy.MaxAttempts)
	}
	policy.MaxAttempts, policy.MaxElapsed, policy.Budget = retry.Unlimited, 0, nil
	policy.Limiter, policy.Hooks = nil, retry.Hooks{}
	policy.Rand = func() float64 { return math.Nextafter(1, 0) }
	var waits [100]time.Duration
	call := policy.Start()
	for i := range waits {
		wait, _ := call.Failed(context.Background(), errUnseen)
		waits[i] = max(1, wait) // 0 would mean Temporal's default
	}
	p.InitialInterval, p.MaximumInterval = waits[0], waits[len(waits)-1]
	p.BackoffCoefficient = max(1, float64(waits[1])/float64(waits[0]))
	return p, nil
}

// TemporalInterceptor makes a worker report, after an activity fails, the wait before the
// next attempt, or that there should be none.
func TemporalInterceptor(policy retry.Policy) (interceptor.WorkerInterceptor, error) {
	if err := check(policy); err != nil {
		return nil, err
	}
	policy.MaxAttempts = retry.Unlimited // the activity's RetryPolicy limits the attempts
	return &temporalWorker{policy: policy}, nil
}

type temporalWorker struct {
	interceptor.WorkerInterceptorBase
	policy retry.Policy
}

func (w *temporalWorker) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &temporalActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, w.policy}
}

type temporalActivity struct {
	interceptor.ActivityInboundInterceptorBase
	policy retry.Policy
}

func (a *temporalActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := a.Next.ExecuteActivity(ctx, in)
	own, decided := errors.AsType[*temporal.ApplicationError](err)
	decided = decided && (own.NonRetryable() || own.NextRetryDelay() > 0)
	if err == nil || decided || ctx.Err() != nil || errors.Is(err, activity.ErrResultPending) || temporal.IsCanceledError(err) {
		return result, err
	}
	info := activity.GetInfo(ctx)
	failed := a.policy.Classify(err)
	options := temporal.ApplicationErrorOptions{Cause: err}
	id := fmt.Sprintf("%s/%s/%s", info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityID)
	wait, reason := adapt.DelayFor(a.policy, id, int(info.Attempt), err)
	kind := failed.Class.String()
	if reason != nil {
		kind = (&retry.Error{Reason: reason}).ReasonLabel()
		options.NonRetryable = true
	} else {
		options.NextRetryDelay = max(1, wait) // 0 would mean the RetryPolicy's delay
	}
	if own != nil {
		kind = own.Type()
	}
	return result, temporal.NewApplicationErrorWithOptions(err.Error(), kind, options)
}
