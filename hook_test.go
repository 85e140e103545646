package retry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

type hookKey string

// recordHooks returns hooks that log their calls and pass their name on in the
// context.
func recordHooks(log *[]string, name string) retry.Hooks {
	say := func(ctx context.Context, what string) {
		*log = append(*log, fmt.Sprintf("%s %s a:%v b:%v", name, what, ctx.Value(hookKey("a")), ctx.Value(hookKey("b"))))
	}
	return retry.Hooks{
		OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			say(ctx, fmt.Sprint("begin ", a.Number))
			ctx = context.WithValue(ctx, hookKey(name), a.Number)
			return ctx, func(a retry.Attempt) { say(ctx, fmt.Sprint("end ", a.Number)) }
		},
		OnRetry: func(ctx context.Context, a retry.Attempt, wait time.Duration) {
			say(ctx, fmt.Sprint("retry in ", wait))
		},
		OnGiveUp: func(ctx context.Context, e *retry.Error) { say(ctx, "gave up") },
	}
}

// TestWith: several hooks observe the same call, nested in each other.
func TestWith(t *testing.T) {
	p, _ := onClock(2)
	var log []string
	all := p.With(recordHooks(&log, "a")).With(recordHooks(&log, "b"))
	err := retry.Do(t.Context(), all, func(ctx context.Context) error {
		log = append(log, fmt.Sprint("op ", ctx.Value(hookKey("a")), ctx.Value(hookKey("b"))))
		return errOp
	})
	assert.ErrorIs(t, err, errOp)
	assert.Equal(t, []string{
		"a begin 1 a:<nil> b:<nil>", "b begin 1 a:1 b:<nil>", "op 1 1", "b end 1 a:1 b:1", "a end 1 a:1 b:<nil>",
		"a retry in 1s a:<nil> b:<nil>", "b retry in 1s a:<nil> b:<nil>",
		"a begin 2 a:<nil> b:<nil>", "b begin 2 a:2 b:<nil>", "op 2 2", "b end 2 a:2 b:2", "a end 2 a:2 b:<nil>",
		"a gave up a:<nil> b:<nil>", "b gave up a:<nil> b:<nil>",
	}, log)
	assert.Nil(t, p.OnAttempt, "With makes a copy")
}

// TestWithNothing: hooks, contexts and callbacks may be nil in any combination.
func TestWithNothing(t *testing.T) {
	nothing := retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { return nil, nil }}
	var log []string
	some := recordHooks(&log, "a")
	for name, hooks := range map[string][]retry.Hooks{
		"none":           {{}, {}},
		"the first only": {some, {}},
		"the last only":  {{}, some},
		"nil results":    {nothing, nothing},
		"nil then some":  {nothing, some},
		"some then nil":  {some, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			log = nil
			p, _ := onClock(2)
			for _, h := range hooks {
				p = p.With(h)
			}
			want := 0
			if name != "none" && name != "nil results" {
				want = 6
			}
			assert.ErrorIs(t, retry.Do(t.Context(), p, retrytest.Script(errOp).Run), retry.ErrMaxAttempts)
			assert.Len(t, log, want)
		})
	}
}

// TestWithPanic: the outer callback runs even if the inner one panics.
func TestWithPanic(t *testing.T) {
	ended := false
	p := retry.Policy{}.With(retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, func(retry.Attempt) { ended = true }
	}}).With(retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, func(retry.Attempt) { panic("inner") }
	}})
	assert.Panics(t, func() { _ = retry.Do(t.Context(), p, retrytest.Script(nil).Run) })
	assert.True(t, ended)
}

// TestOnGiveUpCannotHide: a hook that changes the error cannot make the call succeed.
func TestOnGiveUpCannotHide(t *testing.T) {
	hide := retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) { e.Err, e.Reason = nil, nil }}
	p, _ := onClock(2)
	assert.Error(t, retry.Do(t.Context(), p.With(hide), retrytest.Script(errOp).Run))
	assert.Equal(t, retry.Permanent(errOp), retry.Do(t.Context(), p.With(hide), retrytest.Script(retry.Permanent(errOp)).Run))
}

type key struct{}

func TestHooks(t *testing.T) {
	var log []string
	say := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	p, _ := onClock(3)
	p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		say("begin %d after %v", a.Number, a.Waited)
		return context.WithValue(ctx, key{}, a.Number), func(a retry.Attempt) { say("end %d: %v, %v", a.Number, a.Err, a.Class) }
	}
	p.OnRetry = func(_ context.Context, a retry.Attempt, wait time.Duration) {
		say("retry after %d in %v", a.Number, wait)
	}
	p.OnGiveUp = func(_ context.Context, e *retry.Error) { say("give up: %v", e.Reason) }

	script := func(outcomes ...error) func(context.Context) error {
		op := retrytest.Script(outcomes...)
		return func(ctx context.Context) error {
			say("op %v", ctx.Value(key{}))
			return op.Run(ctx)
		}
	}
	t.Run("success", func(t *testing.T) {
		log = nil
		require.NoError(t, retry.Do(t.Context(), p, script(errOp, nil)))
		assert.Equal(t, []string{
			"begin 1 after 0s", "op 1", "end 1: operation failed, unknown", "retry after 1 in 1s",
			"begin 2 after 1s", "op 2", "end 2: <nil>, unknown",
		}, log)
	})
	t.Run("giving up", func(t *testing.T) {
		log = nil
		p := p
		p.MaxAttempts = 2
		require.Error(t, retry.Do(t.Context(), p, script(errOp)))
		assert.Equal(t, []string{
			"begin 1 after 0s", "op 1", "end 1: operation failed, unknown", "retry after 1 in 1s",
			"begin 2 after 1s", "op 2", "end 2: operation failed, unknown", "give up: all attempts used",
		}, log)
	})
	t.Run("permanent", func(t *testing.T) {
		log = nil
		permanent := retry.Permanent(errOp)
		err := retry.Do(t.Context(), p, script(permanent))
		assert.Equal(t, permanent, err, "the operation's own error")
		assert.NotErrorIs(t, err, retry.ErrPermanent)
		assert.Equal(t, []string{"begin 1 after 0s", "op 1", "end 1: operation failed, permanent", "give up: permanent failure"}, log)
	})
	t.Run("a dead context", func(t *testing.T) {
		log = nil
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, retry.Do(ctx, p, script(nil)))
		assert.Equal(t, []string{"give up: context canceled"}, log)
	})
	t.Run("without a context or a callback", func(t *testing.T) {
		p := retry.Policy{Hooks: retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { return nil, nil }}}
		ctx := context.WithValue(t.Context(), key{}, "mine")
		require.NoError(t, retry.Do(ctx, p, func(ctx context.Context) error {
			assert.Equal(t, "mine", ctx.Value(key{}))
			_, limited := ctx.Deadline()
			assert.False(t, limited)
			assert.NoError(t, ctx.Err())
			return nil
		}))
	})
}

// TestOnRetryBeforeWaits: OnRetry is called before every wait, and OnGiveUp at the end
// of a call that fails.
func TestOnRetryBeforeWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		policy   retry.Policy
		timeout  time.Duration // of the context; 0: none
		outcomes []error
		want     string
	}{
		"attempts used": {retry.Policy{MaxAttempts: 3}, 0, []error{errOp},
			"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s retry 2 after 1s; 2s call 3; 2s give up: all attempts used"},
		"one attempt": {retry.Policy{MaxAttempts: 1}, 0, []error{errOp},
			"0s call 1; 0s give up: all attempts used"},
		"success": {retry.Policy{}, 0, []error{errOp, nil},
			"0s call 1; 0s retry 1 after 1s; 1s call 2"},
		"permanent": {retry.Policy{}, 0, []error{errOp, retry.Permanent(errOp)},
			"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: permanent failure"},
		"budget": {retry.Policy{Budget: &awspreset.TokenBudget{Capacity: 14}}, 0, []error{errOp},
			"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: client-side retry budget used up"},
		"hint too long": {retry.Policy{Hint: retry.HintOrGiveUp{}}, 0, []error{errOp, retry.After(errOp, 2*time.Hour)},
			"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: server asks for too long a wait"},
		"hint": {retry.Policy{Hint: retry.HintAtLeast{Exact: true}}, 0, []error{retry.After(errOp, time.Minute), nil},
			"0s call 1; 0s retry 1 after 1m0s; 1m0s call 2"},
		"time limit": {retry.Policy{MaxElapsed: 1500 * ms}, 0, []error{errOp},
			"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: time limit of the policy"},
		"deadline": {retry.Policy{}, 1500 * ms, []error{errOp},
			"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: wait would outlast the context: context deadline exceeded"},
		"deadline before the call": {retry.Policy{}, -1, []error{errOp},
			"0s give up: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.timeout != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				tt.policy.Backoff = retry.Constant(time.Second)
				events, gaveUp, err := record(ctx, tt.policy, tt.outcomes)
				assert.Equal(t, tt.want, events)
				if gaveUp != nil && gaveUp.Reason != retry.ErrPermanent {
					assert.Same(t, gaveUp, err)
				}
			})
		})
	}
}

// record returns the attempts of a call, and the calls of OnRetry and OnGiveUp, with
// their times.
func record(ctx context.Context, p retry.Policy, outcomes []error) (log string, gaveUp *retry.Error, err error) {
	var events []string
	start := time.Now()
	event := func(format string, args ...any) {
		events = append(events, time.Since(start).String()+" "+fmt.Sprintf(format, args...))
	}
	p.OnRetry = func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		event("retry %d after %v", failed.Number, wait)
	}
	p.OnGiveUp = func(_ context.Context, e *retry.Error) {
		gaveUp = e
		event("give up: %v", e.Reason)
	}
	op, calls := retrytest.Script(outcomes...), 0
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		calls++
		event("call %d", calls)
		return op.Run(ctx)
	})
	return strings.Join(events, "; "), gaveUp, err
}

func TestOnRetryGetsAttempt(t *testing.T) {
	p, _ := onClock(4)
	var seen []retry.Attempt
	var waits []time.Duration
	p.OnRetry = func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		seen, waits = append(seen, failed), append(waits, wait)
	}
	busy := retry.After(retry.Throttled(errOp), time.Minute)
	_ = retry.Do(t.Context(), p, retrytest.Script(errOp, busy, errOp).Run)
	assert.Equal(t, []retry.Attempt{
		{Number: 1, Err: errOp},
		{Number: 2, Waited: time.Second, Err: busy, Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: time.Minute}},
		{Number: 3, Waited: time.Minute, Err: errOp},
	}, seen)
	assert.Equal(t, []time.Duration{time.Second, time.Minute, 4 * time.Second}, waits)
}

// TestCallbackOfPanickedHooks: the callback of a hook runs even if the next hook panics.
func TestCallbackOfPanickedHooks(t *testing.T) {
	var ended []retry.Attempt
	p := retry.Policy{}.With(retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
		return nil, func(a retry.Attempt) { ended = append(ended, a) }
	}}).With(retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
		panic("hook")
	}})
	assert.PanicsWithValue(t, "hook", func() { _ = retry.Do(t.Context(), p, succeed) })
	assert.Equal(t, []retry.Attempt{{Number: 1, Err: retry.ErrNoReturn}}, ended)
}

// TestCallbackOfEndedContext: if OnAttempt ends the caller's context, no attempt begins, and
// its callback gets the context's error.
func TestCallbackOfEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var ended []retry.Attempt
	p := retry.Policy{Hooks: retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
		cancel()
		return nil, func(a retry.Attempt) { ended = append(ended, a) }
	}}}
	err := retry.Do(ctx, p, func(context.Context) error { t.Error("an attempt began"); return nil })
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []retry.Attempt{{Number: 1, Err: context.Canceled}}, ended)
}

// TestAttemptFrom: the operation, and a hook before it, see the number of the attempt and
// the failure before it.
func TestAttemptFrom(t *testing.T) {
	p, _ := onClock(5)
	p = p.With(retry.AttemptInContext()).With(retry.Hooks{OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		seen, ok := retry.AttemptFrom(ctx)
		assert.True(t, ok)
		assert.Equal(t, a.Number, seen.Number)
		return nil, nil
	}})
	busy, progress := retry.Throttled(errOp), retry.Progress(errOp)
	op := retrytest.Script(errOp, busy, progress, nil)
	var seen []retry.Attempt
	err := retry.Do(t.Context(), p, func(ctx context.Context) error {
		a, ok := retry.AttemptFrom(context.WithoutCancel(ctx))
		assert.True(t, ok)
		seen = append(seen, a)
		_ = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
			inner, _ := retry.AttemptFrom(ctx)
			assert.Equal(t, a, inner, "a call without these hooks")
			return nil
		})
		_ = retry.Do(ctx, retry.Policy{}.With(retry.AttemptInContext()), func(ctx context.Context) error {
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
