package retry_test

import (
	"context"
	"github.com/gobackoff/retry/retrytest"
	"github.com/stretchr/testify/require"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

func TestClassString(t *testing.T) {
	assert.Equal(t, "throttled", retry.ClassThrottled.String())
	assert.Equal(t, "unknown", retry.ClassUnknown.String())
	assert.Equal(t, "class(5)", retry.Class(5).String())
}

// TestAttemptFrom: the operation, and a hook before it, see the number of the attempt and
// the failure before it.
func TestAttemptFrom(t *testing.T) {
	p, _ := onClock(5)
	p.AttemptInContext = true
	p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		seen, ok := retry.AttemptFrom(ctx)
		assert.True(t, ok)
		assert.Equal(t, a.Number, seen.Number)
		return nil, nil
	}
	busy, progress := retry.Throttled(errOp), retry.Progress(errOp)
	op := retrytest.Script(errOp, busy, progress, nil)
	var seen []retry.Attempt
	err := retry.Do(t.Context(), p, func(ctx context.Context) error {
		a, ok := retry.AttemptFrom(context.WithoutCancel(ctx))
		assert.True(t, ok)
		seen = append(seen, a)
		_ = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
			inner, _ := retry.AttemptFrom(ctx)
			assert.Equal(t, a, inner, "a call whose policy does not set AttemptInContext")
			return nil
		})
		_ = retry.Do(ctx, retry.Policy{AttemptInContext: true}, func(ctx context.Context) error {
			inner, _ := retry.AttemptFrom(ctx)
			assert.Equal(t, retry.Attempt{Number: 1}, inner)
			return nil
		})
		return op.Run(ctx)
	})
	require.NoError(t, err)
	assert.Equal(t, []retry.Attempt{
		{Number: 1},
		{Number: 2, Waited: time.Second, Err: errOp},
		{Number: 3, Waited: 2 * time.Second, Err: busy, Verdict: retry.Verdict{Class: throttled}},
		{Number: 2, Waited: time.Second, Err: progress, Verdict: retry.Verdict{Progress: true}},
	}, seen)

	_, err = retry.DoValue(t.Context(), retry.Policy{}, func(ctx context.Context) (int, error) {
		_, ok := retry.AttemptFrom(ctx)
		assert.False(t, ok)
		return 0, nil
	})
	assert.NoError(t, err)
}
