package durable

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

func TestTemporalRetryPolicy(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		want   temporal.RetryPolicy
	}{
		"exponential":  {retry.Policy{Backoff: retry.Exponential{Base: 500 * time.Millisecond, Cap: time.Minute, Factor: 3}, MaxAttempts: 5}, temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 3, MaximumInterval: time.Minute, MaximumAttempts: 5}},
		"constant":     {retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: retry.Unlimited}, temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1, MaximumInterval: time.Second}},
		"decorrelated": {retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 3}, temporal.RetryPolicy{InitialInterval: 3 * time.Second, BackoffCoefficient: 3, MaximumInterval: time.Hour, MaximumAttempts: 3}},
		"no delay":     {retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2}, temporal.RetryPolicy{InitialInterval: 1, BackoffCoefficient: 1, MaximumInterval: 1, MaximumAttempts: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := TemporalRetryPolicy(tt.policy)
			require.NoError(t, err)
			assert.InDelta(t, tt.want.InitialInterval, got.InitialInterval, 10) // the random number is slightly below 1
			assert.InDelta(t, tt.want.BackoffCoefficient, got.BackoffCoefficient, 1e-6)
			assert.Equal(t, tt.want.MaximumInterval, got.MaximumInterval)
			assert.Equal(t, tt.want.MaximumAttempts, got.MaximumAttempts)
		})
	}
}

// runActivity runs a workflow whose activity fails with errs and then succeeds. It returns
// the times of the attempts, the seed of the waits, and the error of the workflow.
func runActivity(t *testing.T, policy retry.Policy, errs ...error) (started []time.Duration, id string, _ error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	intercept, err := TemporalInterceptor(policy)
	require.NoError(t, err)
	env.SetTestTimeout(time.Minute) // of real time, as the next one: a busy machine may need more than the default
	env.SetWorkerOptions(worker.Options{
		Interceptors:             []interceptor.WorkerInterceptor{intercept},
		DeadlockDetectionTimeout: time.Minute,
	})
	retryPolicy, err := TemporalRetryPolicy(policy)
	require.NoError(t, err)
	start := env.Now()
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		info := activity.GetInfo(ctx)
		id = info.WorkflowExecution.ID + "/" + info.WorkflowExecution.RunID + "/" + info.ActivityID
		started = append(started, env.Now().Sub(start))
		if len(started) <= len(errs) {
			return errs[len(started)-1]
		}
		return nil
	}, activity.RegisterOptions{Name: "ship"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Hour, RetryPolicy: retryPolicy,
		})
		return workflow.ExecuteActivity(ctx, "ship").Get(ctx, nil)
	})
	require.True(t, env.IsWorkflowCompleted())
	return started, id, env.GetWorkflowError()
}

// TestTemporal: the attempts begin when the policy schedules them, in virtual time, and the
// workflow gets the class of the failure.
func TestTemporal(t *testing.T) {
	const s = time.Second
	ending := doubling
	ending.MaxElapsed = 2 * s
	throttled := doubling
	throttled.Backoff = retry.WhenThrottled{Throttled: retry.Constant(30 * s), Else: retry.Constant(s)}
	own := func(nonRetryable bool) error {
		return temporal.NewApplicationErrorWithOptions("own", "OutOfStock", temporal.ApplicationErrorOptions{NonRetryable: nonRetryable})
	}
	for name, tt := range map[string]struct {
		policy  retry.Policy
		errs    []error
		started []time.Duration
		kind    string // of the workflow's error
		final   bool   // not retryable
	}{
		"success":         {doubling, nil, []time.Duration{0}, "", false},
		"waits":           {doubling, []error{errOp, errOp, errOp}, []time.Duration{0, s, 3 * s, 7 * s}, "", false},
		"hint":            {doubling, []error{retry.After(errOp, 7*s), errOp}, []time.Duration{0, 7 * s, 9 * s}, "", false},
		"class":           {throttled, []error{errOp, retry.Throttled(errOp)}, []time.Duration{0, s, 31 * s}, "", false},
		"exhausted":       {doubling, []error{errOp, errOp, errOp, retry.Throttled(errOp)}, []time.Duration{0, s, 3 * s, 7 * s}, "throttled", false},
		"permanent":       {doubling, []error{errOp, retry.Permanent(errOp)}, []time.Duration{0, s}, "permanent", true},
		"unrepeatable":    {doubling, []error{retry.Unrepeatable(errOp)}, []time.Duration{0}, "unrepeatable", true},
		"elapsed":         {ending, []error{errOp, errOp}, []time.Duration{0, s}, "elapsed", true},
		"own, retryable":  {doubling, []error{own(false), own(true)}, []time.Duration{0, s}, "OutOfStock", true},
		"own, all failed": {doubling, []error{own(false), own(false), own(false), own(false)}, []time.Duration{0, s, 3 * s, 7 * s}, "OutOfStock", false},
	} {
		t.Run(name, func(t *testing.T) {
			started, _, err := runActivity(t, tt.policy, tt.errs...)
			assert.Equal(t, tt.started, started)
			if tt.kind == "" {
				require.NoError(t, err)
				return
			}
			failure, ok := errors.AsType[*temporal.ApplicationError](err)
			require.True(t, ok)
			assert.Equal(t, tt.kind, failure.Type())
			assert.Equal(t, tt.final, failure.NonRetryable())
			assert.ErrorContains(t, err, tt.errs[len(tt.errs)-1].Error())
		})
	}
}

// TestTemporalJitter: the activity's ID determines the jitter.
func TestTemporalJitter(t *testing.T) {
	started, id, err := runActivity(t, jittered, errOp, errOp, errOp, errOp)
	require.NoError(t, err)
	require.Len(t, started, 5)
	for i, at := range started[1:] {
		want, reason := adapt.DelayFor(jittered, id, i+1, errOp)
		require.NoError(t, reason)
		assert.Equal(t, want, at-started[i])
	}
}
