package retry_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// byCall is the loop of the comment on Call, with the waits of a Clock.
func byCall(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	call := p.Start()
	for {
		err := op(ctx)
		if err == nil {
			call.Succeeded()
			return nil
		}
		wait, reason := call.Failed(ctx, err)
		if reason == nil {
			reason = p.Clock.Sleep(ctx, wait)
		}
		if reason != nil {
			return call.GiveUp(ctx, reason)
		}
	}
}

// FuzzCall: a loop over a Call makes the same attempts, waits, deposits and errors as Do.
func FuzzCall(f *testing.F) {
	f.Add(uint64(1), 3, int64(time.Minute), uint8(0))
	f.Add(uint64(7), 0, int64(0), uint8(255))
	for seed := range uint64(300) {
		f.Add(seed, int(seed%9), int64(seed)*1e9, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, attempts int, elapsed int64, kinds uint8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		errs := []error{errOp, retry.After(errOp, 3*time.Second), retry.Throttled(errOp), retry.Progress(errOp), statusedError(503),
			retry.WithVerdict(errOp, retry.Verdict{Progress: true, Hint: time.Second}), retry.Unrepeatable(errOp),
			&retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts}, statusedError(404), retry.Permanent(errOp), nil}
		script := make([]error, 1+rng.IntN(12))
		for i := range script {
			script[i] = errs[rng.IntN(len(errs)-2*int(kinds%4))]
		}
		script[len(script)-1] = nil
		run := func(do func(context.Context, retry.Policy, func(context.Context) error) error) []any {
			clock, budget, seen := &retrytest.Clock{}, &awspreset.TokenBudget{Capacity: 60}, []any{}
			p := retry.Policy{
				Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: max(0, attempts%8),
				MaxElapsed: max(0, time.Duration(elapsed)%time.Hour), Clock: clock, Budget: budget, Rand: rand.New(rand.NewPCG(seed, 3)).Float64,
			}
			p.OnRetry = func(_ context.Context, a retry.Attempt, wait time.Duration) { seen = append(seen, a, wait) }
			p.OnGiveUp = func(_ context.Context, e *retry.Error) { seen = append(seen, *e) }
			op := retrytest.Script(script...)
			err := do(t.Context(), p, op.Run)
			return append(seen, clock.Waits(), budget.Balance(), op.Calls(), err)
		}
		assert.Equal(t, run(retry.Do), run(byCall))
	})
}

func TestCallContext(t *testing.T) {
	second := retry.Policy{Backoff: retry.Constant(time.Second)}
	near, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	wait, reason := second.Start().Failed(near, errOp)
	assert.Equal(t, time.Second, wait)
	assert.ErrorIs(t, reason, context.DeadlineExceeded)
	done, end := context.WithCancel(t.Context())
	end()
	call := second.Start()
	_, reason = call.Failed(done, errOp)
	err := call.GiveUp(done, reason)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, errOp)
	_, reason = second.Start().Failed(done, retry.Permanent(errOp))
	assert.Equal(t, retry.ErrPermanent, reason)
}

// TestCallInterrupted: a Call that ends during its own wait returns what Do returns.
func TestCallInterrupted(t *testing.T) {
	run := func(do func(context.Context, retry.Policy, func(context.Context) error) error) error {
		ctx, cancel := context.WithCancelCause(t.Context())
		clock := canceling{&retrytest.Clock{}, func() { cancel(errCause) }}
		return do(ctx, retry.Policy{Backoff: retry.Constant(time.Second), Clock: clock}, fails)
	}
	want := run(retry.Do)
	got := run(byCall)
	assert.EqualError(t, got, want.Error())
	assert.ErrorIs(t, got, errCause)
	assert.ErrorIs(t, got, errOp)
	assert.Zero(t, got.(*retry.Error).Next)
}

// A canceling clock ends the context of the call during a wait.
type canceling struct {
	*retrytest.Clock
	cancel func()
}

func (c canceling) Sleep(ctx context.Context, d time.Duration) error {
	c.cancel()
	return c.Clock.Sleep(ctx, d)
}

// TestCallRefused: an invalid call is refused in words, and counts no attempt.
func TestCallRefused(t *testing.T) {
	call := new(retry.Call)
	_, reason := call.Failed(t.Context(), nil)
	assert.ErrorIs(t, reason, retry.ErrInvalid)
	//lint:ignore SA1012 a nil context is refused
	_, reason = call.Failed(nil, errOp)
	assert.ErrorIs(t, reason, retry.ErrInvalid)
	assert.Equal(t, &retry.Error{Reason: reason}, call.GiveUp(t.Context(), reason))
	_, reason = retry.Policy{MaxAttempts: -1}.Start().Failed(t.Context(), errOp)
	assert.EqualError(t, reason, "invalid retry call: MaxAttempts is negative (-1)")
}

// TestCallStandsStill: with a clock that stands still, MaxElapsed is reached by the waits.
func TestCallStandsStill(t *testing.T) {
	p := retry.Policy{Backoff: retry.Constant(time.Second), MaxElapsed: 10 * time.Second, Clock: &retrytest.Clock{}}
	for _, call := range []*retry.Call{p.Start(), p.Resume(0, 0, 0), p.Resume(3, time.Second, 0)} {
		retries := 0
		for {
			_, reason := call.Failed(t.Context(), errOp)
			if reason != nil {
				assert.Equal(t, retry.ErrMaxElapsed, reason)
				break
			}
			retries++
		}
		assert.Equal(t, 10, retries)
	}
}

// TestCallStarts: a success starts the call again, and so does its time.
func TestCallStarts(t *testing.T) {
	clock := &retrytest.Clock{}
	call := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxElapsed: 5 * time.Second, Clock: clock}.Start()
	for range 3 {
		for _, want := range []time.Duration{time.Second, 2 * time.Second} {
			wait, reason := call.Failed(t.Context(), errOp)
			assert.NoError(t, reason)
			assert.Equal(t, want, wait)
			_ = clock.Sleep(t.Context(), wait)
		}
		_, reason := call.Failed(t.Context(), errOp)
		assert.Equal(t, retry.ErrMaxElapsed, reason)
		call.Succeeded()
	}
}

// TestResume: one decision about a call that has failed before.
func TestResume(t *testing.T) {
	s := time.Second
	for name, tt := range map[string]struct {
		policy  retry.Policy
		failed  retry.Attempt
		elapsed time.Duration
		wait    time.Duration
		reason  error
	}{
		"a retry":                        {retry.Policy{}, retry.Attempt{Number: 1, Err: errOp}, 0, s, nil},
		"the second":                     {retry.Policy{}, retry.Attempt{Number: 2, Err: errOp}, 0, 2 * s, nil},
		"a number below 1":               {retry.Policy{}, retry.Attempt{Number: -7, Err: errOp}, 0, s, nil},
		"the last":                       {retry.Policy{}, retry.Attempt{Number: 3, Err: errOp}, 0, 0, retry.ErrMaxAttempts},
		"unlimited":                      {retry.Policy{MaxAttempts: retry.Unlimited}, retry.Attempt{Number: math.MaxInt, Err: errOp}, 0, math.MaxInt64, nil},
		"permanent":                      {retry.Policy{}, retry.Attempt{Number: 1, Err: retry.Permanent(errOp)}, 0, 0, retry.ErrPermanent},
		"permanent by status":            {retry.Policy{}, retry.Attempt{Number: 1, Err: statusedError(404)}, 0, 0, retry.ErrPermanent},
		"unrepeatable":                   {retry.Policy{}, retry.Attempt{Number: 1, Err: retry.Unrepeatable(errOp)}, 0, 0, retry.ErrUnrepeatable},
		"a hint":                         {retry.Policy{}, retry.Attempt{Number: 1, Err: retry.After(errOp, 9*s)}, 0, 9450 * ms, nil},
		"too long a hint":                {retry.Policy{Hint: retry.HintOrGiveUp{Max: s}}, retry.Attempt{Number: 1, Err: retry.After(errOp, 9*s)}, 0, 9 * s, retry.ErrHint},
		"the time limit":                 {retry.Policy{MaxElapsed: 10 * s}, retry.Attempt{Number: 2, Err: errOp}, 9 * s, 2 * s, retry.ErrMaxElapsed},
		"within the limit":               {retry.Policy{MaxElapsed: 10 * s}, retry.Attempt{Number: 2, Err: errOp}, 8 * s, 2 * s, nil},
		"the budget":                     {retry.Policy{Budget: &awspreset.TokenBudget{Capacity: 1}}, retry.Attempt{Number: 1, Err: errOp}, 0, s, retry.ErrBudget},
		"a hint of a nanosecond":         {retry.Policy{Backoff: retry.NoDelay{}}, retry.Attempt{Number: 1, Err: retry.After(errOp, 1)}, 0, 1, nil},
		"progress, as long as the limit": {retry.Policy{MaxElapsed: s}, retry.Attempt{Number: 9, Err: retry.Progress(errOp)}, time.Hour, s, nil},
		"progress":                       {retry.Policy{MaxElapsed: 3 * s}, retry.Attempt{Number: 9, Err: retry.Progress(errOp)}, time.Hour, s, nil},
		"the previous wait":              {retry.Policy{Backoff: retry.DecorrelatedJitter{Base: s}}, retry.Attempt{Number: 2, Waited: 4 * s, Err: errOp}, 0, 6500 * ms, nil},
		"no error":                       {retry.Policy{}, retry.Attempt{Number: 1}, 0, 0, retry.ErrInvalid},
		"an invalid policy":              {retry.Policy{MaxAttempts: -1}, retry.Attempt{Number: 1, Err: errOp}, 0, 0, retry.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.policy.Backoff == nil {
				tt.policy.Backoff = retry.Exponential{Base: s}
			}
			tt.policy.Rand = retrytest.Fixed(0.5)
			wait, reason := decide(tt.policy, tt.failed, tt.elapsed)
			assert.Equal(t, tt.wait, wait)
			assert.ErrorIs(t, reason, tt.reason)
		})
	}
	t.Run("the rule and the budget get the attempt", func(t *testing.T) {
		var seen []retry.Attempt
		p := retry.Policy{Budget: seeing{&seen}, Backoff: retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
			seen = append(seen, a)
			return 0
		})}
		_, _ = decide(p, retry.Attempt{Number: 2, Waited: s, Err: errOp}, 0)
		second := retry.Attempt{Number: 2, Waited: s, Err: errOp}
		assert.Equal(t, []retry.Attempt{second, second}, seen)
		progress := retry.Progress(errOp)
		_, _ = decide(p, retry.Attempt{Number: 9, Waited: s, Err: progress}, 0)
		anew := retry.Attempt{Number: 1, Err: progress, Verdict: retry.Verdict{Progress: true}}
		assert.Equal(t, []retry.Attempt{anew, anew}, seen[2:])
	})
	t.Run("the budget", func(t *testing.T) {
		for name, tt := range map[string]struct {
			settle func(*retry.Call)
			tokens float64
		}{
			"a failure":       {func(c *retry.Call) { _, _ = c.Failed(t.Context(), errOp) }, 486},
			"a success":       {func(c *retry.Call) { c.Succeeded() }, 500},
			"a permanent one": {func(c *retry.Call) { _, _ = c.Failed(t.Context(), statusedError(404)) }, 500},
			"a cancellation":  {func(c *retry.Call) { _, _ = c.Failed(t.Context(), context.Canceled) }, 486},
			"an inner give-up": {func(c *retry.Call) {
				_, _ = c.Failed(t.Context(), &retry.Error{Err: statusedError(404), Reason: errOp})
			}, 486},
		} {
			budget := &awspreset.TokenBudget{}
			p := retry.Policy{Budget: budget}
			_, reason := p.Start().Failed(t.Context(), errOp)
			assert.NoError(t, reason, name)
			assert.Equal(t, 486., budget.Balance(), name)
			tt.settle(p.Resume(1, s, s))
			if name == "a failure" {
				tt.tokens -= 14
			}
			assert.Equal(t, tt.tokens, budget.Balance(), name)
		}
	})
}

// decide makes one decision about an attempt of a call whose state is known.
func decide(p retry.Policy, failed retry.Attempt, elapsed time.Duration) (time.Duration, error) {
	return p.Resume(failed.Number-1, failed.Waited, elapsed).Failed(context.Background(), failed.Err)
}

// seeing is a budget that allows everything and records the attempts.
type seeing struct{ seen *[]retry.Attempt }

func (b seeing) TryWithdraw(a retry.Attempt) bool { *b.seen = append(*b.seen, a); return true }
func (seeing) Deposit(retry.Attempt, error)       {}
