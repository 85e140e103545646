package adapt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
)

// gaveUp is the error of a loop inside a handler.
func gaveUp(last, reason error) error {
	return fmt.Errorf("call: %w", &retry.Error{Err: last, Reason: reason})
}

// TestSettle: every kind of result, while the worker runs, when it is stopped, and after a
// deadline.
func TestSettle(t *testing.T) {
	var n int
	noJSON := json.Unmarshal([]byte("{x"), &n)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	const ack, again, dead, back = adapt.Ack, adapt.Redeliver, adapt.DeadLetter, adapt.GiveBack
	for name, tt := range map[string]struct {
		err                    error
		attempt                int
		running, stopped, late adapt.Action
	}{
		"done":                              {nil, 1, ack, ack, ack},
		"unknown":                           {errOp, 1, again, back, again},
		"unknown, the last attempt":         {errOp, 4, dead, back, dead},
		"unknown, attempt 0":                {errOp, 0, again, back, again},
		"does not parse":                    {noJSON, 1, dead, dead, dead},
		"permanent":                         {retry.Permanent(errOp), 1, dead, dead, dead},
		"unrepeatable":                      {retry.Unrepeatable(errOp), 1, dead, dead, dead},
		"a hint":                            {retry.After(errOp, time.Minute), 1, again, back, again},
		"canceled":                          {context.Canceled, 1, again, back, again},
		"canceled, the last attempt":        {context.Canceled, 4, dead, back, dead},
		"canceled, wrapped":                 {fmt.Errorf("query: %w", context.Canceled), 1, again, back, again},
		"canceled, marked permanent":        {retry.Permanent(context.Canceled), 1, dead, back, dead},
		"canceled, unrepeatable":            {retry.Unrepeatable(context.Canceled), 1, dead, dead, dead},
		"a deadline":                        {context.DeadlineExceeded, 1, again, back, again},
		"a loop was stopped":                {gaveUp(errOp, context.Canceled), 4, dead, back, dead},
		"a loop was stopped in a call":      {gaveUp(context.Canceled, context.Canceled), 1, again, back, again},
		"a loop was stopped before a call":  {gaveUp(nil, context.Canceled), 1, again, back, again},
		"a loop gave up":                    {gaveUp(errOp, retry.ErrMaxAttempts), 1, again, back, again},
		"a loop met something permanent":    {gaveUp(retry.Permanent(errOp), retry.ErrPermanent), 1, dead, dead, dead},
		"a loop met something unrepeatable": {gaveUp(errOp, retry.ErrUnrepeatable), 1, dead, dead, dead},
	} {
		t.Run(name, func(t *testing.T) {
			for ctx, want := range map[context.Context]adapt.Action{t.Context(): tt.running, stopped: tt.stopped, late: tt.late} {
				o := adapt.Settle(ctx, doubling, "id", tt.attempt, tt.err)
				assert.Equal(t, want, o.Action, "%v: %v", ctx.Err(), o.Action)
				assert.Equal(t, want == again, o.Wait > 0)
				if want != dead {
					assert.Nil(t, o.Err)
					continue
				}
				assert.ErrorIs(t, o.Err, tt.err)
				assert.Equal(t, tt.attempt, o.Err.Attempts)
			}
		})
	}
}

// TestSettleAsDelayFor: the waits and the reasons are those of DelayFor.
func TestSettleAsDelayFor(t *testing.T) {
	policy := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxAttempts: 5, MaxElapsed: 3 * time.Second}
	for failed := range 7 {
		wait, reason := adapt.DelayFor(policy, "order-4711", failed, errOp)
		o := adapt.Settle(t.Context(), policy, "order-4711", failed, errOp)
		if reason == nil {
			assert.Equal(t, adapt.Outcome{Action: adapt.Redeliver, Wait: wait}, o)
			continue
		}
		require.Equal(t, adapt.DeadLetter, o.Action)
		assert.Equal(t, &retry.Error{Err: errOp, Reason: reason, Attempts: failed, Next: wait}, o.Err)
	}
	o := adapt.Settle(t.Context(), retry.Policy{MaxAttempts: -2}, "id", 1, errOp)
	assert.ErrorIs(t, o.Err, retry.ErrInvalid)
}

// TestSettleClassifier: the policy's own Classifier decides, but not that a cancellation is
// permanent.
func TestSettleClassifier(t *testing.T) {
	policy := doubling
	policy.Classifier = retry.OnlyIf(func(err error) bool { return errors.Is(err, errOp) })
	for err, want := range map[error]adapt.Action{
		errOp:               adapt.Redeliver,
		errors.New("other"): adapt.DeadLetter,
		context.Canceled:    adapt.Redeliver,
	} {
		assert.Equal(t, want, adapt.Settle(t.Context(), policy, "id", 1, err).Action, "%v", err)
	}
}

// TestSettleBudget: the deposits, which the caller does not make.
func TestSettleBudget(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	budget := &awspreset.TokenBudget{Capacity: 20, Deficit: 10, Costs: awspreset.TokenCosts{Transient: 8, Timeout: 8, Throttled: 8}}
	policy := doubling
	policy.Budget = budget
	for _, step := range []struct {
		ctx     context.Context
		err     error
		attempt int
		want    adapt.Action
		balance float64
	}{
		{t.Context(), errOp, 1, adapt.Redeliver, 2},
		{t.Context(), errOp, 1, adapt.DeadLetter, 2},
		{stopped, errOp, 1, adapt.GiveBack, 2},
		{t.Context(), nil, 1, adapt.Ack, 3},
		{t.Context(), nil, 2, adapt.Ack, 11}, // returns the tokens of the retry
		{t.Context(), retry.Permanent(errOp), 1, adapt.DeadLetter, 12},
	} {
		assert.Equal(t, step.want, adapt.Settle(step.ctx, policy, "id", step.attempt, step.err).Action)
		assert.Equal(t, step.balance, budget.Balance(), "%v", step)
	}
}

// TestSettleHooks: nothing but the Classifier, the Backoff and the Budget of a policy is used.
func TestSettleHooks(t *testing.T) {
	policy := doubling
	policy.Limiter = failingLimiter{t}
	policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) { t.Error("OnRetry") }
	policy.OnGiveUp = func(context.Context, *retry.Error) { t.Error("OnGiveUp") }
	for _, err := range []error{nil, errOp, retry.Permanent(errOp)} {
		adapt.Settle(t.Context(), policy, "id", 1, err)
	}
}

type failingLimiter struct{ t *testing.T }

func (l failingLimiter) Wait(context.Context) error { l.t.Error("Wait"); return nil }
func (l failingLimiter) Observe(retry.Attempt)      { l.t.Error("Observe") }

func TestActionString(t *testing.T) {
	for action, want := range map[adapt.Action]string{
		adapt.Ack:        "ack",
		adapt.Redeliver:  "redeliver",
		adapt.DeadLetter: "dead letter",
		adapt.GiveBack:   "give back",
		-1:               "unknown",
		4:                "unknown",
	} {
		assert.Equal(t, want, action.String())
	}
}
