package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Why a call gave up: the Reason of an [Error], or the context's own error.
var (
	// ErrMaxAttempts means that the operation failed Policy.MaxAttempts times.
	ErrMaxAttempts = errors.New("all attempts used")
	// ErrMaxElapsed means that the next wait would have ended after Policy.MaxElapsed.
	ErrMaxElapsed = errors.New("time limit of the policy")
	// ErrBudget means that the client's own Budget refused the retry; the server has no part in it.
	ErrBudget = errors.New("client-side retry budget used up")
	// ErrHint means that the server asked for a longer wait than the policy's HintRule allows.
	ErrHint = errors.New("server asks for too long a wait")
	// ErrUnrepeatable means that the operation must not be repeated: see [Unrepeatable].
	ErrUnrepeatable = errors.New("not safe to repeat")
	// ErrPermanent is the reason that Policy.OnGiveUp sees after a permanent
	// failure. Do then returns the operation's own error, which does not match it.
	ErrPermanent = errors.New("permanent failure")
)

// errDeadline is the reason for giving up before the context's deadline.
var errDeadline = fmt.Errorf("wait would outlast the context: %w", context.DeadlineExceeded)

// ErrNoReturn is what an attempt's completion callback gets if the operation
// panicked or ended its goroutine, and what the done of a [Group] gets if
// anything ended the goroutine of the call.
var ErrNoReturn = errors.New("operation did not return")

// Do calls op until it succeeds, fails for good, or the policy gives up. It
// returns nil if and only if op returned nil.
//
// A failure whose class is permanent ends the call, and Do returns op's error
// as it is, unless ctx has ended too. In all other cases Do returns an [*Error]
// that says why it gave up and matches the last failure.
//
// The end of ctx ends the call, also while it waits. Do never begins an attempt
// once ctx has ended, nor a wait for the next one that would outlast the
// deadline of ctx: it gives up at once with an error that matches
// [context.DeadlineExceeded]. (How long a Limiter waits is its own affair.) Only
// the state of ctx itself counts, so an attempt that ran into a time limit of
// its own is retried.
//
// An invalid policy, a nil ctx and a nil op are refused before op is called,
// with an error that matches [ErrInvalid]. Panics of op pass through; a panic of one
// of the policy's own functions after a failure goes on with an error as its value
// that matches the failure and, if it is an error, the original value.
//
// Retry at one layer only. If op itself contains a call of Do that gave up,
// that counts as permanent here, unless it is marked with [Transient].
func Do(ctx context.Context, p Policy, op func(context.Context) error) error {
	if p.unfit(ctx, op != nil) {
		return p.refuse(ctx, op != nil)
	}
	var first error
	if p.bare() && ctx.Err() == nil {
		// The first attempt needs none of the loop's state, and most calls
		// succeed here: this doubles their speed.
		if first = op(ctx); first == nil {
			return nil
		}
	}
	return run(ctx, &p, op, first)
}

// DoValue is [Do] for an operation that returns a value. Beside an error it
// returns the value of the last attempt, or the zero value if there was none.
func DoValue[T any](ctx context.Context, p Policy, op func(context.Context) (T, error)) (T, error) {
	var v T
	if p.unfit(ctx, op != nil) {
		return v, p.refuse(ctx, op != nil)
	}
	var first error
	if p.bare() && ctx.Err() == nil { // as in Do; to call that would cost 5 ns
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

// run is the loop. It starts with the failure of the first attempt, or with
// nil if that has yet to be made.
//
// It waits by itself, and what needs a larger frame is in functions of its own: so
// a call that waits, and whose operation is as frugal, fits into the 2 KiB of
// stack that a goroutine begins with.
func run(ctx context.Context, p *Policy, op func(context.Context) error, first error) error {
	var c call
	c.begin(p)
	for {
		wait, ended, err := c.turn(ctx, p, op, first)
		if ended {
			return err
		}
		first = nil
		if wait > 0 {
			select {
			case <-c.alarm(wait):
			case <-ctx.Done():
				return c.cutShort(ctx, p)
			}
		}
	}
}

// call is the state of one call of [Do]. It must not hold a pointer to the
// policy: some of its contents reach interface methods, and what they might
// keep the compiler moves to the heap, the whole policy with it.
type call struct {
	attempt Attempt   // the one that runs or ended last; Err is that of the last failure
	paid    Class     // of the failure that the last retry was withdrawn for
	spent   bool      // the budget has refused the retry, but the wait before it was to be
	inOp    bool      // the operation is running
	timed   bool      // start is set
	start   time.Time // of the call if the policy has a MaxElapsed, else the first failure
	timer   *time.Timer
}

// begin starts the call.
func (c *call) begin(p *Policy) {
	if p.MaxElapsed != 0 {
		c.started(p.Clock)
	}
}

// turn makes an attempt, unless it has been made and failed with first, and
// decides what follows: a wait and another turn, or the end of the call with its
// error. On another clock than the system's it waits itself.
func (c *call) turn(ctx context.Context, p *Policy, op func(context.Context) error, first error) (wait time.Duration, ended bool, err error) {
	wait = panicking
	defer c.guard(&wait)
	switch {
	case first != nil:
		c.attempt.Number = 1
		c.conclude(p, first)
	case c.spent:
		return 0, true, c.giveUp(ctx, p, contextReason(ctx, ErrBudget), 0)
	default:
		if reason := admit(ctx, p); reason != nil {
			return 0, true, c.giveUp(ctx, p, reason, 0)
		}
		if c.try(ctx, p, op) == nil {
			return 0, true, nil
		}
	}
	next, reason := c.next(ctx, p)
	if c.spent = p.LongPoll && reason == ErrBudget; reason != nil && !c.spent {
		return 0, true, c.giveUp(ctx, p, reason, next)
	}
	c.attempt.Waited = next
	if isSystem(p.Clock) {
		return next, false, nil
	}
	if cut := p.Clock.Sleep(ctx, next); cut != nil {
		return 0, true, c.giveUp(ctx, p, contextReason(ctx, cut), 0)
	}
	return 0, false, nil
}

// alarm returns a channel for the end of a wait on the system's clock. All waits
// of a call share a timer, but calls do not: one that was made outside of a
// synctest bubble keeps real time inside it.
//
//go:noinline
func (c *call) alarm(wait time.Duration) <-chan time.Time {
	if c.timer == nil {
		c.timer = time.NewTimer(wait)
	} else {
		c.timer.Reset(wait)
	}
	return c.timer.C
}

// cutShort ends a call whose context has ended during a wait.
func (c *call) cutShort(ctx context.Context, p *Policy) error {
	wait := panicking
	defer c.guard(&wait)
	if c.timer != nil {
		c.timer.Stop()
	}
	err := c.giveUp(ctx, p, contextReason(ctx, context.Canceled), 0)
	wait = 0
	return err
}

func (c *call) started(clock Clock) { c.timed, c.start = true, now(clock) }

// elapsed is not negative, also if the clock goes back.
func (c *call) elapsed(clock Clock) time.Duration { return max(0, now(clock).Sub(c.start)) }

// admit returns when the next attempt may begin, or with the reason why it may not.
func admit(ctx context.Context, p *Policy) error {
	if p.Limiter != nil && ctx.Err() == nil {
		if err := p.Limiter.Wait(ctx); err != nil {
			return contextReason(ctx, err)
		}
	}
	if ctx.Err() != nil { // perhaps since the limiter began to wait
		return contextReason(ctx, nil)
	}
	return nil
}

// try runs one attempt and sets the outcome in c.attempt.
func (c *call) try(ctx context.Context, p *Policy, op func(context.Context) error) error {
	c.attempt.Number++
	if p.AttemptTimeout == 0 && p.OnAttempt == nil {
		return c.perform(ctx, p, op)
	}
	return c.tryWatched(ctx, p, op)
}

// tryWatched is try with a context made for the attempt.
func (c *call) tryWatched(ctx context.Context, p *Policy, op func(context.Context) error) error {
	if p.AttemptTimeout != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.AttemptTimeout)
		defer cancel()
	}
	if p.OnAttempt != nil {
		ended := Attempt{Number: c.attempt.Number, Waited: c.attempt.Waited}
		derived, done := p.OnAttempt(ctx, ended)
		if derived != nil {
			ctx = derived
		}
		if done != nil {
			ended.Err = ErrNoReturn
			defer func() {
				if !c.inOp {
					ended = c.attempt
				}
				done(ended)
			}()
		}
	}
	return c.perform(ctx, p, op)
}

// perform calls the operation.
func (c *call) perform(ctx context.Context, p *Policy, op func(context.Context) error) error {
	c.inOp = true
	err := op(ctx)
	c.inOp = false
	c.conclude(p, err)
	return err
}

// conclude classifies the outcome and tells those that keep account of it.
func (c *call) conclude(p *Policy, err error) {
	a := &c.attempt
	a.Err, a.Class, a.Unrepeatable, a.Hint = err, ClassUnknown, false, 0
	if err != nil {
		a.classify(p.Classifier)
	}
	if o, ok := p.Limiter.(Observer); ok {
		o.Observe(c.attempt)
	}
	if err == nil && p.Budget != nil {
		p.Budget.Deposit(c.paid, true)
	}
}

// next decides what follows a failure: a retry after the returned wait, or the
// end for the returned reason.
func (c *call) next(ctx context.Context, p *Policy) (time.Duration, error) {
	a := &c.attempt
	switch {
	case ctx.Err() != nil:
		return 0, contextReason(ctx, nil)
	case a.Class == ClassPermanent:
		if p.Budget != nil {
			p.Budget.Deposit(c.paid, false)
		}
		return 0, ErrPermanent
	case a.Unrepeatable:
		return 0, ErrUnrepeatable
	case a.Number >= p.maxAttempts():
		return 0, ErrMaxAttempts
	}
	if !c.timed {
		c.started(p.Clock)
	}
	wait, ok := p.wait(a, p.random())
	if !ok {
		return wait, ErrHint
	}
	if deadline, ok := ctx.Deadline(); ok && wait >= deadline.Sub(now(p.Clock)) {
		return wait, errDeadline
	}
	if p.MaxElapsed != 0 && wait > p.MaxElapsed-c.elapsed(p.Clock) {
		return wait, ErrMaxElapsed
	}
	if p.Budget != nil {
		if !p.Budget.TryWithdraw(*a) {
			return wait, ErrBudget
		}
		c.paid = a.Class
	}
	if p.OnRetry != nil {
		p.OnRetry(ctx, *a, wait)
	}
	return wait, nil
}

// giveUp ends the call without success.
func (c *call) giveUp(ctx context.Context, p *Policy, reason error, next time.Duration) error {
	// The reason alone does not tell: a Limiter may return any error.
	permanent := reason == ErrPermanent && c.attempt.Class == ClassPermanent
	if permanent && p.OnGiveUp == nil {
		return c.attempt.Err
	}
	e := &Error{Err: c.attempt.Err, Reason: reason, Attempts: c.attempt.Number, Next: next}
	if c.timed {
		e.Elapsed = c.elapsed(p.Clock)
	}
	if p.OnGiveUp != nil {
		p.OnGiveUp(ctx, e)
	}
	if permanent {
		return e.Err
	}
	return e
}

// contextReason returns the end of ctx as a reason that matches its error and
// its cause, or other if ctx is alive.
func contextReason(ctx context.Context, other error) error {
	err := ctx.Err()
	if err == nil {
		return other
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// panicking is the wait of a function that has not returned yet.
const panicking time.Duration = -1

// guard is deferred for panics. One of op passes through as it is.
// One of the policy's own functions would hide op's last error, so it goes on
// as an error that holds both. To ask whether there is one costs more than
// to look at the wait that the function is about to return.
func (c *call) guard(wait *time.Duration) {
	if *wait != panicking || c.inOp || c.attempt.Err == nil {
		return
	}
	if v := recover(); v != nil {
		panic(&policyPanic{value: v, err: c.attempt.Err})
	}
}
