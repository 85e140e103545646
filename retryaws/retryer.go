package retryaws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
)

// A Retryer is an aws.RetryerV2 that makes the SDK's own loop retry according to a
// [retry.Policy]. Make it with [New]; the zero Retryer uses the zero Policy. A
// Retryer must not be copied.
//
// Any number of clients and goroutines may use a Retryer. They share the policy's
// Budget and Limiter, so use one Retryer per service.
//
// Before v1.48.0, the variable AWS_NEW_RETRIES_2026 changes how the SDK numbers retries. It
// must not change after the first call.
type Retryer struct {
	policy retry.Policy
	delays Delayer
	hints  hintReader // nil: of the zero policy

	// successesToSkip counts successes that will be reported again: see succeeded.
	successesToSkip atomic.Int64
	failures        failures
}

// New returns a Retryer for p, or an error that matches [retry.ErrInvalid] if p
// is invalid or sets a field that works only with [WithPolicy]: MaxElapsed,
// AttemptTimeout, Clock or Hooks.
//
// Differences from [retry.Do]:
//
//   - MaxAttempts: the client's RetryMaxAttempts takes precedence. The SDK's package
//     config sets it from AWS_MAX_ATTEMPTS, unless the Retryer is given to
//     config.WithRetryer, which ignores the variable.
//   - Backoff does not get the actual previous delay: see [Delayer].
//   - Classifier: the SDK's rules apply to errors that it classifies as
//     [retry.ClassUnknown], or to all errors if there is no Classifier. Wrappers of the
//     Retryer, such as the SDK's AddWithErrorCodes, decide before the policy. Every STS
//     client has such a wrapper.
//   - Budget: retries that a wrapper decides on are charged, too, at the cost of a retry
//     after a transient failure. Each failure is reported as the first of its call,
//     so a [retry.SharedBudget] makes every retry free that a throttling server asked for
//     with a hint. A retry that the Hint rule forbids has already been
//     charged. If a wrapper consults the Retryer but then retries a failure that the
//     Retryer classifies as permanent, the Budget still gets a deposit, as if the call
//     had ended.
//   - Limiter: its error ends a call and hides the error of the previous attempt.
//   - Hint: nothing random is added to a hint. Since v1.48.0, the SDK itself lengthens a wait by up to 5 s if the header
//     x-amz-retry-after asks for it, whatever the Hint rule says. [awspreset.HintWindow], the
//     rule of this behavior, is not applied in addition. The SDK also waits after a long poll
//     that the Budget has ended. Before, it does both only with AWS_NEW_RETRIES_2026=true.
//   - A call that gives up returns the SDK's error. It is not a [retry.Error] and,
//     after the last attempt, does not match [retry.ErrMaxAttempts].
//   - A wait that would end after the context's deadline is started, and the call
//     then fails with the context's error, not the last failure.
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
		return nil, fmt.Errorf("%w retry policy: the SDK's loop does not support %s; use WithPolicy",
			retry.ErrInvalid, strings.Join(unfit, ", "))
	}
	hints := hintsOf(p)
	p.Classifier = classifierOf(p)
	return &Retryer{policy: p, delays: Delayer{Backoff: p.Backoff, Rand: p.Rand}, hints: hints}, nil
}

// MaxAttempts returns the policy's number of attempts. For [retry.Unlimited] it
// returns 0, which means no limit in the SDK.
func (r *Retryer) MaxAttempts() int {
	if r.policy.Attempts() == retry.Unlimited {
		return 0
	}
	return r.policy.Attempts()
}

// IsErrorRetryable reports whether the policy retries after err; after nil, it never
// retries. If the policy does not retry, the call ends, and its response is reported to
// the Budget.
func (r *Retryer) IsErrorRetryable(err error) bool {
	if err == nil {
		return false
	}
	a := r.attempt(err)
	if f, ok := r.failures.take(err); ok && !f.canceled && a.Class == retry.ClassPermanent && !errors.Is(adapt.Finite(err), context.Canceled) {
		r.deposit(f.paid, err)
	}
	return isRetryable(a)
}

func isRetryable(a retry.Attempt) bool {
	return a.Class != retry.ClassPermanent && !a.Unrepeatable && !a.GaveUp
}

// RetryDelay returns the wait before a retry: the Hint rule's combination of delay and
// server hint. The argument attempt is the SDK's number for the retry. If the rule
// gives up, the error matches opErr and [retry.ErrHint].
func (r *Retryer) RetryDelay(attempt int, opErr error) (time.Duration, error) {
	a := r.attempt(opErr)
	delay := r.delays.delay(r.delays.number(attempt), a)
	if a.Hint <= 0 || delay < 0 {
		return endIfNegative(delay, opErr)
	}
	rule := r.policy.Hint
	if rule == nil {
		rule = retry.HintAtLeast{}
	}
	if rule == (awspreset.HintWindow{}) && r.delays.sdk.followsHeader() && sdkAddsHint(opErr) {
		return delay, nil // otherwise the hint would lengthen the delay twice
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
	return r.token(ctx.Err, retry.Attempt{}), nil
}

// GetInitialToken is GetAttemptToken without the Limiter. The SDK calls it only for
// retryers that do not implement aws.RetryerV2, such as a wrapper that embeds an
// aws.Retryer.
func (r *Retryer) GetInitialToken() func(error) error {
	return r.token(func() error { return context.Canceled }, retry.Attempt{})
}

// GetRetryToken withdraws the cost of a retry from the Budget. If the Budget refuses,
// GetRetryToken returns an error that matches [retry.ErrBudget] and is permanent for an
// outer [retry.Do]; the SDK joins this error to opErr. Once ctx is done, GetRetryToken
// withdraws nothing and returns the error of ctx.
//
// The SDK calls GetRetryToken for every retry, even one decided by a wrapper: see [New].
func (r *Retryer) GetRetryToken(ctx context.Context, opErr error) (func(error) error, error) {
	r.failures.take(opErr)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := r.attempt(opErr)
	if !isRetryable(a) {
		a.Verdict = retry.Verdict{Class: retry.ClassTransient}
	}
	a.Number = 1
	if budget := r.policy.Budget; budget != nil && !budget.TryWithdraw(a) {
		return nil, retry.Permanent(retry.ErrBudget)
	}
	return r.token(ctx.Err, a), nil
}

func (r *Retryer) attempt(err error) retry.Attempt {
	p := retry.Policy{Classifier: r.policy.Classifier}
	if p.Classifier == nil { // the zero Retryer
		p.Classifier = SDKRules{}
	}
	hints := r.hints
	if hints == nil {
		hints = hintsOf(retry.Policy{})
	}
	return retry.Attempt{Err: err, Verdict: p.Classify(hints.add(err))}
}

// token returns the function that the SDK calls with an attempt's error. paid is the
// failure whose retry was charged to the Budget, or zero for the token that every attempt
// has. ended returns an error if the call's context has ended, or may have.
func (r *Retryer) token(ended func() error, paid retry.Attempt) func(error) error {
	return func(err error) error {
		if err == nil {
			r.succeeded(paid)
		} else if r.failures.add(failure{err, paid, ended() != nil && isCanceled(err)}) {
			r.observe(r.attempt(err))
		}
		return nil
	}
}

// isCanceled reports whether the SDK gave up an attempt because its context had ended. Even
// then, err may be a response.
func isCanceled(err error) bool {
	var canceled interface{ CanceledError() bool }
	return errors.As(adapt.Finite(err), &canceled) && canceled.CanceledError()
}

// succeeded reports a success to Budget and Limiter. A retry has two tokens: its retry
// token and its attempt token. If the SDK's loop numbers retries from 0, it returns
// only the retry token. If it numbers them from 1, it then also returns the attempt
// token, so one attempt token must be skipped. It does not matter which one, because
// all of them make the same report.
func (r *Retryer) succeeded(paid retry.Attempt) {
	if paid.Number == 0 && takeOne(&r.successesToSkip) {
		return
	}
	if paid.Number != 0 && !r.delays.sdk.startsAtZero() {
		r.successesToSkip.Add(1)
	}
	r.deposit(paid, nil)
	r.observe(retry.Attempt{})
}

// takeOne decrements n unless it is 0, and reports whether it did.
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

func (r *Retryer) deposit(paid retry.Attempt, err error) {
	if budget := r.policy.Budget; budget != nil {
		budget.Deposit(paid, err)
	}
}

func (r *Retryer) observe(a retry.Attempt) {
	if limiter, ok := r.policy.Limiter.(interface{ Observe(retry.Attempt) }); ok {
		limiter.Observe(a)
	}
}
