package retryaws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
)

// A Retryer lets the SDK's own loop retry by a [retry.Policy]. It is an
// aws.RetryerV2. Make it with [New]; the zero Retryer follows the zero Policy.
// A Retryer must not be copied.
//
// One Retryer serves any number of clients, calls and goroutines. Those that
// share it share the policy's Budget and Limiter, so have one for each service
// that is called.
//
// It reads no environment and follows the SDK whether AWS_NEW_RETRIES_2026 is
// set or not, from the first call on and with any number of calls at once. The
// variable must not change while the Retryer is in use.
type Retryer struct {
	policy retry.Policy
	delays Delayer

	// How many attempts that succeeded and that failed for good will be
	// reported once more, by the token of the attempt. See answered.
	successesToSkip, failuresToSkip atomic.Int64
}

// New returns a Retryer for p, or an error that matches [retry.ErrInvalid] if
// p is invalid or sets a field that only [WithPolicy] honours: MaxElapsed,
// AttemptTimeout, Clock, OnAttempt, OnRetry or OnGiveUp.
//
// These fields mean a little less than in [retry.Do]:
//
//   - MaxAttempts gives way to the client's RetryMaxAttempts, which the SDK's
//     package config takes from AWS_MAX_ATTEMPTS.
//   - Backoff is not told the true delay before: see [Delayer].
//   - Budget is told that each failure is the first of its call, which only
//     [retry.RatioBudget] looks at. It allows Ratio/(1−Ratio) retries for each
//     call where every call fails. A retry that the Hint rule then forbids has
//     been paid for.
//   - Limiter ends a call with its own error alone, without that of the
//     attempt before.
//   - LongPoll is left to the SDK, which does it for the operations that it
//     knows, with AWS_NEW_RETRIES_2026=true only.
//   - Hint: with AWS_NEW_RETRIES_2026=true the SDK adds up to 5 s to what the
//     rule says, even if that is HintIgnore, to follow x-amz-retry-after.
//   - A call that gives up ends with the SDK's error, which is no
//     [retry.Error], and after the last attempt does not match
//     [retry.ErrMaxAttempts].
//   - A wait that outlasts the context's deadline is begun, and the SDK's
//     error then holds the end of the context, not the last failure.
func New(p retry.Policy) (*Retryer, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var unfit []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"MaxElapsed", p.MaxElapsed != 0},
		{"AttemptTimeout", p.AttemptTimeout != 0},
		{"Clock", p.Clock != nil && p.Clock != retry.SystemClock{}},
		{"OnAttempt", p.OnAttempt != nil},
		{"OnRetry", p.OnRetry != nil},
		{"OnGiveUp", p.OnGiveUp != nil},
	} {
		if field.set {
			unfit = append(unfit, field.name)
		}
	}
	if unfit != nil {
		return nil, fmt.Errorf("%w retry policy: the SDK's loop knows nothing of %s; use WithPolicy",
			retry.ErrInvalid, strings.Join(unfit, ", "))
	}
	return &Retryer{policy: p, delays: Delayer{Backoff: p.Backoff, Rand: p.Rand}}, nil
}

// MaxAttempts returns the policy's number of attempts; 0 is the SDK's word for
// no limit.
func (r *Retryer) MaxAttempts() int {
	if r.policy.MaxAttempts == math.MaxInt {
		return 0
	}
	return cmp.Or(r.policy.MaxAttempts, defaultMaxAttempts)
}

// defaultMaxAttempts is what 0 means in a [retry.Policy].
const defaultMaxAttempts = 3

// IsErrorRetryable reports whether the policy retries after err; not after nil.
// The SDK asks once for every failed attempt, and this is the only call of
// which that is true, so the Limiter is told of the failure here.
func (r *Retryer) IsErrorRetryable(err error) bool {
	if err == nil {
		return false
	}
	a := r.attempt(err)
	r.observe(a)
	return a.Class != retry.ClassPermanent && !a.Unrepeatable
}

// RetryDelay returns the wait before the retry with the number that the SDK
// gives it: the delay, and what the Hint rule makes of it if the server asked
// for a wait. Where the rule gives up, the error matches opErr and
// [retry.ErrHint].
func (r *Retryer) RetryDelay(attempt int, opErr error) (time.Duration, error) {
	a := r.attempt(opErr)
	delay := r.delays.delay(r.delays.number(attempt), a)
	if a.Hint <= 0 {
		return delay, nil
	}
	rule := r.policy.Hint
	if rule == nil {
		rule = retry.HintAtLeast{}
	}
	wait, ok := rule.Wait(delay, a.Hint)
	if !ok {
		return 0, errors.Join(opErr, retry.Permanent(retry.ErrHint))
	}
	return max(0, wait), nil
}

// GetAttemptToken waits for the Limiter, whose error ends the call.
func (r *Retryer) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	if limiter := r.policy.Limiter; limiter != nil {
		if err := limiter.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return r.token(ctx, retry.ClassUnknown), nil
}

// GetInitialToken is GetAttemptToken without the Limiter. The SDK calls it for
// older retryers only.
func (r *Retryer) GetInitialToken() func(error) error {
	return r.token(context.Background(), retry.ClassUnknown)
}

// GetRetryToken asks the Budget. The error of a refusal, which the SDK joins
// to opErr, matches [retry.ErrBudget] and is permanent to an outer [retry.Do];
// once ctx has ended the Budget is not asked, and the error is that of ctx.
func (r *Retryer) GetRetryToken(ctx context.Context, opErr error) (func(error) error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := r.attempt(opErr)
	a.Number = 1
	if budget := r.policy.Budget; budget != nil && !budget.TryWithdraw(a) {
		return nil, retry.Permanent(retry.ErrBudget)
	}
	return r.token(ctx, a.Class), nil
}

// attempt returns what err says of the attempt that it ended.
func (r *Retryer) attempt(err error) retry.Attempt {
	a := r.policy.Classify(withHint(err))
	a.Err = err
	return a
}

// token returns the function that the SDK calls when an attempt has ended,
// with its error. paid is the class of the failure that the attempt was
// withdrawn for, ClassUnknown for the token that every attempt has.
func (r *Retryer) token(ctx context.Context, paid retry.Class) func(error) error {
	return func(err error) error {
		switch {
		case err == nil:
			r.answered(paid, true, &r.successesToSkip)
		case ctx.Err() == nil && r.attempt(err).Class == retry.ClassPermanent:
			r.answered(paid, false, &r.failuresToSkip)
		}
		return nil
	}
}

// answered tells Budget and Limiter of a call that got its answer.
//
// A retry has two tokens. Counting from 1, the SDK gives back both, that of
// the retry first, so one of the other sort has to be passed over; counting
// from 0, it gives back only that of the retry. Which call's token is passed
// over does not matter: what is told for any of them is the same. If the context
// ends between the two, one report of a later call is passed over in their
// place; a cure would need memory of every call.
func (r *Retryer) answered(paid retry.Class, ok bool, toSkip *atomic.Int64) {
	if paid == retry.ClassUnknown && takeOne(toSkip) {
		return
	}
	if paid != retry.ClassUnknown && !r.delays.fromZero.Load() {
		toSkip.Add(1)
	}
	if budget := r.policy.Budget; budget != nil {
		budget.Deposit(paid, ok)
	}
	if ok {
		r.observe(retry.Attempt{})
	}
}

// takeOne takes 1 from n unless it is 0, and reports whether it did.
func takeOne(n *atomic.Int64) bool {
	for {
		old := n.Load()
		if old == 0 {
			return false
		}
		if n.CompareAndSwap(old, old-1) {
			return true
		}
	}
}

// observe tells the Limiter how an attempt ended, if it wants to know.
func (r *Retryer) observe(a retry.Attempt) {
	if limiter, ok := r.policy.Limiter.(interface{ Observe(retry.Attempt) }); ok {
		limiter.Observe(a)
	}
}
