package adapt

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

// A Sequence returns the delays of one call in another library's retry loop, and stops
// when the [retry.Policy] gives up. It is a BackOff of github.com/cenkalti/backoff (v4 to
// v7), a Backoff of github.com/sethvargo/go-retry and a Retryer of
// github.com/googleapis/gax-go:
//
//	backoff.Retry(ctx, op, backoff.WithBackOff(adapt.NewSequence(policy)))
//	goretry.Do(ctx, adapt.NewSequence(policy), op)
//	gax.Invoke(ctx, call, gax.WithRetry(func() gax.Retryer { return adapt.NewSequence(policy) }))
//
// Of these libraries, only gax passes the operation's errors to the Sequence. With the
// other two, mark errors as the library requires: cenkalti retries all errors except
// backoff.Permanent, sethvargo only RetryableError. All errors that they retry count as
// transient.
//
// Each retry takes its cost from the policy's Budget. Call [Sequence.Succeeded] after a
// success, because these libraries do not report it; otherwise the Budget is never
// refilled.
//
// A Sequence serves one call at a time and is not safe for concurrent use.
type Sequence struct {
	policy retry.Policy
	call   *retry.Call
}

// NewSequence returns the Sequence of a call that begins now.
func NewSequence(p retry.Policy) *Sequence {
	p = withoutHooks(p)
	return &Sequence{p, p.Start()}
}

// NextBackOff returns the delay before the next retry, or -1 to stop.
func (s *Sequence) NextBackOff() time.Duration {
	if wait, ok := s.Retry(errFailed); ok {
		return wait
	}
	return -1
}

// Next returns the delay before the next retry; stop is true if there should be none.
func (s *Sequence) Next() (delay time.Duration, stop bool) {
	wait, ok := s.Retry(errFailed)
	return wait, !ok
}

// Retry returns the delay before the retry of an attempt that failed with err, and
// whether to retry it. It decides as [retry.Call.Failed] does.
func (s *Sequence) Retry(err error) (delay time.Duration, retryIt bool) {
	wait, reason := s.call.Failed(context.Background(), err)
	return wait, reason == nil
}

// Succeeded reports a success to the policy's Budget, and then calls [Sequence.Reset].
func (s *Sequence) Succeeded() { s.call.Succeeded() }

// Reset restarts the Sequence for a new call: the next failure is its first.
func (s *Sequence) Reset() { s.call = s.policy.Start() }
