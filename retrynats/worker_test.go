package retrynats_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrynats"
)

var doubling = retry.Policy{Backoff: retry.Exponential{Base: time.Second, Cap: 24 * time.Hour}, MaxAttempts: 4}

func TestOutcome(t *testing.T) {
	with := func(change func(*retry.Policy)) retry.Policy {
		p := doubling
		change(&p)
		return p
	}
	_, inner := retry.DoValue(t.Context(), retry.Policy{MaxAttempts: 1}, func(context.Context) (int, error) { return 0, errOp })
	for name, tt := range map[string]struct {
		policy   retry.Policy
		delivery uint64
		err      error
		want     string
	}{
		"success":          {doubling, 1, nil, "ack"},
		"late success":     {doubling, 9, nil, "ack"},
		"first":            {doubling, 1, errOp, "nak 1s"},
		"third":            {doubling, 3, errOp, "nak 4s"},
		"last":             {doubling, 4, errOp, "term gave up after 4 attempts (all attempts used): boom"},
		"beyond the last":  {doubling, 7, errOp, "term gave up after 7 attempts (all attempts used): boom"},
		"default attempts": {retry.Policy{}, 3, errOp, "term gave up after 3 attempts (all attempts used): boom"},
		"no delay":         {retry.Policy{Backoff: retry.NoDelay{}}, 1, errOp, "nak 1ns"},
		"permanent":        {doubling, 1, retry.Permanent(errOp), "term gave up after 1 attempt (permanent failure): boom"},
		"unrepeatable":     {doubling, 1, retry.Unrepeatable(errOp), "term gave up after 1 attempt (not safe to repeat): boom"},
		"lines":            {doubling, 1, retry.Permanent(errors.New("a\nb")), "term gave up after 1 attempt (permanent failure): a; b"},
		"hint":             {with(func(p *retry.Policy) { p.Hint = retry.HintAtLeast{Exact: true} }), 1, retry.After(errOp, time.Minute), "nak 1m0s"},
		"hint refused":     {with(func(p *retry.Policy) { p.Hint = retry.HintOrGiveUp{Max: time.Second} }), 1, retry.After(errOp, time.Minute), "term gave up after 1 attempt (server asks for too long a wait, next wait 1m0s): boom"},
		"throttled": {with(func(p *retry.Policy) {
			p.Backoff = retry.WhenThrottled{Throttled: retry.Constant(time.Hour), Else: retry.NoDelay{}}
		}), 1, retry.Throttled(errOp), "nak 1h0m0s"},
		"elapsed":             {with(func(p *retry.Policy) { p.MaxElapsed = 5 * time.Second }), 3, errOp, "term gave up after 3 attempts (time limit of the policy, next wait 4s): boom"},
		"progress":            {doubling, 4, retry.Progress(errOp), "nak 1s"},
		"inner give-up":       {doubling, 1, inner, "nak 1s"},
		"inner, permanent":    {doubling, 1, &retry.Error{Err: retry.Permanent(errOp), Reason: retry.ErrMaxAttempts, Attempts: 3}, "term gave up after 1 attempt (permanent failure): gave up after 3 attempts (all attempts used): boom"},
		"inner, retried":      {doubling, 1, retry.Transient(inner), "nak 1s"},
		"own classification":  {with(func(p *retry.Policy) { p.Classifier = retry.OnlyIf(func(error) bool { return false }) }), 1, errOp, "term gave up after 1 attempt (permanent failure): boom"},
		"canceled itself":     {doubling, 1, context.Canceled, "nak 1s"},
		"canceled, last":      {doubling, 4, context.Canceled, "term gave up after 4 attempts (all attempts used): context canceled"},
		"canceled for good":   {doubling, 1, retry.Permanent(context.Canceled), "term gave up after 1 attempt (permanent failure): context canceled"},
		"deadline of its own": {doubling, 1, context.DeadlineExceeded, "nak 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []string{tt.want}, handle(t, retrynats.Worker{Policy: tt.policy}, delivered(tt.delivery), returning(tt.err)))
		})
	}
}

// TestSameChain: the wait depends only on the message and the delivery number, not on the
// worker or the order of deliveries.
func TestSameChain(t *testing.T) {
	policy := retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 20}
	waits := map[string]bool{}
	for k := uint64(19); k > 0; k-- {
		for seq := range uint64(20) {
			outcome := func() string {
				msg := delivered(k)
				msg.meta.Sequence = jetstream.SequencePair{Stream: seq, Consumer: k * 100}
				msg.meta.NumPending = k
				return handle(t, retrynats.Worker{Policy: policy}, msg, returning(errOp))[0]
			}
			first := outcome()
			assert.Equal(t, first, outcome())
			waits[first] = true
		}
	}
	assert.Greater(t, len(waits), 350, "the waits of different messages and deliveries differ")
	assert.Equal(t, []string{nak(t, policy, 5, errOp)}, handle(t, retrynats.Worker{Policy: policy}, delivered(5), returning(errOp)))
}

func TestHooks(t *testing.T) {
	var seen []string
	note := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	type key struct{}
	policy := doubling.With(retry.Hooks{
		OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			note("attempt %d after %v", a.Number, a.Waited)
			return context.WithValue(ctx, key{}, "span"), func(a retry.Attempt) { note("ended %d: %v %v", a.Number, a.Class, a.Err) }
		},
		OnRetry: func(_ context.Context, a retry.Attempt, wait time.Duration) {
			note("retry %d after %v, in %v: %v %v", a.Number, a.Waited, wait, a.Class, a.Err)
		},
		OnGiveUp: func(_ context.Context, e *retry.Error) {
			note("%v", e)
		},
	})
	fn := func(ctx context.Context, _ jetstream.Msg) error {
		assert.Equal(t, "span", ctx.Value(key{}))
		return errOp
	}
	handle(t, retrynats.Worker{Policy: policy}, delivered(1), fn)
	handle(t, retrynats.Worker{Policy: policy}, delivered(3), fn)
	handle(t, retrynats.Worker{Policy: policy}, delivered(4), fn)
	assert.Equal(t, []string{
		"attempt 1 after 0s", "ended 1: unknown boom", "retry 1 after 0s, in 1s: unknown boom",
		"attempt 3 after 2s", "ended 3: unknown boom", "retry 3 after 2s, in 4s: unknown boom",
		"attempt 4 after 4s", "ended 4: unknown boom", "gave up after 4 attempts (all attempts used): boom",
	}, seen)
}

func TestBudget(t *testing.T) {
	budget := &awspreset.TokenBudget{Capacity: 20, Deficit: 10, Costs: awspreset.TokenCosts{Transient: 8, Timeout: 8, Throttled: 8}}
	policy := doubling
	policy.Budget = budget
	w := retrynats.Worker{Policy: policy}
	for _, step := range []struct {
		err      error
		delivery uint64
		want     string
		balance  float64
	}{
		{errOp, 1, "nak 1s", 2},
		{errOp, 1, "term gave up after 1 attempt (client-side retry budget used up, next wait 1s): boom", 2},
		{nil, 1, "ack", 3},
		{nil, 2, "ack", 11}, // refunds the tokens of the retry
		{retry.Permanent(errOp), 1, "term gave up after 1 attempt (permanent failure): boom", 12},
		{retry.Progress(errOp), 2, "nak 1s", 12}, // +8 up to the capacity, then -8 for the retry
		{errOp, 4, "term gave up after 4 attempts (all attempts used): boom", 12},
	} {
		assert.Equal(t, []string{step.want}, handle(t, w, delivered(step.delivery), returning(step.err)))
		assert.Equal(t, step.balance, budget.Balance(), "%v", step)
	}
}

type limiter struct {
	err      error
	observed []retry.Attempt
}

func (l *limiter) Wait(context.Context) error { return l.err }
func (l *limiter) Observe(a retry.Attempt)    { l.observed = append(l.observed, a) }

// TestLimiter: an error of the Limiter does not count as a failure of the message.
func TestLimiter(t *testing.T) {
	for _, reason := range []error{errors.New("too many"), retry.ErrMaxAttempts} {
		l := &limiter{err: reason}
		policy := doubling
		policy.Limiter = l
		assert.Equal(t, []string{"nak 8s"}, handle(t, retrynats.Worker{Policy: policy}, delivered(4), uncalled(t)))
		l.err = nil
		handle(t, retrynats.Worker{Policy: policy}, delivered(1), returning(errOp))
		require.Len(t, l.observed, 1)
		assert.Equal(t, errOp, l.observed[0].Err)
	}
}

func uncalled(t *testing.T) func(context.Context, jetstream.Msg) error {
	return func(context.Context, jetstream.Msg) error { t.Error("called"); return nil }
}

// TestPanic: a panic or Goexit counts as a failed attempt and continues.
func TestPanic(t *testing.T) {
	msg := delivered(2)
	assert.PanicsWithValue(t, "ouch", func() {
		handle(t, retrynats.Worker{Policy: doubling}, msg, func(context.Context, jetstream.Msg) error { panic("ouch") })
	})
	assert.Equal(t, []string{"nak 2s"}, msg.sent)

	msg = delivered(4)
	var wg sync.WaitGroup
	wg.Go(func() {
		h, err := retrynats.Handle(t.Context(), consumer(good), doubling, func(context.Context, jetstream.Msg) error { runtime.Goexit(); return nil })
		assert.NoError(t, err)
		h(msg)
		t.Error("Goexit was stopped")
	})
	wg.Wait()
	assert.Equal(t, []string{"term gave up after 4 attempts (all attempts used): operation did not return"}, msg.sent)
}

// TestContextEnds: when the context ends, the current message is redelivered unless it
// succeeds, fails permanently or may have taken effect, and later messages are not handled.
func TestContextEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"interrupted":       {context.Canceled, "nak 8s"},
		"marked":            {retry.Permanent(context.Canceled), "nak 8s"},
		"a stopped loop":    {&retry.Error{Err: errOp, Reason: context.Canceled}, "nak 8s"},
		"failed otherwise":  {errOp, "nak 8s"},
		"permanent, marked": {retry.Permanent(errOp), "term gave up after 4 attempts (permanent failure): boom"},
		"unrepeatable":      {retry.Unrepeatable(context.Canceled), "term gave up after 4 attempts (not safe to repeat): context canceled"},
		"succeeded":         {nil, "ack"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			h, err := retrynats.Handle(ctx, consumer(good), doubling, func(context.Context, jetstream.Msg) error {
				cancel()
				return tt.err
			})
			require.NoError(t, err)
			msg, later := delivered(4), delivered(1)
			h(msg)
			assert.Equal(t, []string{tt.want}, msg.sent)
			h(later)
			assert.Empty(t, later.sent)
		})
	}
}

// TestKeptAlive: InProgress is sent until fn returns or its attempt times out.
func TestKeptAlive(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout, work time.Duration
		want          string
	}{
		"short":              {0, 9 * time.Second, "nak 1s"},
		"long":               {0, 65 * time.Second, strings.Repeat("alive ", 7) + "nak 1s"},
		"before the timeout": {66 * time.Second, 65 * time.Second, strings.Repeat("alive ", 7) + "nak 1s"},
		"after the timeout":  {25 * time.Second, 65 * time.Second, strings.Repeat("alive ", 2) + "nak 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := doubling
				policy.AttemptTimeout = tt.timeout
				msg := delivered(1)
				handle(t, retrynats.Worker{Policy: policy, OneByOne: true}, msg, func(context.Context, jetstream.Msg) error {
					time.Sleep(tt.work)
					return errOp
				})
				time.Sleep(time.Hour)
				assert.Equal(t, tt.want, strings.Join(msg.sent, " "))
			})
		})
	}
}

// TestAttemptTimeout: a failure caused by AttemptTimeout is a timeout for hooks and the
// Classifier, although the function's error does not say so.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := doubling
		policy.AttemptTimeout = time.Second
		var class retry.Class
		policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) { class = failed.Class }
		killed := func(ctx context.Context, _ jetstream.Msg) error {
			<-ctx.Done()
			return errOp
		}
		assert.Equal(t, []string{"nak 1s"}, handle(t, retrynats.Worker{Policy: policy}, delivered(1), killed))
		assert.Equal(t, retry.ClassTimeout, class)
		policy.Classifier = retry.OnlyIf(func(err error) bool { return !os.IsTimeout(err) })
		assert.Equal(t, []string{"term gave up after 1 attempt (permanent failure): " + errOp.Error()},
			handle(t, retrynats.Worker{Policy: policy}, delivered(1), killed))
	})
}

func TestFunctionSettles(t *testing.T) {
	msg := delivered(1)
	msg.sendErr = jetstream.ErrMsgAlreadyAckd
	w := retrynats.Worker{OnError: func(jetstream.Msg, error) { t.Error("reported") }}
	assert.Equal(t, []string{"ack"}, handle(t, w, msg, returning(nil)))
}

func TestOnError(t *testing.T) {
	lost := errors.New("no connection")
	for name, msg := range map[string]*message{
		"not sent":             {sendErr: lost},
		"no JetStream message": {metaErr: lost},
	} {
		t.Run(name, func(t *testing.T) {
			var got []error
			w := retrynats.Worker{OnError: func(m jetstream.Msg, err error) {
				assert.Same(t, msg, m)
				got = append(got, err)
			}}
			handle(t, w, msg, returning(errOp))
			w.MaxDeliveries = 10 // so the delivery number is read before the function is called
			handle(t, w, msg, returning(nil))
			assert.Equal(t, []error{lost, lost}, got)
			w.OnError = nil
			handle(t, w, msg, returning(nil))
		})
	}
}
