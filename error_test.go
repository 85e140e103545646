package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// failingLimiter is a Limiter that returns its error.
type failingLimiter struct{ err error }

func (l failingLimiter) Wait(context.Context) error { return l.err }

// TestReasonLabel: every way to give up has its word.
func TestReasonLabel(t *testing.T) {
	failed := errors.New("failed")
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		return ctx
	}
	clock := &retrytest.Clock{}
	soon, cancel := context.WithDeadline(t.Context(), clock.Now().Add(time.Millisecond))
	defer cancel()
	over, cancelOver := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelOver()
	second := retry.Constant(time.Second)
	for name, tt := range map[string]struct {
		ctx    context.Context
		policy retry.Policy
		err    error
		want   string
	}{
		"attempts":                      {t.Context(), retry.Policy{MaxAttempts: 1}, failed, "attempts"},
		"elapsed":                       {t.Context(), retry.Policy{Backoff: second, MaxElapsed: 1}, failed, "elapsed"},
		"budget":                        {t.Context(), retry.Policy{Budget: &retry.TokenBudget{Capacity: 1}}, failed, "budget"},
		"hint":                          {t.Context(), retry.Policy{Hint: retry.HintOrGiveUp{Max: 1}}, retry.After(failed, time.Hour), "hint"},
		"unrepeatable":                  {t.Context(), retry.Policy{}, retry.Unrepeatable(failed), "unrepeatable"},
		"permanent":                     {t.Context(), retry.Policy{}, retry.Permanent(failed), "permanent"},
		"canceled":                      {ended(nil), retry.Policy{}, failed, "canceled"},
		"canceled for a reason":         {ended(failed), retry.Policy{}, failed, "canceled"},
		"canceled by another's timeout": {ended(context.DeadlineExceeded), retry.Policy{}, failed, "canceled"},
		"wait beyond the deadline":      {soon, retry.Policy{Backoff: second, Clock: clock}, failed, "deadline"},
		"deadline passed":               {over, retry.Policy{}, failed, "deadline"},
		"limiter":                       {t.Context(), retry.Policy{Limiter: failingLimiter{failed}}, failed, "limiter"},
		"limiter that gave up itself":   {t.Context(), retry.Policy{Limiter: failingLimiter{fmt.Errorf("limiter: %w", retry.ErrBudget)}}, failed, "limiter"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			policy := tt.policy.With(retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) { got = e.ReasonLabel() }})
			assert.Error(t, retry.Do(tt.ctx, policy, retrytest.Script(tt.err).Run))
			assert.Equal(t, tt.want, got)
		})
	}
}
