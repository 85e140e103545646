package compat

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	avast "github.com/avast/retry-go/v5"
	cenkalti4 "github.com/cenkalti/backoff/v4"
	cenkalti5 "github.com/cenkalti/backoff/v5"
	sethvargo "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/legacy"
)

// TestLegacyMarks: a call that was rewritten heeds the marks of code that was not.
func TestLegacyMarks(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name       string
		classifier retry.Classifier
		err        error
		attempts   int
	}{
		{"cenkalti v4", legacy.RetryAll{}, cenkalti4.Permanent(failed), 1},
		{"cenkalti v5, wrapped", legacy.RetryAll{}, fmt.Errorf("x: %w", cenkalti5.Permanent(failed)), 1},
		{"avast", legacy.RetryAll{}, avast.Unrecoverable(failed), 1},
		{"sethvargo", legacy.RetryMarked{}, sethvargo.RetryableError(failed), 3},
		{"no mark", legacy.RetryAll{}, failed, 3},
		{"no mark of sethvargo", legacy.RetryMarked{}, failed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempts := 0
			err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, Classifier: c.classifier},
				func(context.Context) error { attempts++; return c.err })
			assert.ErrorIs(t, err, failed)
			assert.Equal(t, c.attempts, attempts)
		})
	}
}

// TestLegacyUntil: the calls of wait and what retrymigrate makes of them call the
// condition at the same times and report the same.
func TestLegacyUntil(t *testing.T) {
	poll := retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: retry.Unlimited, MaxElapsed: 4500 * time.Millisecond, Classifier: legacy.RetryAll{}}
	steps := wait.Backoff{Steps: 4, Duration: time.Second, Factor: 2}
	exponential := retry.Policy{Backoff: retry.Exponential{Base: time.Second, Factor: 2}, MaxAttempts: 4, Classifier: legacy.RetryAll{}}
	type condition = func(context.Context) (bool, error)
	for _, c := range []struct {
		name        string
		before, now func(context.Context, condition) error
	}{
		{
			"at once",
			func(ctx context.Context, f condition) error {
				return wait.PollUntilContextTimeout(ctx, time.Second, 4500*time.Millisecond, true, f)
			},
			func(ctx context.Context, f condition) error { return retry.Do(ctx, poll, legacy.Until(f)) },
		},
		{
			"later",
			func(ctx context.Context, f condition) error {
				return wait.PollUntilContextTimeout(ctx, time.Second, 4500*time.Millisecond, false, f)
			},
			func(ctx context.Context, f condition) error { return retry.Do(ctx, poll, legacy.UntilLater(f)) },
		},
		{
			"exponential",
			func(ctx context.Context, f condition) error {
				return wait.ExponentialBackoffWithContext(ctx, steps, f)
			},
			func(ctx context.Context, f condition) error { return retry.Do(ctx, exponential, legacy.Until(f)) },
		},
	} {
		for _, after := range []int{1, 3, 99} { // calls of the condition until it is true
			t.Run(fmt.Sprintf("%s, %d", c.name, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					observe := func(call func(context.Context, condition) error) (times []time.Duration, interrupted, failed bool) {
						start := time.Now()
						err := legacy.Bare(call(t.Context(), func(context.Context) (bool, error) {
							times = append(times, time.Since(start))
							return len(times) == after, nil
						}))
						return times, wait.Interrupted(err), err != nil
					}
					times, interrupted, failed := observe(c.before)
					times2, interrupted2, failed2 := observe(c.now)
					assert.Equal(t, times, times2)
					assert.Equal(t, []bool{interrupted, failed}, []bool{interrupted2, failed2})
				})
			})
		}
	}
}
