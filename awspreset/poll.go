package awspreset

import (
	"context"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// LongPoll keeps a program that polls in a loop from spinning. Call it with the error of each
// long poll, such as ReceiveMessage of SQS. If only the Budget prevented a retry, LongPoll waits
// for the delay of that retry. The SDKs have done so since November 2026. p is the policy of the
// call, and err is the call's error:
//
//	err := awspreset.LongPoll(ctx, p, retry.Do(ctx, p, receive))
//
// LongPoll returns err or, if ctx ends during the wait, an error that matches both err and
// ctx's error. The wait is on p.Clock.
func LongPoll(ctx context.Context, p retry.Policy, err error) error {
	e, ok := errfacts.As[*retry.Error](err)
	if !ok || e.Reason != retry.ErrBudget {
		return err
	}
	if p.Clock == nil {
		p.Clock = retry.SystemClock{}
	}
	if ended := p.Clock.Sleep(ctx, e.Next); ended != nil {
		return &retry.Error{Err: err, Reason: ended, Attempts: e.Attempts, SinceFailure: e.SinceFailure}
	}
	return err
}
