package adapt

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// An Action is what a consumer does with a message after its handler has returned. The zero
// value is Ack.
type Action int

// The actions.
const (
	Ack        Action = iota // the work is done: acknowledge the message
	Redeliver                // deliver the message again after Outcome.Wait, with one more failure
	DeadLetter               // store a copy with Outcome.Err for someone to examine, then acknowledge the message
	GiveBack                 // deliver the message again, with the same number of failures
)

var actionNames = map[Action]string{
	Ack:        "ack",
	Redeliver:  "redeliver",
	DeadLetter: "dead letter",
	GiveBack:   "give back",
}

// String returns the action in lower case, or "unknown".
func (a Action) String() string {
	name, ok := actionNames[a]
	if !ok {
		return "unknown"
	}
	return name
}

// An Outcome is what [Settle] has decided about a message.
type Outcome struct {
	// Action is what the consumer has to do. If the broker refuses to store the dead letter, do
	// not acknowledge the message.
	Action Action

	// Wait is the time before the next delivery. It is 0 unless Action is Redeliver.
	Wait time.Duration

	// Err says why Action is DeadLetter: its Err is the handler's error, its Reason as for
	// [retry.Call.Failed], and its Attempts the attempt that was passed to Settle. It is nil for
	// other actions.
	Err *retry.Error
}

// Settle decides what a consumer does with a message whose handler has returned err. The first
// row that applies counts:
//
//	err is nil                                                  Ack
//	err is unrepeatable: the work may have taken effect         DeadLetter
//	err is permanent, such as a message that does not parse     DeadLetter
//	ctx was canceled, because the worker is being stopped       GiveBack
//	p allows no further attempt                                 DeadLetter
//	any other err                                               Redeliver
//
// Whatever the outcome, the connection to the broker still works: settle the message and go on
// with the next one. A consumer that ends its connection because a handler has failed gets the
// same message again, before all others.
//
// ctx is the worker's context, which is canceled when the worker is stopped. A deadline of ctx
// counts as a failure of the message, because a message that always needs longer must not be
// delivered for ever.
//
// attempt is the number of this attempt, from 1: the failures before it and one more. Less than
// 1 counts as 1. Attempts that ended with GiveBack do not count, if the broker can leave them
// out.
//
// p and id are those of [DelayFor], with these differences. While ctx is not canceled, a
// cancellation is a failure like others, for example one of a context that the handler has made.
// It is not permanent, unless it is marked with [retry.Permanent]. After ctx was canceled, an
// error that matches [context.Canceled] is not permanent, even if it is marked.
//
// Settle makes the deposits for the Budget of p, also for a success. It does not call the hooks
// of p, does not wait, and does not run the handler. An invalid p makes dead letters of all
// failures, so check it with [retry.Policy.Validate] when the worker starts.
func Settle(ctx context.Context, p retry.Policy, id string, attempt int, err error) Outcome {
	attempt = max(1, attempt)
	if err == nil {
		withoutHooks(p).Resume(attempt-1, 0, 0).Succeeded()
		return Outcome{Action: Ack}
	}
	v := judge(p, err)
	if ctx.Err() == context.Canceled && isInterrupted(v, err) {
		return Outcome{Action: GiveBack}
	}
	wait, reason := decide(p, id, attempt, v, err)
	if reason == nil {
		return Outcome{Action: Redeliver, Wait: wait}
	}
	return Outcome{Action: DeadLetter, Err: &retry.Error{Err: err, Reason: reason, Attempts: attempt, Next: wait}}
}

// isInterrupted reports whether a handler whose worker is being stopped may have failed because
// of that.
func isInterrupted(v retry.Verdict, err error) bool {
	return !v.Unrepeatable && (v.Class != retry.ClassPermanent || errfacts.Is(err, context.Canceled))
}
