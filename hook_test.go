package retry_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

type hookKey string

// recordHooks writes what is called to log, and passes its name on in the context.
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

// TestWith: hooks of several kinds see the same call, nested in each other.
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

// TestWithNothing: hooks, contexts and callbacks may be nil, in any combination.
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

// TestWithPanic: the outer callback runs although the inner one panics.
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

// TestOnGiveUpCannotHide: a hook that changes the error does not make a success of it.
func TestOnGiveUpCannotHide(t *testing.T) {
	hide := retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) { e.Err, e.Reason = nil, nil }}
	p, _ := onClock(2)
	assert.Error(t, retry.Do(t.Context(), p.With(hide), retrytest.Script(errOp).Run))
	assert.Equal(t, retry.Permanent(errOp), retry.Do(t.Context(), p.With(hide), retrytest.Script(retry.Permanent(errOp)).Run))
}
