package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// TestSchedule: attempts begin exactly when the delays are over.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		p := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 5}
		err := retry.Do(t.Context(), p, func(context.Context) error {
			at = append(at, time.Since(start))
			return errOp
		})
		assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}, at)
		assert.Equal(t, 15*time.Second, asError(t, err).SinceFailure)
	})
}

func TestDo(t *testing.T) {
	s := time.Second
	permanent := retry.Permanent(errOp)
	tests := []struct {
		name   string
		policy retry.Policy
		op     *retrytest.Op
		calls  int
		waits  []time.Duration
		err    error // matched with errors.Is; nil: success
		reason error // of the *Error; nil: the error is op's own
	}{
		{"success at once", retry.Policy{}, retrytest.Script(), 1, nil, nil, nil},
		{"success at the last attempt", retry.Policy{}, retrytest.Fail(2, errOp), 3, []time.Duration{s, 2 * s}, nil, nil},
		{"zero attempts mean three", retry.Policy{}, retrytest.Script(errOp), 3, []time.Duration{s, 2 * s}, errOp, retry.ErrMaxAttempts},
		{"one attempt", retry.Policy{MaxAttempts: 1}, retrytest.Script(errOp), 1, nil, errOp, retry.ErrMaxAttempts},
		{"five attempts", retry.Policy{MaxAttempts: 5}, retrytest.Script(errOp), 5, []time.Duration{s, 2 * s, 4 * s, 8 * s}, errOp, retry.ErrMaxAttempts},
		{"unlimited", retry.Policy{MaxAttempts: retry.Unlimited}, retrytest.Fail(5, errOp), 6, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s}, nil, nil},
		{"permanent at once", retry.Policy{}, retrytest.Script(permanent), 1, nil, errOp, nil},
		{"permanent later", retry.Policy{}, retrytest.Script(errOp, permanent), 2, []time.Duration{s}, errOp, nil},
		{"unrepeatable at once", retry.Policy{}, retrytest.Script(retry.Unrepeatable(errOp)), 1, nil, errOp, retry.ErrUnrepeatable},
		{"unrepeatable later", retry.Policy{}, retrytest.Script(errOp, retry.Unrepeatable(errOp)), 2, []time.Duration{s}, errOp, retry.ErrUnrepeatable},
		{"unrepeatable and permanent", retry.Policy{}, retrytest.Script(retry.Unrepeatable(permanent)), 1, nil, errOp, nil},
		{"unrepeatable comes before attempts used", retry.Policy{MaxAttempts: 1}, retrytest.Script(retry.Unrepeatable(errOp)), 1, nil, errOp, retry.ErrUnrepeatable},
		{"unrepeatable in an inner call", retry.Policy{}, retrytest.Script(retry.Do(t.Context(), retry.Policy{}, retrytest.Script(retry.Unrepeatable(errOp)).Run)), 1, nil, errOp, retry.ErrUnrepeatable},
		{"elapsed allows a wait that ends in time", retry.Policy{MaxElapsed: 3 * s, MaxAttempts: 9}, retrytest.Script(errOp), 3, []time.Duration{s, 2 * s}, errOp, retry.ErrMaxElapsed},
		{"elapsed forbids a wait that ends late", retry.Policy{MaxElapsed: 3*s - 1, MaxAttempts: 9}, retrytest.Script(errOp), 2, []time.Duration{s}, errOp, retry.ErrMaxElapsed},
		{"budget refuses", retry.Policy{Budget: &awspreset.TokenBudget{Capacity: 14}, MaxAttempts: 9}, retrytest.Script(errOp), 2, []time.Duration{s}, errOp, retry.ErrBudget},
		{"hint is longer", retry.Policy{Hint: retry.HintAtLeast{Exact: true}}, retrytest.Script(retry.After(errOp, 5*s), nil), 2, []time.Duration{5 * s}, nil, nil},
		{"hint is shorter", retry.Policy{}, retrytest.Script(retry.After(errOp, s/2), nil), 2, []time.Duration{s}, nil, nil},
		{"hint of 55 years", retry.Policy{Hint: retry.HintAtLeast{Exact: true}}, retrytest.Script(retry.After(errOp, 1743434408*s), nil), 2, []time.Duration{time.Hour}, nil, nil},
		{"hint is ignored", retry.Policy{Hint: retry.HintIgnore{}}, retrytest.Script(retry.After(errOp, 5*s), nil), 2, []time.Duration{s}, nil, nil},
		{"hint is too long", retry.Policy{Hint: retry.HintOrGiveUp{Max: 4 * s}}, retrytest.Script(retry.After(errOp, 5*s), nil), 1, nil, errOp, retry.ErrHint},
		{"a negative delay ends the call", retry.Policy{Backoff: retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return -s })}, retrytest.Fail(1, errOp), 1, nil, errOp, retry.ErrBackoff},
		{"a negative wait of a hint rule is 0", retry.Policy{Hint: hintFunc(func(_, _ time.Duration) (time.Duration, bool) { return -s, true })}, retrytest.Script(retry.After(errOp, s), nil), 2, []time.Duration{0}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := &retrytest.Clock{}
			tt.policy.Clock = clock
			if tt.policy.Backoff == nil {
				tt.policy.Backoff = retry.Exponential{Base: s}
			}
			err := retry.Do(t.Context(), tt.policy, tt.op.Run)
			assert.Equal(t, tt.calls, tt.op.Calls())
			assert.Equal(t, tt.waits, clock.Waits())
			if tt.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.err)
			e, gaveUp := errors.AsType[*retry.Error](err)
			require.Equal(t, tt.reason != nil, gaveUp, "%v", err)
			if gaveUp {
				assert.ErrorIs(t, err, tt.reason)
				assert.Equal(t, tt.calls, e.Attempts)
			}
		})
	}
}

// TestUnrepeatable: an unrepeatable failure neither takes nor returns tokens, because it
// shows nothing about the resource.
func TestUnrepeatable(t *testing.T) {
	bucket := &awspreset.TokenBudget{Capacity: 20, Deficit: 10, Costs: awspreset.TokenCosts{Transient: 5}}
	p, _ := onClock(3)
	p.Budget = bucket
	require.ErrorIs(t, retry.Do(t.Context(), p, retrytest.Script(retry.Unrepeatable(errOp)).Run), retry.ErrUnrepeatable)
	assert.Equal(t, 10., bucket.Balance())
	require.ErrorIs(t, retry.Do(t.Context(), p, retrytest.Script(errOp, retry.Unrepeatable(errOp)).Run), retry.ErrUnrepeatable)
	assert.Equal(t, 5., bucket.Balance(), "only the retry before it takes tokens")
}

func TestAnyDelay(t *testing.T) {
	for _, d := range []time.Duration{0, forever} {
		rule := retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return d })
		calls, waits, err := play(t, retry.Policy{Backoff: rule}, errOp)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, 3, calls)
		assert.Equal(t, []time.Duration{d, d}, waits)
	}
}

// TestLongWaits: the longest waits do not overflow when compared with the time left.
func TestLongWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		delay, limit, deadline time.Duration
		calls                  int
		reason                 error
	}{
		"time limit": {forever, time.Second, 0, 1, retry.ErrMaxElapsed},
		"deadline":   {forever, 0, time.Hour, 1, context.DeadlineExceeded},
		// An attempt takes 300 ms and a wait 400 ms.
		"to the nanosecond":        {400 * ms, 700 * ms, 0, 2, retry.ErrMaxElapsed},
		"one nanosecond too short": {400 * ms, 700*ms - 1, 0, 1, retry.ErrMaxElapsed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, clock, calls := t.Context(), &retrytest.Clock{}, 0
			if tt.deadline != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			p := retry.Policy{Backoff: retry.Constant(tt.delay), MaxElapsed: tt.limit, Clock: clock}
			err := retry.Do(ctx, p, func(context.Context) error {
				calls++
				clock.Advance(300 * ms)
				return errOp
			})
			assert.Equal(t, tt.calls, calls)
			assert.Len(t, clock.Waits(), tt.calls-1)
			assert.ErrorIs(t, err, errOp)
			assert.ErrorIs(t, err, tt.reason)
			assert.Equal(t, tt.delay, asError(t, err).Next)
		})
	}
	// Two of the longest waits exceed the longest time limit.
	calls, waits, err := play(t, retry.Policy{Backoff: retry.Constant(forever), MaxElapsed: forever}, errOp)
	assert.ErrorIs(t, err, retry.ErrMaxElapsed)
	assert.Equal(t, 2, calls)
	assert.Equal(t, []time.Duration{forever}, waits)
}

// TestBackoffGetsAttempt: a Backoff receives all facts about the attempt.
func TestBackoffGetsAttempt(t *testing.T) {
	var seen []retry.Attempt
	var us []float64
	p, _ := onClock(3)
	p.Rand = retrytest.Replay(0.25, 0.75)
	p.Backoff = retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
		seen, us = append(seen, a), append(us, u)
		return time.Duration(a.Number) * time.Second
	})
	busy := retry.After(retry.Throttled(errOp), time.Minute)
	_ = retry.Do(t.Context(), p, retrytest.Script(errOp, busy).Run)
	assert.Equal(t, []retry.Attempt{
		{Number: 1, Err: errOp},
		{Number: 2, Waited: time.Second, Err: busy, Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: time.Minute}},
	}, seen)
	assert.Equal(t, []float64{0.25, 0.75}, us)
}

func TestDoValue(t *testing.T) {
	p, _ := onClock(3)
	calls := 0
	v, err := retry.DoValue(t.Context(), p, func(context.Context) (int, error) {
		if calls++; calls < 3 {
			return calls, errOp
		}
		return calls, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 3, v)

	v, err = retry.DoValue(t.Context(), p, func(context.Context) (int, error) { return 7, errOp })
	require.ErrorIs(t, err, errOp)
	assert.Equal(t, 7, v, "the last value is returned with the error")

	dead, cancel := context.WithCancel(t.Context())
	cancel()
	v, err = retry.DoValue(dead, p, func(context.Context) (int, error) { return 7, nil })
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, v)
}

// TestRefused: an invalid call is refused before the operation runs, with all faults
// in one error.
func TestRefused(t *testing.T) {
	ran := false
	op := func(context.Context) error { ran = true; return nil }
	bad := retry.Policy{MaxAttempts: -1, MaxElapsed: -time.Second, AttemptTimeout: -time.Minute}
	err := retry.Do(t.Context(), bad, op)
	require.ErrorIs(t, err, retry.ErrInvalid)
	assert.EqualError(t, err, "invalid retry call: MaxAttempts is negative (-1); MaxElapsed is negative (-1s); AttemptTimeout is negative (-1m0s)")

	var none context.Context
	err = retry.Do(none, retry.Policy{}, op)
	require.ErrorIs(t, err, retry.ErrInvalid)
	assert.EqualError(t, err, "invalid retry call: the context is nil")

	err = retry.Do(t.Context(), retry.Policy{}, nil)
	require.ErrorIs(t, err, retry.ErrInvalid)
	assert.EqualError(t, err, "invalid retry call: the operation is nil")

	for _, p := range []retry.Policy{{MaxAttempts: -1}, {MaxAttempts: math.MinInt}, {MaxElapsed: -1}, {AttemptTimeout: -1}} {
		assert.ErrorIs(t, retry.Do(t.Context(), p, op), retry.ErrInvalid, "%+v", p)
	}

	_, err = retry.DoValue[int](none, retry.Policy{MaxAttempts: -2}, nil)
	assert.EqualError(t, err, "invalid retry call: MaxAttempts is negative (-2); the context is nil; the operation is nil")
	assert.False(t, ran)
}

func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var classes []retry.Class
		p := retry.Policy{
			Backoff:        retry.Constant(time.Second),
			AttemptTimeout: 3 * time.Second,
			Hooks:          retry.Hooks{OnRetry: func(_ context.Context, a retry.Attempt, _ time.Duration) { classes = append(classes, a.Class) }},
		}
		start, calls := time.Now(), 0
		err := retry.Do(t.Context(), p, func(ctx context.Context) error {
			if calls++; calls == 3 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(start))
		assert.Equal(t, []retry.Class{retry.ClassTimeout, retry.ClassTimeout}, classes)
	})
}

// TestSinceFailure: the time is measured from the end of the first attempt, whatever the
// policy.
func TestSinceFailure(t *testing.T) {
	p, clock := onClock(3)
	slow := func(context.Context) error { clock.Advance(10 * time.Second); return errOp }
	e := asError(t, retry.Do(t.Context(), p, slow))
	assert.Equal(t, 23*time.Second, e.SinceFailure)
	p.Budget = &awspreset.TokenBudget{}
	e = asError(t, retry.Do(t.Context(), p, slow))
	assert.Equal(t, 23*time.Second, e.SinceFailure, "a Budget makes no difference")
	p.MaxElapsed = time.Hour
	e = asError(t, retry.Do(t.Context(), p, slow))
	assert.Equal(t, 23*time.Second, e.SinceFailure, "a MaxElapsed makes no difference")
	p.MaxElapsed = 22 * time.Second
	e = asError(t, retry.Do(t.Context(), p, slow))
	assert.ErrorIs(t, e, retry.ErrMaxElapsed)
	assert.Equal(t, 11*time.Second, e.SinceFailure, "MaxElapsed includes the attempts, and two attempts leave no time for the second wait")
	assert.Equal(t, 2*time.Second, e.Next)
}

// tickingClock advances by a second with each reading.
type tickingClock struct{ retrytest.Clock }

func (c *tickingClock) Now() time.Time {
	c.Advance(time.Second)
	return c.Clock.Now()
}

// TestSinceFailureOfOneAttempt: the time is 0 for a call with at most one attempt, and such
// a call does not read the clock unless the policy has a MaxElapsed.
func TestSinceFailureOfOneAttempt(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		err    error
	}{
		"attempts":     {retry.Policy{MaxAttempts: 1}, errOp},
		"unrepeatable": {retry.Policy{}, retry.Unrepeatable(errOp)},
		"budget":       {retry.Policy{Budget: refusing(func() {})}, errOp},
		"hint":         {retry.Policy{Hint: retry.HintOrGiveUp{Max: 1}}, retry.After(errOp, time.Hour)},
		"limiter":      {retry.Policy{Limiter: limiterFunc(func(context.Context) error { return errCause })}, errOp},
		"permanent":    {retry.Policy{}, retry.Permanent(errOp)},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &tickingClock{}
			start := clock.Clock.Now()
			tt.policy.Clock = clock
			elapsed := time.Duration(-1)
			tt.policy.OnGiveUp = func(_ context.Context, e *retry.Error) { elapsed = e.SinceFailure }
			assert.Error(t, retry.Do(t.Context(), tt.policy, retrytest.Script(tt.err).Run))
			assert.Zero(t, elapsed)
			assert.Equal(t, start, clock.Clock.Now(), "the clock was read")
		})
	}
	t.Run("with MaxElapsed", func(t *testing.T) {
		p := retry.Policy{MaxAttempts: 1, MaxElapsed: time.Hour, Clock: &tickingClock{}}
		assert.Zero(t, asError(t, retry.Do(t.Context(), p, fails)).SinceFailure)
	})
}

// TestMaxElapsedAlone: without MaxAttempts, the time bounds the attempts, unless nothing
// waits.
func TestMaxElapsedAlone(t *testing.T) {
	half := retrytest.Fixed(0.5)
	for name, tt := range map[string]struct {
		policy   retry.Policy
		err      error
		attempts int
		reason   error
	}{
		"a second":           {retry.Policy{MaxElapsed: time.Second}, errOp, 6, retry.ErrMaxElapsed},
		"ten seconds":        {retry.Policy{MaxElapsed: 10 * time.Second}, errOp, 9, retry.ErrMaxElapsed},
		"a minute":           {retry.Policy{MaxElapsed: time.Minute}, errOp, 14, retry.ErrMaxElapsed},
		"ten minutes":        {retry.Policy{MaxElapsed: 10 * time.Minute}, errOp, 68, retry.ErrMaxElapsed},
		"both":               {retry.Policy{MaxElapsed: time.Minute, MaxAttempts: 5}, errOp, 5, retry.ErrMaxAttempts},
		"no delay":           {retry.Policy{MaxElapsed: time.Minute, Backoff: retry.NoDelay{}}, errOp, 3, retry.ErrMaxAttempts},
		"constant 0":         {retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Constant(0)}, errOp, 3, retry.ErrMaxAttempts},
		"no delay, hints":    {retry.Policy{MaxElapsed: time.Minute, Backoff: retry.NoDelay{}}, retry.After(errOp, 20*time.Second), 4, retry.ErrMaxElapsed},
		"hints that are cut": {retry.Policy{MaxElapsed: time.Minute, Hint: noWait{}}, retry.After(errOp, 20*time.Second), 3, retry.ErrMaxAttempts},
		"a wait, then none":  {retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Linear{Step: 20 * time.Second}}, errOp, 4, retry.ErrMaxElapsed},
		"a schedule":         {retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Schedule{0, 0, 0, 0, time.Second}}, errOp, 6, retry.ErrMaxAttempts},
	} {
		t.Run(name, func(t *testing.T) {
			tt.policy.Rand = half
			calls, waits, err := play(t, tt.policy, tt.err)
			assert.ErrorIs(t, err, tt.reason)
			assert.Equal(t, tt.attempts, calls)
			if tt.err == errOp && tt.policy.Hint == nil {
				assert.Len(t, slices.Collect(tt.policy.Delays()), len(waits), "Delays ends where Do does")
			}
		})
	}
	t.Run("a clock that stands still", func(t *testing.T) {
		p := retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Constant(10 * time.Second), Clock: noClock{}}
		e := asError(t, retry.Do(t.Context(), p, fails))
		assert.Equal(t, retry.ErrMaxElapsed, e.Reason)
		assert.Equal(t, 7, e.Attempts)
	})
}

// noWait is a HintRule that never waits after a hint.
type noWait struct{}

func (noWait) Wait(time.Duration, time.Duration) (time.Duration, bool) { return 0, true }

func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestPanicOfOperation: the operation's panic passes through; timers and budgets keep
// working.
func TestPanicOfOperation(t *testing.T) {
	bucket := &awspreset.TokenBudget{}
	var ended []error
	p, _ := onClock(3)
	p.Budget = bucket
	p.AttemptTimeout = time.Hour
	p.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, func(a retry.Attempt) { ended = append(ended, a.Err) }
	}
	var inner context.Context
	calls := 0
	v := recovered(func() {
		_ = retry.Do(t.Context(), p, func(ctx context.Context) error {
			inner = ctx
			if calls++; calls == 2 {
				panic("boom")
			}
			return errOp
		})
	})
	assert.Equal(t, "boom", v)
	assert.Equal(t, []error{errOp, retry.ErrNoReturn}, ended)
	assert.Error(t, inner.Err(), "the attempt's timer is stopped")
	assert.Equal(t, 486., bucket.Balance(), "a panic makes no deposit, and the budget still works")
	require.NoError(t, retry.Do(t.Context(), p, retrytest.Fail(1, errOp).Run))
	assert.Equal(t, 486., bucket.Balance())
}

// TestGoexitInOperation: Goexit in the operation ends the caller's goroutine.
func TestGoexitInOperation(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer close(done)
		p, _ := onClock(3)
		_ = retry.Do(t.Context(), p, func(context.Context) error { runtime.Goexit(); return nil })
		t.Error("Do returned")
	}()
	<-done
}

// TestPanicOfPolicy: if a function of the policy panics, the panic continues with an
// error that keeps the operation's failure.
func TestPanicOfPolicy(t *testing.T) {
	boom := errors.New("boom")
	policies := map[string]retry.Policy{
		"Classifier": {Classifier: retry.ClassifierFunc(func(error) retry.Verdict { panic(boom) })},
		"Backoff":    {Backoff: retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { panic(boom) })},
		"Rand":       {Rand: func() float64 { panic(boom) }},
		"Clock":      {Clock: panickyClock{boom}},
		"OnRetry":    {Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { panic(boom) }}},
		"OnGiveUp":   {MaxAttempts: 1, Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) { panic(boom) }}},
		"OnAttempt's callback": {Hooks: retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			return ctx, func(retry.Attempt) { panic(boom) }
		}}},
	}
	for name, p := range policies {
		t.Run("of "+name, func(t *testing.T) {
			if p.Clock == nil {
				p.Clock = &retrytest.Clock{}
			}
			v := recovered(func() { _ = retry.Do(t.Context(), p, retrytest.Script(errOp).Run) })
			e, ok := v.(error)
			require.True(t, ok, "%v", v)
			assert.ErrorIs(t, e, errOp)
			assert.ErrorIs(t, e, boom)
			assert.EqualError(t, e, "panic in a function of the retry policy: boom (while handling: operation failed)")
		})
	}
	t.Run("of a hook before anything failed", func(t *testing.T) {
		p := retry.Policy{Hooks: retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { panic("early") }}}
		assert.Equal(t, "early", recovered(func() { _ = retry.Do(t.Context(), p, retrytest.Script().Run) }))
	})
	t.Run("with a value that is not an error", func(t *testing.T) {
		p := retry.Policy{Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { panic("text") }}}
		v := recovered(func() { _ = retry.Do(t.Context(), p, retrytest.Script(errOp).Run) })
		e, ok := v.(error)
		require.True(t, ok, "%v", v)
		assert.ErrorIs(t, e, errOp)
		assert.ErrorContains(t, e, "text")
	})
}

// TestAttemptContextEnds: an attempt's context ends with the attempt, even after a panic,
// so that its timer does not keep running.
func TestAttemptContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Policy{Backoff: retry.Constant(time.Second), AttemptTimeout: time.Hour}
		var last context.Context
		calls := 0
		assert.NoError(t, retry.Do(t.Context(), p, func(ctx context.Context) error {
			if last != nil {
				assert.ErrorIs(t, last.Err(), context.Canceled)
			}
			last = ctx
			if calls++; calls < 3 {
				return errOp
			}
			return nil
		}))
		assert.ErrorIs(t, last.Err(), context.Canceled)
		assert.Panics(t, func() {
			_ = retry.Do(t.Context(), p, func(ctx context.Context) error {
				last = ctx
				panic("operation")
			})
		})
		assert.ErrorIs(t, last.Err(), context.Canceled)
	})
}

// TestAttemptTimeoutClass: an attempt that its own limit ended has the class Timeout,
// unless its error is marked or is a response, or a Classifier decides otherwise.
func TestAttemptTimeoutClass(t *testing.T) {
	gaveUp := func(reason error) error { return &retry.Error{Err: errOp, Reason: reason, Attempts: 1} }
	for name, tt := range map[string]struct {
		err  error
		want retry.Class
	}{
		"a plain error":                     {errors.New("signal: killed"), retry.ClassTimeout},
		"the context's own":                 {context.DeadlineExceeded, retry.ClassTimeout},
		"an inner call gave up for it":      {fmt.Errorf("get: %w", gaveUp(context.DeadlineExceeded)), retry.ClassTimeout},
		"an inner call was canceled by it":  {gaveUp(context.Canceled), retry.ClassTimeout},
		"an inner call gave up before":      {gaveUp(retry.ErrMaxAttempts), retry.ClassUnknown},
		"an inner call was unrepeatable":    {&retry.Error{Err: retry.Unrepeatable(errOp), Reason: context.DeadlineExceeded}, retry.ClassTimeout},
		"a query canceled by the limit":     {sqlError{"57014"}, retry.ClassTimeout},
		"marked":                            {retry.Permanent(errOp), retry.ClassPermanent},
		"marked as throttled":               {retry.Throttled(errOp), retry.ClassThrottled},
		"a response at the last moment":     {statusedError(404), retry.ClassPermanent},
		"a retry with a hint":               {retry.After(errOp, time.Second), retry.ClassTimeout},
		"an inner call that was refused":    {retry.ErrInvalid, retry.ClassPermanent},
		"canceled by what the limit closed": {context.Canceled, retry.ClassTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen []retry.Attempt
				policy := retry.Policy{AttemptTimeout: 1, MaxAttempts: 2}.With(retry.Hooks{
					OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
						return ctx, func(a retry.Attempt) { seen = append(seen, a) }
					},
				})
				_ = retry.Do(t.Context(), policy, func(ctx context.Context) error {
					<-ctx.Done()
					return tt.err
				})
				assert.Equal(t, tt.want, seen[0].Class)
				retried := tt.want != retry.ClassPermanent && !seen[0].Unrepeatable && !seen[0].GaveUp
				assert.Equal(t, retried, len(seen) == 2, "%d attempts", len(seen))
			})
		})
	}
}

// TestAttemptTimeoutIsVisible: the error of an attempt that was too long says so, to every
// Classifier, to hooks and to the caller.
func TestAttemptTimeoutIsVisible(t *testing.T) {
	killed := errors.New("signal: killed")
	op := func(ctx context.Context) error { <-ctx.Done(); return killed }
	synctest.Test(t, func(t *testing.T) {
		var seen error
		p := retry.Policy{AttemptTimeout: time.Second, MaxAttempts: 2}.With(afterAttempts(func(a retry.Attempt) { seen = a.Err }))
		err := retry.Do(t.Context(), p, op)
		assert.EqualError(t, err, "gave up after 2 attempts (all attempts used): attempt exceeded 1s: signal: killed")
		assert.ErrorIs(t, err, killed)
		assert.True(t, os.IsTimeout(asError(t, err).Err))
		assert.Equal(t, asError(t, err).Err, seen)
	})
	for name, tt := range map[string]struct {
		classifier retry.Classifier
		calls      int
	}{
		"a list without timeouts": {retry.OnlyIf(func(error) bool { return false }), 1},
		"a list with timeouts":    {retry.OnlyIf(os.IsTimeout), 2},
		"one's own":               {retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassPermanent} }), 1},
		"an SDK's":                {awspreset.Standard21.Policy("").Classifier, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				err := retry.Do(t.Context(), retry.Policy{AttemptTimeout: time.Second, MaxAttempts: 2, Classifier: tt.classifier}, func(ctx context.Context) error {
					calls++
					return op(ctx)
				})
				assert.Equal(t, tt.calls, calls)
				if tt.calls == 1 {
					assert.Equal(t, killed, err, "a permanent error is returned as it is")
				}
			})
		})
	}
}

// TestAttemptTimeoutOfOthers: failures before the limit are classified as usual, as are
// failures caused by the caller's context or by the give-up of an inner call.
func TestAttemptTimeoutOfOthers(t *testing.T) {
	never := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassPermanent} })
	t.Run("a failure before the limit is classified", func(t *testing.T) {
		op := retrytest.Script(errOp)
		assert.Equal(t, errOp, retry.Do(t.Context(), retry.Policy{AttemptTimeout: time.Hour, Classifier: never}, op.Run))
		assert.Equal(t, 1, op.Calls())
	})
	t.Run("the caller's deadline is not the limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := retry.Do(ctx, retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) error { <-ctx.Done(); return errOp })
			assert.ErrorIs(t, asError(t, err).Reason, context.DeadlineExceeded)
			assert.Equal(t, 1, asError(t, err).Attempts)
		})
	})
	t.Run("a plain error without a classifier", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []retry.Class
			p := retry.Policy{AttemptTimeout: time.Second, MaxAttempts: 2}.With(afterAttempts(func(a retry.Attempt) { seen = append(seen, a.Class) }))
			_ = retry.Do(t.Context(), p, func(ctx context.Context) error {
				if len(seen) == 0 {
					<-ctx.Done()
				}
				return errOp
			})
			assert.Equal(t, []retry.Class{retry.ClassTimeout, retry.ClassUnknown}, seen)
		})
	})
	t.Run("a failure as the caller's context ends is classified", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var seen retry.Attempt
			p := retry.Policy{AttemptTimeout: time.Minute}.With(afterAttempts(func(a retry.Attempt) { seen = a }))
			_ = retry.Do(ctx, p, func(ctx context.Context) error { <-ctx.Done(); return errOp })
			assert.Equal(t, retry.ClassUnknown, seen.Class)
		})
	})
	t.Run("an inner call is retried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			assert.NoError(t, retry.Do(t.Context(), retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) error {
				if calls++; calls == 3 {
					return nil
				}
				return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { <-ctx.Done(); return errOp })
			}))
			assert.Equal(t, 3, calls)
		})
	})
}

// TestInnerWaitBeyondLimit: an inner call that gives up because its wait would outlast the
// outer call's AttemptTimeout is retried. If another limit forbids the wait, too, it is
// not.
func TestInnerWaitBeyondLimit(t *testing.T) {
	const s = time.Second
	inner := func(ctx context.Context) error {
		return retry.Do(ctx, retry.Policy{Backoff: retry.Constant(400 * ms), MaxAttempts: retry.Unlimited}, fails)
	}
	hurried := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 500*ms)
		defer cancel()
		return inner(ctx)
	}
	waiting := func(wait time.Duration) func(context.Context) error {
		return func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, s)
			defer cancel()
			return retry.Do(ctx, retry.Policy{Backoff: retry.Constant(wait)}, fails)
		}
	}
	for name, tt := range map[string]struct {
		limit, deadline time.Duration
		op              func(context.Context) error
		attempts        int
		text            string
	}{
		"the limit":                {s, 0, inner, 3, "gave up after 3 attempts (all attempts used): attempt exceeded 1s: gave up after 3 attempts (wait would outlast the context: context deadline exceeded, next wait 400ms): operation failed"},
		"the limit, of a list":     {s, 0, func(ctx context.Context) error { return errors.Join(errOp, inner(ctx)) }, 3, ""},
		"a shorter deadline of op": {s, 0, hurried, 1, "gave up after 2 attempts (wait would outlast the context: context deadline exceeded, next wait 400ms): operation failed"},
		"a shorter deadline of op, a wait within the limit": {2 * s, 0, waiting(1500 * ms), 1, ""},
		"a shorter deadline of op, a wait beyond the limit": {2 * s, 0, waiting(3 * s), 1, ""},
		"the caller's deadline":                             {time.Minute, s, inner, 1, ""},
		"the caller's deadline at the end of the wait":      {s, 1200 * ms, inner, 1, ""},
		"the caller's deadline after the wait":              {s, 1300 * ms, inner, 2, ""},
		"both":                                              {s, 1100 * ms, inner, 1, ""},
		"no limit":                                          {0, s, inner, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				calls := 0
				err := retry.Do(ctx, retry.Policy{AttemptTimeout: tt.limit, Backoff: retry.NoDelay{}}, func(ctx context.Context) error {
					calls++
					return tt.op(ctx)
				})
				assert.Equal(t, tt.attempts, calls)
				if tt.text != "" {
					assert.EqualError(t, err, tt.text)
				}
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}

// TestJoinedGiveUps: inner calls that gave up because of the outer call's AttemptTimeout are
// retried together, unless one of them gave up for another reason.
func TestJoinedGiveUps(t *testing.T) {
	lateWith := func(err error) func(context.Context) error {
		return func(ctx context.Context) error {
			return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { <-ctx.Done(); return err })
		}
	}
	late := lateWith(errOp)
	tired := func(context.Context) error {
		return retry.Do(context.Background(), retry.Policy{MaxAttempts: 1}, fails)
	}
	for name, tt := range map[string]struct {
		first, second func(context.Context) error
		attempts      int
	}{
		"late, unrepeatable": {lateWith(retry.Unrepeatable(errOp)), late, 1},
		"late twice":         {late, late, 3},
		"tired, then late":   {tired, late, 1},
		"late, then tired":   {late, tired, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				err := retry.Do(t.Context(), retry.Policy{AttemptTimeout: time.Second, Backoff: retry.NoDelay{}}, func(ctx context.Context) error {
					calls++
					return errors.Join(tt.first(ctx), tt.second(ctx))
				})
				assert.Error(t, err)
				assert.Equal(t, tt.attempts, calls)
			})
		})
	}
}

// TestProgress: counting restarts after progress, and Error.Attempts remains the
// total.
func TestProgress(t *testing.T) {
	progress := retry.Progress(errOp)
	t.Run("attempts and delays", func(t *testing.T) {
		p, clock := onClock(3)
		p.Backoff = retry.Exponential{Base: time.Second}
		var numbers []int
		p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
			numbers = append(numbers, failed.Number)
		}
		err := asError(t, retry.Do(t.Context(), p, retrytest.Script(errOp, errOp, progress, errOp, progress, errOp, errOp).Run))
		s := time.Second
		assert.Equal(t, []time.Duration{s, 2 * s, s, 2 * s, s, 2 * s}, clock.Waits())
		assert.Equal(t, []int{1, 2, 1, 2, 1, 2}, numbers)
		assert.Equal(t, 7, err.Attempts)
		assert.Equal(t, retry.ErrMaxAttempts, err.Reason)
	})
	t.Run("time", func(t *testing.T) {
		p, clock := onClock(retry.Unlimited)
		p.Backoff, p.MaxElapsed = retry.Constant(time.Second), 3*time.Second
		err := asError(t, retry.Do(t.Context(), p, retrytest.Script(errOp, errOp, errOp, progress, errOp).Run))
		assert.Len(t, clock.Waits(), 6)
		assert.Equal(t, 6*time.Second, err.SinceFailure)
		assert.Equal(t, retry.ErrMaxElapsed, err.Reason)
	})
	t.Run("as long as the limit", func(t *testing.T) {
		p, clock := onClock(retry.Unlimited)
		var waited []time.Duration
		p.MaxElapsed, p.Backoff = time.Second, retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
			waited = append(waited, a.Waited)
			return time.Second
		})
		require.NoError(t, retry.Do(t.Context(), p, retrytest.Script(progress, progress, nil).Run))
		assert.Len(t, clock.Waits(), 2)
		assert.Equal(t, []time.Duration{0, 0}, waited)
	})
	t.Run("the previous wait", func(t *testing.T) {
		p, clock := onClock(9)
		p.Backoff, p.Rand = retry.DecorrelatedJitter{Base: time.Second}, retrytest.Fixed(0.5)
		_ = retry.Do(t.Context(), p, retrytest.Script(errOp, errOp, progress, nil).Run)
		s := clock.Waits()
		assert.Equal(t, s[0], s[2])
		assert.Greater(t, s[1], s[0])
	})
	t.Run("other markers", func(t *testing.T) {
		p, _ := onClock(3)
		assert.Equal(t, 1, asPermanent(t, p, retry.Progress(retry.Permanent(errOp))))
		assert.ErrorIs(t, retry.Do(t.Context(), p, retrytest.Script(retry.Unrepeatable(progress)).Run), retry.ErrUnrepeatable)
		a := p.Classify(retry.Progress(retry.After(retry.Throttled(errOp), time.Minute)))
		assert.Equal(t, retry.ClassThrottled, a.Class)
		assert.Equal(t, time.Minute, a.Hint)
		assert.True(t, a.Progress)
		assert.False(t, p.Classify(errOp).Progress)
	})
	t.Run("budget", func(t *testing.T) {
		p, _ := onClock(retry.Unlimited)
		budget := &awspreset.TokenBudget{Capacity: 20}
		p.Budget = budget
		script := retrytest.Script(progress)
		ended := errors.New("enough")
		calls := 0
		err := retry.Do(t.Context(), p, func(ctx context.Context) error {
			if calls++; calls == 1000 {
				return retry.Permanent(ended)
			}
			return script.Run(ctx)
		})
		assert.ErrorIs(t, err, ended)
		assert.GreaterOrEqual(t, budget.Balance(), 6.)
	})
}

// deposits is a budget that allows everything and records the deposits.
type deposits []string

func (*deposits) TryWithdraw(retry.Attempt) bool { return true }
func (b *deposits) Deposit(paid retry.Attempt, err error) {
	*b = append(*b, fmt.Sprint(paid.Number, " ", paid.Class, " ", err))
}

// TestNoAnswerPaysNothing: a cancellation of the operation's own and the give-up of an inner
// loop end a call, and make no deposit.
func TestNoAnswerPaysNothing(t *testing.T) {
	for _, err := range []error{context.Canceled, fmt.Errorf("get: %w", context.Canceled), &retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts}} {
		var budget deposits
		calls, _, got := play(t, retry.Policy{Budget: &budget}, err)
		assert.Equal(t, err, got)
		assert.Equal(t, 1, calls)
		assert.Empty(t, budget)
	}
}

// TestProgressPaysOnce: progress makes the deposit for the last retry, and the end of the
// call does not repeat that deposit.
func TestProgressPaysOnce(t *testing.T) {
	for _, end := range []error{nil, retry.Permanent(errOp)} {
		var budget deposits
		_, _, _ = play(t, retry.Policy{Budget: &budget}, retry.Throttled(errOp), retry.Progress(errOp), end)
		assert.Equal(t, deposits{"1 throttled <nil>", fmt.Sprint("1 unknown ", end)}, budget)
	}
	var budget deposits
	_, _, _ = play(t, retry.Policy{Budget: &budget}, retry.Throttled(errOp), retry.Progress(retry.Permanent(errOp)))
	assert.Equal(t, deposits{"1 throttled <nil>", fmt.Sprint("0 unknown ", errOp)}, budget)
}

// asPermanent checks that the operation's error is returned unchanged, and returns the
// number of calls.
func asPermanent(t *testing.T, p retry.Policy, err error) int {
	t.Helper()
	op := retrytest.Script(err)
	assert.Equal(t, err, retry.Do(t.Context(), p, op.Run))
	return op.Calls()
}
