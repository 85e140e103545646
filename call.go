package retry

import (
	"context"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// A Call makes the decisions of [Do] for a loop that cannot use Do, such as that of a stream, a
// controller, a queue or another library. It counts the attempts and keeps the books of the
// Budget:
//
//	call := policy.Start()
//	for {
//		err := receive(ctx)
//		if err == nil {
//			call.Succeeded()
//			return nil
//		}
//		wait, reason := call.Failed(ctx, err)
//		if reason == nil {
//			reason = retry.SystemClock{}.Sleep(ctx, wait)
//		}
//		if reason != nil {
//			return call.GiveUp(ctx, reason)
//		}
//	}
//
// The loop itself waits and makes the attempts. A Call therefore does not apply four things that
// Do applies: AttemptTimeout, the hook OnAttempt, the Wait of the Limiter, and the Sleep of the
// Clock. If the policy has them, the loop has to apply them.
//
// The zero Call has the zero Policy, without a time limit. A Call must not be copied, and is not
// safe for concurrent use.
type Call struct {
	policy Policy
	call   call
	next   time.Duration // what Failed returned together with a reason
}

// Start returns a Call that begins now.
func (p Policy) Start() *Call {
	c := &Call{policy: p}
	c.begin()
	return c
}

// Resume returns a Call that has failed before, perhaps in another process, such as that of a
// message that a queue delivers again. failures is the number of its failed attempts, waited the
// wait before the attempt that is made now, and elapsed the time since the first attempt began.
// Values below 0 count as 0. The Call does not read the Clock to learn how much more time
// passes, so for MaxElapsed only the waits that Failed returns are added to elapsed.
//
// For the Budget, the last failure before counts as a transient one whose retry has been paid.
//
// If only one decision is needed, the Call lives for one line:
//
//	wait, reason := policy.Resume(m.Failures, m.Waited, time.Since(m.First)).Failed(ctx, err)
func (p Policy) Resume(failures int, waited, elapsed time.Duration) *Call {
	c := &Call{policy: p}
	c.call.stored = true
	c.call.slept = max(0, elapsed)
	if failures <= 0 {
		return c
	}
	c.call.attempt = Attempt{Number: failures, Waited: max(0, waited), Verdict: Verdict{Class: ClassTransient}}
	if p.Budget != nil {
		c.call.paid = c.call.attempt
	}
	return c
}

func (c *Call) begin() {
	c.call = call{}
	if c.policy.MaxElapsed != 0 {
		c.call.start = now(c.policy.Clock)
	}
}

// Failed counts an attempt that failed with err. It returns the wait before the next attempt,
// or the reason why there should be none: [ErrPermanent] or another Error.Reason. With
// [ErrMaxElapsed], [ErrBudget], [ErrHint] and the deadline of ctx, it also returns the wait that
// the next attempt would have needed. If an argument is nil or a number of the policy is
// negative, the reason matches [ErrInvalid], and the attempt is not counted.
//
// ctx is that of the whole call: no attempt follows once it is done, or if the wait would
// outlast its deadline. Pass context.Background() if the next attempt does not depend on ctx,
// as that of a message that another worker may receive.
//
// Failed withdraws a retry from the Budget and makes the deposits for an answer and for
// [Progress]. It calls OnRetry before it returns a wait, and the methods Observe and
// Paces of a [Limiter] that has them.
func (c *Call) Failed(ctx context.Context, err error) (wait time.Duration, reason error) {
	c.next = 0
	if c.policy.mustRefuse(ctx, true) || err == nil {
		return 0, c.policy.undecided(ctx, err)
	}
	c.call.attempt.Number = c.call.following()
	c.call.conclude(&c.policy, err)
	wait, reason = c.call.next(ctx, &c.policy)
	if reason != nil {
		c.next = wait
		return wait, reason
	}
	c.call.slept = dur.Add(c.call.slept, wait)
	return wait, nil
}

// undecided says why there is no decision about err.
func (p *Policy) undecided(ctx context.Context, err error) error {
	faults := p.callFaults(ctx, true)
	if err == nil {
		faults = append(faults, "the attempt has no error")
	}
	return invalid("call", faults)
}

// Succeeded makes the Budget's deposit for a success. After that, the Call starts again: the
// next failure is its first, and MaxElapsed counts from now.
func (c *Call) Succeeded() {
	c.call.conclude(&c.policy, nil)
	c.begin()
}

// GiveUp returns the error that [Do] returns when it gives up for a reason, and calls OnGiveUp.
// The reason is that of Failed, or why the loop could not wait or make the next attempt, such as
// ctx.Err(). After [ErrPermanent], GiveUp returns the error that was passed to Failed, as Do does.
func (c *Call) GiveUp(ctx context.Context, reason error) error {
	if reason == ctx.Err() {
		reason = contextReason(ctx, reason)
	}
	return c.call.giveUp(ctx, &c.policy, reason, c.next)
}
