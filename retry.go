package retry

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/dur"
	"github.com/gobackoff/retry/internal/errfacts"
)

// Do calls op until it succeeds or fails permanently, or until the policy gives up. It
// returns nil if and only if op returned nil. A permanent error is returned unchanged;
// otherwise Do returns an [*Error].
//
// The call ends when ctx does, even during a wait. Do begins no attempt once ctx is done. If
// a wait would end at or after the deadline of ctx, Do gives up at once with an error that
// matches [context.DeadlineExceeded]. If ctx is done when op fails, Do returns an [*Error],
// unless the failure is permanent because of a marker or of the error's own status or code.
//
// If ctx or op is nil, or a number of the policy is negative, Do returns an error that
// matches [ErrInvalid] without calling op. Panics in op pass through. If a function of the
// policy panics after op has failed, Do panics with an error that has the panic value in its text
// and matches the failure of op.
//
// If op itself calls Do and that inner call gives up, the outer call does not retry, and
// returns the error of the inner call. There are two exceptions: the error is marked with
// [Transient], [Throttled], [After] or [WithVerdict], or the inner call gave up only because the
// outer call's AttemptTimeout ended. See [Verdict].GaveUp.
func Do(ctx context.Context, p Policy, op func(context.Context) error) error {
	if p.mustRefuse(ctx, op != nil) {
		return p.refusal(ctx, op != nil)
	}
	var first error
	if p.needsNoLoop() && ctx.Err() == nil {
		// Most calls succeed here, without the loop's state: this doubles their speed.
		if first = op(ctx); first == nil {
			return nil
		}
	}
	return run(ctx, &p, op, first)
}

// DoValue is [Do] for an operation that returns a value. It returns the value of the last
// attempt, also if that attempt has failed.
func DoValue[T any](ctx context.Context, p Policy, op func(context.Context) (T, error)) (T, error) {
	var v T
	if p.mustRefuse(ctx, op != nil) {
		return v, p.refusal(ctx, op != nil)
	}
	var first error
	if p.needsNoLoop() && ctx.Err() == nil { // as in Do; sharing the code through a call would cost 5 ns
		if v, first = op(ctx); first == nil {
			return v, nil
		}
	}
	err := run(ctx, &p, func(ctx context.Context) (err error) {
		v, err = op(ctx)
		return err
	}, first)
	return v, err
}

// run is the loop. If first is not nil, the first attempt has been made and has failed.
// Everything with a large stack frame is in another function, so that a waiting call
// takes little memory.
func run(ctx context.Context, p *Policy, op func(context.Context) error, first error) error {
	var c call
	defer c.guard()
	if p.MaxElapsed != 0 { // otherwise calls that succeed do not read the clock
		c.start = now(p.Clock)
	}
	if first != nil {
		c.attempt.Number = 1
		c.conclude(p, first)
	} else {
		if reason := c.admit(ctx, p); reason != nil {
			return c.giveUp(ctx, p, reason, waitOf(reason))
		}
		if c.try(ctx, p, op) == nil {
			return nil
		}
	}
	for {
		wait, reason := c.next(ctx, p)
		if reason != nil {
			return c.giveUp(ctx, p, reason, wait)
		}
		if reason = c.sleep(ctx, p, wait); reason == nil {
			reason = c.admit(ctx, p)
		}
		if reason != nil {
			return c.giveUp(ctx, p, reason, waitOf(reason))
		}
		if c.try(ctx, p, op) == nil {
			return nil
		}
	}
}

// call is the state of one call of [Do]. It must not hold a *Policy: its fields are
// passed to interface methods, so the Policy would escape to the heap.
type call struct {
	attempt Attempt       // the current or latest one; Err is the last failure
	before  error         // the failure before it
	earlier int           // attempts before the last progress
	resumed time.Duration // the time elapsed at the last progress
	slept   time.Duration // the sum of the waits
	paid    Attempt       // the last failure whose retry the Budget paid for
	inOp    bool          // op is running
	retries bool          // failed is set
	stored  bool          // only slept says how much time has elapsed
	start   time.Time     // of the call, if the policy has a MaxElapsed
	failed  time.Time     // the first failure
	timer   *time.Timer
}

// next returns the wait before the retry, or the reason to give up.
func (c *call) next(ctx context.Context, p *Policy) (time.Duration, error) {
	a := &c.attempt
	if ctx.Err() != nil && !(a.ends() && isAnswer(a.Err)) {
		return 0, a.endedBy(ctx)
	}
	var elapsed time.Duration
	if p.MaxElapsed != 0 {
		elapsed = c.elapsed(p) - c.resumed
	}
	if a.Progress { // counting restarts
		c.earlier += a.Number - 1
		c.resumed += elapsed
		a.Number, a.Waited, elapsed = 1, 0, 0
	}
	wait, reason := p.decide(a, elapsed, timeLeft(ctx, p.Clock))
	if reason == ErrPermanent && p.Budget != nil && !a.GaveUp && !errfacts.Read(a.Err).Canceled { // otherwise the server has not answered
		c.deposit(p, a.Err)
	}
	if reason == nil {
		c.paid, reason = p.pay(a)
	}
	if reason != nil {
		return wait, reason
	}
	if !c.retries {
		c.retries, c.failed = true, now(p.Clock)
	}
	if p.OnRetry != nil {
		p.OnRetry(ctx, *a, wait)
	}
	a.Waited = wait
	return wait, nil
}

// elapsed returns the time since the start of the call. A clock that stands still does not keep
// the call from ending.
func (c *call) elapsed(p *Policy) time.Duration {
	if c.stored {
		return c.slept
	}
	return max(c.slept, now(p.Clock).Sub(c.start))
}

// following returns the number of the next attempt, saturating.
func (c *call) following() int { return c.attempt.Number + min(1, math.MaxInt-c.attempt.Number) }

// endedBy returns the reason of a call whose context was done when the attempt failed.
func (a *Attempt) endedBy(ctx context.Context) error {
	reason := contextReason(ctx, nil)
	if a.Unrepeatable { // the end of the context is the most frequent cause of an unknown outcome
		reason = fmt.Errorf("%w, %w", reason, ErrUnrepeatable)
	}
	return reason
}

const noDeadline time.Duration = math.MaxInt64

// decide returns the wait before the retry, or the reason why there is no retry. The Budget
// is asked afterwards, so that a retry that will not happen costs nothing.
func (p *Policy) decide(a *Attempt, elapsed, left time.Duration) (time.Duration, error) {
	most := p.maxAttempts()
	switch {
	case a.ends():
		return 0, ErrPermanent
	case a.Unrepeatable:
		return 0, ErrUnrepeatable
	case a.Number >= most && most != Unlimited:
		return 0, ErrMaxAttempts
	}
	u := p.random()
	delay := orDefault(p.Backoff).Delay(*a, u)
	if delay < 0 {
		return 0, ErrBackoff
	}
	wait, follows := delay, true
	if a.Hint > 0 {
		room := left - 1
		if p.MaxElapsed != 0 {
			room = min(room, p.MaxElapsed-elapsed)
		}
		wait, follows = p.waitForHint(delay, a.Hint, room, u)
	}
	switch {
	case !follows:
		return wait, ErrHint
	case p.neverWaited(a, wait):
		return wait, ErrMaxAttempts
	case wait >= left && left != noDeadline:
		return wait, errDeadline
	case p.MaxElapsed != 0 && wait > p.MaxElapsed-elapsed:
		return wait, ErrMaxElapsed
	}
	return wait, nil
}

// pay takes the retry of a failed attempt from the Budget, unless the Limiter paces it. It returns
// the attempt that was paid for, if any.
func (p *Policy) pay(a *Attempt) (paid Attempt, reason error) {
	switch {
	case p.Budget == nil, p.paces(a):
		return Attempt{}, nil
	case !p.Budget.TryWithdraw(*a):
		return Attempt{}, ErrBudget
	}
	return *a, nil
}

// paces reports whether the Limiter, and not the Budget, bounds the retry of an attempt.
func (p *Policy) paces(a *Attempt) bool {
	if a.Class != ClassThrottled {
		return false
	}
	l, ok := p.Limiter.(pacer)
	return ok && l.Paces(*a)
}

// waitForHint combines a delay with a hint, as the Hint rule does. What is added to a hint
// does not make the wait longer than room, the time that is left.
func (p *Policy) waitForHint(delay, hint, room time.Duration, u float64) (wait time.Duration, follows bool) {
	if p.Hint == nil {
		wait, follows = HintAtLeast{}.Wait(delay, hint)
	} else {
		wait, follows = p.Hint.Wait(delay, hint)
	}
	if follows {
		wait = min(spread(p.Hint, delay, wait, secondRandom(u)), max(wait, room))
	}
	return max(0, wait), follows
}

// sleep waits for the retry, or returns the reason why the call ends before. The waits of
// one call share a timer. Different calls do not share one, because a timer made outside a
// synctest bubble runs in real time inside it.
func (c *call) sleep(ctx context.Context, p *Policy, wait time.Duration) error {
	switch {
	case !isSystem(p.Clock): // another clock has no channel to select on
		if err := p.Clock.Sleep(ctx, wait); err != nil {
			return contextReason(ctx, err)
		}
	case wait > 0:
		if c.timer == nil {
			c.timer = time.NewTimer(wait)
		} else {
			c.timer.Reset(wait)
		}
		select {
		case <-c.timer.C:
		case <-ctx.Done():
			c.timer.Stop()
			return contextReason(ctx, context.Canceled)
		}
	}
	c.slept = dur.Add(c.slept, wait)
	return nil
}

// admit waits for the Limiter. It returns nil, or the reason why no attempt may begin.
func (c *call) admit(ctx context.Context, p *Policy) error {
	if p.Limiter != nil && ctx.Err() == nil {
		if err := c.await(ctx, p); err != nil {
			return contextReason(ctx, err)
		}
	}
	return contextReason(ctx, nil) // it may have ended while the Limiter waited
}

// waitOf returns the wait that the error of a Limiter names, or 0.
func waitOf(err error) time.Duration {
	e, ok := err.(interface{ RetryAfter() time.Duration })
	if !ok {
		return 0
	}
	return max(0, e.RetryAfter())
}

// await waits for the Limiter until MaxElapsed at the latest, so that a server that makes the
// Limiter wait does not decide how many calls are waiting.
func (c *call) await(ctx context.Context, p *Policy) error {
	if p.MaxElapsed == 0 {
		return p.Limiter.Wait(ctx)
	}
	end := c.start.Add(dur.Add(c.resumed, p.MaxElapsed))
	if deadline, ok := ctx.Deadline(); ok && !deadline.After(end) {
		return p.Limiter.Wait(ctx)
	}
	limited, cancel := withEnd(ctx, p.Clock, end)
	defer cancel()
	err := p.Limiter.Wait(limited)
	switch {
	case err == nil && now(p.Clock).After(end):
		return ErrMaxElapsed
	case err == nil, ctx.Err() != nil:
		return err
	case errfacts.Is(err, context.DeadlineExceeded):
		return ErrMaxElapsed
	case strings.Contains(err.Error(), "exceed context deadline"):
		// The limiter of golang.org/x/time v0.16.0 refuses at once to wait longer than the
		// deadline, and only the text of its error says so.
		return fmt.Errorf("%w: %w", ErrMaxElapsed, err)
	}
	return err
}

// withEnd returns a context whose deadline is end. If the clock has a time of its own, only the
// Limiter, which has to use the same clock, can tell when that is.
func withEnd(ctx context.Context, clock Clock, end time.Time) (context.Context, context.CancelFunc) {
	if tellsSystemTime(clock) {
		return context.WithDeadline(ctx, end)
	}
	return &endsAt{ctx, end}, func() {}
}

type endsAt struct {
	context.Context
	end time.Time
}

func (c *endsAt) Deadline() (time.Time, bool) { return c.end, true }

// try makes an attempt, unless OnAttempt ends the caller's context.
func (c *call) try(caller context.Context, p *Policy, op func(context.Context) error) error {
	number := c.following()
	ctx, limited := caller, caller
	if p.AttemptTimeout != 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(caller, p.AttemptTimeout)
		defer cancel()
		ctx = limited
	}
	if p.OnAttempt != nil {
		begun := c.attempt
		begun.Number = number
		derived, done := p.OnAttempt(ctx, begun)
		if derived != nil {
			ctx = derived
		}
		ended := Attempt{Number: number, Waited: begun.Waited, Err: ErrNoReturn}
		if done != nil {
			defer func() {
				if !c.inOp && c.attempt.Number == number {
					ended = c.attempt
				}
				done(ended)
			}()
		}
		if caller.Err() != nil {
			ended.Err = caller.Err()
			return ended.Err
		}
	}
	c.attempt.Number, c.inOp = number, true
	err := op(ctx)
	c.inOp = false
	if err != nil && p.AttemptTimeout != 0 {
		err = p.overtime(caller, limited, err)
	}
	c.conclude(p, err)
	return err
}

// overtime returns the error of an attempt, wrapped if only AttemptTimeout ended it: the
// attempt was too long, or an inner call gave up because a wait would have made it so.
func (p *Policy) overtime(caller, limited context.Context, err error) error {
	if caller.Err() != nil {
		return err
	}
	if limited.Err() == nil {
		inner := outlasting(err)
		limit, _ := limited.Deadline()
		if inner == nil || !inner.deadline.Equal(limit) || inner.Next >= timeLeft(caller, p.Clock) {
			return err
		}
	}
	return &errfacts.Overtime{Err: err, Limit: p.AttemptTimeout}
}

// conclude classifies the result of an attempt and reports it to the Limiter and the
// Budget.
func (c *call) conclude(p *Policy, err error) {
	a := &c.attempt
	c.before = a.Err
	a.Err = err
	if err == nil {
		a.Verdict = Verdict{}
	} else {
		a.Verdict.judgeError(p.Classifier, a.Err)
	}
	if o, ok := p.Limiter.(observer); ok {
		o.Observe(*a)
	}
	if p.Budget != nil && (err == nil || a.Progress) {
		c.deposit(p, nil)
	}
}

func (c *call) deposit(p *Policy, err error) {
	p.Budget.Deposit(c.paid, err)
	c.paid = Attempt{}
}

func (c *call) giveUp(ctx context.Context, p *Policy, reason error, next time.Duration) error {
	// The reason alone is not enough: a Limiter may return any error.
	permanent := reason == ErrPermanent && c.attempt.ends()
	err := c.attempt.Err
	if o, ok := err.(*errfacts.Overtime); ok && permanent {
		err = o.Err
	}
	if permanent && p.OnGiveUp == nil {
		return err
	}
	if end := ctx.Err(); end != nil && c.before != nil && isEndOf(end, err) {
		err = fmt.Errorf("%w, after: %w", err, c.before)
	}
	e := &Error{Err: err, Reason: reason, Attempts: c.earlier + c.attempt.Number, Next: next}
	if reason == errDeadline {
		e.deadline, _ = ctx.Deadline()
	}
	if c.retries {
		e.SinceFailure = max(0, now(p.Clock).Sub(c.failed))
	}
	if p.OnGiveUp != nil {
		p.OnGiveUp(ctx, e)
	}
	if permanent {
		return err
	}
	return e
}

// guard is deferred by run. A panic in the operation passes through; one in a function of the policy continues with the operation's error added.
func (c *call) guard() {
	if c.inOp || c.attempt.Err == nil {
		return
	}
	if v := recover(); v != nil {
		panic(&policyPanic{value: v, err: c.attempt.Err})
	}
}

func timeLeft(ctx context.Context, clock Clock) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Sub(now(clock))
	}
	return noDeadline
}

// contextReason returns a reason that matches the error and the cause of ctx, or other
// if ctx is not done.
func contextReason(ctx context.Context, other error) error {
	err := ctx.Err()
	if err == nil {
		return other
	}
	cause := context.Cause(ctx)
	if errfacts.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
