package retry_test

// These tests check how calls end when their context ends.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// TestContextEnds covers the moments at which a context can end.
// A contextCase is a call with waits of 10 s and a context that ends.
type contextCase struct {
	name    string
	timeout time.Duration // 0: none
	cancel  time.Duration // below 0: before the call, 0: never
	hint    time.Duration
	takes   time.Duration // duration of each attempt

	calls   int
	until   time.Duration
	is      error
	isCause bool // the cause of a deadline is unknown before it passes
}

func TestContextEnds(t *testing.T) {
	const s = time.Second
	for _, tt := range []contextCase{
		{name: "canceled before the call", cancel: -1,
			calls: 0, until: 0, is: context.Canceled, isCause: true},
		{name: "deadline before the call", timeout: -1,
			calls: 0, until: 0, is: context.DeadlineExceeded, isCause: true},
		{name: "canceled in an attempt", cancel: s, takes: 2 * s,
			calls: 1, until: 2 * s, is: context.Canceled, isCause: true},
		{name: "deadline in an attempt", timeout: s / 10, takes: s,
			calls: 1, until: s, is: context.DeadlineExceeded, isCause: true},
		{name: "canceled in the first wait", cancel: 3 * s,
			calls: 1, until: 3 * s, is: context.Canceled, isCause: true},
		{name: "canceled in the second wait", cancel: 14 * s,
			calls: 2, until: 14 * s, is: context.Canceled, isCause: true},
		{name: "deadline in the first wait", timeout: s / 10,
			calls: 1, until: 0, is: context.DeadlineExceeded},
		{name: "deadline in a wait for a hint", timeout: 15 * s, hint: time.Minute,
			calls: 1, until: 0, is: context.DeadlineExceeded},
		{name: "deadline in the first wait, counted from the end of the attempt", timeout: 15 * s, takes: 6 * s,
			calls: 1, until: 6 * s, is: context.DeadlineExceeded},
		{name: "deadline in the second wait", timeout: 15 * s,
			calls: 2, until: 10 * s, is: context.DeadlineExceeded},
		{name: "deadline in the third wait", timeout: 25 * s,
			calls: 3, until: 20 * s, is: context.DeadlineExceeded},
		{name: "deadline exactly at the end of the second wait", timeout: 20 * s,
			calls: 2, until: 10 * s, is: context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// With a bare policy, Do makes the first attempt without the loop.
			t.Run("bare", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { tt.check(t, retry.Policy{MaxAttempts: 5}) })
			})
			t.Run("with everything", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					bucket := new(awspreset.TokenBudget)
					p := retry.Policy{MaxAttempts: 5, Budget: bucket, MaxElapsed: time.Hour, AttemptTimeout: time.Hour}
					p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { return nil, nil }
					p.Limiter = limiterFunc(func(context.Context) error { return nil })
					tt.check(t, p)
					if tt.cancel <= 0 {
						assert.Equal(t, 500-14*float64(max(0, tt.calls-1)), bucket.Balance(), "only waits that begin are paid for")
					}
				})
			})
		})
	}
}

func (tt contextCase) check(t *testing.T, p retry.Policy) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if tt.timeout != 0 {
		var release context.CancelFunc
		ctx, release = context.WithTimeoutCause(ctx, tt.timeout, errCause)
		defer release()
	}
	switch {
	case tt.cancel < 0:
		cancel(errCause)
	case tt.cancel > 0:
		time.AfterFunc(tt.cancel, func() { cancel(errCause) })
	}
	calls, start := 0, time.Now()
	p.Backoff = retry.Constant(10 * time.Second)
	err := retry.Do(ctx, p, func(context.Context) error {
		calls++
		time.Sleep(tt.takes)
		return retry.After(errOp, tt.hint)
	})
	assert.Equal(t, tt.until, time.Since(start))
	assert.Equal(t, tt.calls, calls)
	assert.Equal(t, tt.calls, asError(t, err).Attempts)
	assert.ErrorIs(t, err, tt.is)
	if tt.cancel > 0 {
		assert.Zero(t, asError(t, err).Next, "a wait that began is not the next one")
	}
	assert.Equal(t, tt.calls > 0, errors.Is(err, errOp), "last failure")
	assert.Equal(t, tt.isCause, errors.Is(err, errCause), "cause")
}

// TestContextStates makes at most three attempts.
const (
	stateAttempts = 3
	stateTakes    = 10 * ms
	stateDelay    = 100 * ms
)

// A contextState makes a context. Its field calls is the largest number of attempts that
// the context allows.
type contextState struct {
	name  string
	make  func(context.Context) (context.Context, func())
	calls int
}

func contextStates() []contextState {
	canceled := func(after time.Duration, cause error) func(context.Context) (context.Context, func()) {
		return func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			if after < 0 {
				cancel(cause)
				return ctx, func() {}
			}
			timer := time.AfterFunc(after, func() { cancel(cause) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		}
	}
	deadline := func(after time.Duration) func(context.Context) (context.Context, func()) {
		return func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, after, errCause)
			return ctx, cancel
		}
	}
	const takes, delay = stateTakes, stateDelay
	return []contextState{
		{"alive", canceled(time.Hour, nil), stateAttempts},
		{"deadline far", deadline(time.Hour), stateAttempts},
		{"canceled before", canceled(-1, nil), 0},
		{"canceled before with a cause", canceled(-1, errCause), 0},
		{"deadline before", deadline(-1), 0},
		{"canceled in attempt 1", canceled(takes/2, errCause), 1},
		{"canceled in attempt 2", canceled(takes+delay+takes/2, nil), 2},
		{"canceled in wait 1", canceled(takes+delay/2, errCause), 1},
		{"canceled in wait 2", canceled(2*takes+delay+delay/2, errCause), 2},
		{"deadline in attempt 1", deadline(takes / 2), 1},
		{"deadline in attempt 3", deadline(2*takes + 2*delay + takes/2), 3},
		{"deadline in wait 1", deadline(takes + delay/2), 1},
		{"deadline at the end of wait 2", deadline(2*takes + 2*delay), 2},
	}
}

// A contextOp is an operation with a list of outcomes; the last outcome repeats. Its
// field calls is the number of attempts if the context does not end.
type contextOp struct {
	name     string
	outcomes []func(context.Context) error
	calls    int
}

func contextOps() []contextOp {
	always := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	failure, success, final := always(errOp), always(nil), always(retry.Permanent(errOp))
	type list = []func(context.Context) error
	return []contextOp{
		{"success", list{success}, 1},
		{"success at 2", list{failure, success}, 2},
		{"success at 3", list{failure, failure, success}, 3},
		{"failure", list{failure}, stateAttempts},
		{"permanent", list{final}, 1},
		{"permanent at 2", list{failure, final}, 2},
		{"a cancellation that is not the caller's", list{always(context.Canceled)}, 1},
		{"a deadline that is not the caller's", list{always(fmt.Errorf("get: %w", context.DeadlineExceeded))}, stateAttempts},
		{"the context's error, else success", list{func(ctx context.Context) error { return ctx.Err() }}, 1},
		{"the context's error, else failure", list{func(ctx context.Context) error { return errors.Join(errOp, ctx.Err()) }}, stateAttempts},
	}
}

// TestContextStates combines each state of a context with each outcome of an
// operation.
func TestContextStates(t *testing.T) {
	for _, state := range contextStates() {
		for _, op := range contextOps() {
			t.Run(state.name+"/"+op.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkState(t, state, op) })
			})
		}
	}
}

func checkState(t *testing.T, state contextState, op contextOp) {
	ctx, release := state.make(t.Context())
	defer release()
	calls := 0
	var last error
	lastEnd := time.Now()
	p := retry.Policy{MaxAttempts: stateAttempts, Backoff: retry.Constant(stateDelay)}
	value, err := retry.DoValue(ctx, p, func(ctx context.Context) (int, error) {
		assert.NoError(t, ctx.Err(), "the context has ended before the attempt")
		calls++
		time.Sleep(stateTakes)
		last = op.outcomes[min(calls, len(op.outcomes))-1](ctx)
		lastEnd = time.Now()
		return calls, last
	})
	assert.Equal(t, min(state.calls, op.calls), calls)
	assert.Equal(t, calls, value)
	assert.Equal(t, calls > 0 && last == nil, err == nil, "%v", err)
	if err == nil {
		return
	}
	if calls > 0 {
		assert.ErrorIs(t, err, last)
	}
	switch {
	case strings.HasPrefix(op.name, "permanent") && calls == op.calls:
		assert.Equal(t, last, err, "a permanent failure is returned unchanged")
	case ctx.Err() != nil:
		assert.ErrorIs(t, err, ctx.Err())
		assert.ErrorIs(t, err, context.Cause(ctx))
	default:
		assert.Zero(t, time.Since(lastEnd), "a wait without a retry")
	}
	if deadline, ok := ctx.Deadline(); ok {
		assert.LessOrEqual(t, time.Since(lastEnd), max(0, deadline.Sub(lastEnd)))
	}
}

// TestTimeoutOfTheOperation: an operation that reached its own time limit is retried,
// because the caller's context decides, not the type of the error.
func TestTimeoutOfTheOperation(t *testing.T) {
	const limit = 5 * ms
	for name, tt := range map[string]struct {
		timeout time.Duration // Policy.AttemptTimeout
		op      func(context.Context) error
		took    time.Duration
	}{
		"a limit for each attempt": {limit, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, 3 * limit},
		"a limit for each attempt, with its cause": {limit, func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("get: %w", context.Cause(ctx))
		}, 3 * limit},
		"a limit set by the operation": {0, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}, 3 * limit},
		"a client's limit":                {0, func(context.Context) error { return fmt.Errorf("get: %w", context.DeadlineExceeded) }, 0},
		"a limit with another error type": {0, func(context.Context) error { return os.ErrDeadlineExceeded }, 0},
		"joined with another error":       {0, func(context.Context) error { return errors.Join(errOp, context.DeadlineExceeded) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0
				err := retry.Do(t.Context(), retry.Policy{Backoff: retry.Constant(time.Second), AttemptTimeout: tt.timeout},
					func(ctx context.Context) error {
						calls++
						assert.NoError(t, ctx.Err(), "each attempt has all of its time")
						return tt.op(ctx)
					})
				assert.ErrorIs(t, err, retry.ErrMaxAttempts)
				assert.Equal(t, 3, calls)
				assert.Equal(t, tt.took+2*time.Second, time.Since(start))
			})
		})
	}
}

// lateClock ends the context at the end of a wait and reports that the wait is over, as a
// select on the two events does half of the time.
type lateClock struct {
	retrytest.Clock
	cancel context.CancelFunc
}

func (c *lateClock) Sleep(ctx context.Context, d time.Duration) error {
	err := c.Clock.Sleep(ctx, d)
	c.cancel()
	return err
}

// TestNoAttemptAfterTheContext: no attempt begins after the context has ended, whenever
// that happens.
func TestNoAttemptAfterTheContext(t *testing.T) {
	const runs = 1000
	for name, end := range map[string]func(p *retry.Policy, cancel context.CancelFunc) (inOp func()){
		"in the attempt": func(_ *retry.Policy, cancel context.CancelFunc) func() { return cancel },
		"in the hook": func(p *retry.Policy, cancel context.CancelFunc) func() {
			p.OnRetry = func(context.Context, retry.Attempt, time.Duration) { cancel() }
			return func() {}
		},
		"with the wait": func(p *retry.Policy, cancel context.CancelFunc) func() {
			p.Clock = &lateClock{cancel: cancel}
			return func() {}
		},
		"while the limiter waits": func(p *retry.Policy, cancel context.CancelFunc) func() {
			calls := 0
			p.Limiter = limiterFunc(func(context.Context) error {
				if calls++; calls == 2 {
					cancel()
				}
				return nil // ignores the context
			})
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, delay := range []retry.Constant{0, 1} {
				calls, reasons := 0, 0
				for range runs {
					ctx, cancel := context.WithCancel(context.Background())
					p := retry.Policy{Backoff: delay}
					inOp := end(&p, cancel)
					err := retry.Do(ctx, p, func(context.Context) error { calls++; inOp(); return errOp })
					if errors.Is(err, context.Canceled) && errors.Is(err, errOp) {
						reasons++
					}
					cancel()
				}
				assert.Equal(t, runs, calls, "delay %v", time.Duration(delay))
				assert.Equal(t, runs, reasons, "delay %v", time.Duration(delay))
			}
		})
	}
}

// TestCallAfterCanceledCall: a canceled call does not affect later calls with its
// policy.
func TestCallAfterCanceledCall(t *testing.T) {
	p := retry.Policy{
		Backoff: retry.NoDelay{}, Budget: new(awspreset.TokenBudget), AttemptTimeout: time.Hour,
		Limiter: limiterFunc(func(ctx context.Context) error { return ctx.Err() }),
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := retry.Do(ctx, p, func(context.Context) error { calls++; cancel(); return errOp })
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 1, calls)

		op := retrytest.Fail(1, errOp)
		assert.NoError(t, retry.Do(t.Context(), p, op.Run))
		assert.Equal(t, 2, op.Calls())
	}
}

// TestResponseBeatsContext: a failure made permanent by a marker, status or code is
// returned even if the context has ended; for any other failure the call gives up.
func TestResponseBeatsContext(t *testing.T) {
	inner := &retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts, Attempts: 3}
	for name, tt := range map[string]struct {
		err    error
		stands bool
	}{
		"marked":                  {retry.Permanent(errOp), true},
		"marked transient":        {retry.Transient(errOp), false},
		"marked inside":           {fmt.Errorf("get: %w", retry.Permanent(errOp)), true},
		"a status":                {statusedError(404), true},
		"a code":                  {sqlError{"23505"}, true},
		"a retryable status":      {statusedError(503), false},
		"a canceled query":        {sqlError{"57014"}, false},
		"a plain error":           {errOp, false},
		"unrepeatable":            {retry.Unrepeatable(errOp), false},
		"canceled":                {context.Canceled, false},
		"an inner call gave up":   {inner, false},
		"marked around a give-up": {retry.Permanent(inner), true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			budget := new(awspreset.TokenBudget)
			p := retry.Policy{Budget: budget, Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
				assert.Fail(t, "a retry after the context has ended")
			}}}
			err := retry.Do(ctx, p, func(context.Context) error { cancel(errCause); return tt.err })
			assert.Equal(t, 500., budget.Balance())
			if tt.stands {
				assert.Equal(t, tt.err, err)
				return
			}
			e := asError(t, err)
			assert.Equal(t, tt.err, e.Err)
			assert.ErrorIs(t, e.Reason, context.Canceled)
			assert.ErrorIs(t, e.Reason, errCause)
		})
	}
	t.Run("canceled by the operation itself", func(t *testing.T) {
		calls := 0
		err := retry.Do(t.Context(), retry.Policy{}, func(context.Context) error { calls++; return context.Canceled })
		assert.Equal(t, context.Canceled, err)
		assert.Equal(t, 1, calls)
	})
}

// TestLastFailureOfCanceledCall: if the context ends during an attempt, its error does not
// hide the failure before.
func TestLastFailureOfCanceledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		refused, calls := errors.New("password refused"), 0
		err := retry.Do(ctx, retry.Policy{Backoff: retry.Constant(time.Second)}, func(ctx context.Context) error {
			if calls++; calls < 3 {
				return refused
			}
			<-ctx.Done()
			return fmt.Errorf("connect: %w", ctx.Err())
		})
		assert.ErrorIs(t, err, refused)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.EqualError(t, err, "gave up after 3 attempts (context deadline exceeded): connect: context deadline exceeded, after: password refused")
	})
}

// TestInnerWaitAsLongAsAttempt: an inner wait that ends exactly with AttemptTimeout is too
// long for the attempt, and the outer call retries; one that is shorter goes on.
func TestInnerWaitAsLongAsAttempt(t *testing.T) {
	for wait, want := range map[time.Duration]struct{ outer, inner int }{
		time.Second: {3, 3}, time.Second - 1: {1, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			outer, inner := 0, 0
			err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, AttemptTimeout: time.Second}, func(ctx context.Context) error {
				outer++
				return retry.Do(ctx, retry.Policy{Backoff: retry.Constant(wait), MaxAttempts: 2}, func(context.Context) error {
					inner++
					return errOp
				})
			})
			assert.ErrorIs(t, err, errOp)
			assert.Equal(t, want, struct{ outer, inner int }{outer, inner}, "%v", wait)
		})
	}
}

// TestRingAtTheEndOfTheContext: a failure that wraps itself does not keep a call from ending.
func TestRingAtTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := retry.Do(ctx, retry.Policy{Backoff: retry.NoDelay{}}, func(context.Context) error {
		if calls++; calls == 2 {
			cancel()
		}
		return newRing()
	})
	gaveUp, ok := err.(*retry.Error) // errors.As would not end
	assert.True(t, ok)
	assert.Equal(t, 2, gaveUp.Attempts)
	assert.Equal(t, context.Canceled, gaveUp.Reason)
}

// TestUnrepeatableAtEnd: if the context ends an operation that may have taken effect, the error
// says both.
func TestUnrepeatableAtEnd(t *testing.T) {
	for _, failure := range []error{errOp, retry.Unrepeatable(errOp)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := retry.Do(ctx, retry.Policy{}, func(context.Context) error { cancel(errCause); return failure })
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errCause)
		assert.Equal(t, failure != errOp, errors.Is(err, retry.ErrUnrepeatable))
		assert.Equal(t, "canceled", asError(t, err).ReasonLabel())
	}
}

// TestInnerUnrepeatableAtEnd: what the Classifier of an inner call found unrepeatable is so for
// the outer call, too, if AttemptTimeout has ended the inner one.
func TestInnerUnrepeatableAtEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, mark := range []func(error) error{nil, retry.Transient} {
			inner := retry.Policy{Classifier: retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTimeout, Unrepeatable: true} })}
			calls := 0
			err := retry.Do(t.Context(), retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) error {
				err := retry.Do(ctx, inner, func(ctx context.Context) error {
					calls++
					<-ctx.Done()
					return errOp
				})
				if mark != nil {
					return mark(err)
				}
				return err
			})
			if mark == nil {
				assert.Equal(t, 1, calls)
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
			} else {
				assert.Equal(t, 3, calls, "a marker decides")
			}
		}
	})
}
