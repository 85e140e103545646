package adapt

import (
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
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
	policy   retry.Policy
	failures int
	waited   time.Duration // the wait before the last failed attempt
	start    time.Time     // set if the policy has a MaxElapsed
	paid     retry.Attempt // the last failure that was retried
}

// NewSequence returns the Sequence of a call that begins now.
func NewSequence(p retry.Policy) *Sequence {
	s := &Sequence{policy: p}
	s.Reset()
	return s
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
// whether to retry it. It decides as [retry.Policy.Next] does.
func (s *Sequence) Retry(err error) (delay time.Duration, retryIt bool) {
	v := s.policy.Classify(err)
	if v.Progress {
		s.Succeeded()
	}
	s.failures = increment(s.failures)
	failed := retry.Attempt{Number: s.failures, Waited: s.waited, Err: err, Verdict: v}
	var elapsed time.Duration
	if s.policy.MaxElapsed != 0 {
		elapsed = max(0, s.now().Sub(s.start))
	}
	p := s.policy
	p.Classifier = retry.ClassifierFunc(func(error) retry.Verdict { return v }) // classified above
	wait, reason := p.Next(failed, elapsed)
	switch {
	case reason == nil:
		s.waited, s.paid = wait, failed
	case reason == retry.ErrPermanent && !v.GaveUp && !errfacts.Read(err).Canceled: // otherwise the server has not answered
		s.deposit(err)
	}
	return wait, reason == nil
}

// Succeeded reports a success to the policy's Budget, and then calls [Sequence.Reset].
func (s *Sequence) Succeeded() {
	s.deposit(nil)
	s.Reset()
}

// Reset restarts the Sequence for a new call: the next failure is its first.
func (s *Sequence) Reset() {
	s.failures, s.waited, s.paid = 0, 0, retry.Attempt{}
	if s.policy.MaxElapsed != 0 {
		s.start = s.now()
	}
}

func (s *Sequence) deposit(err error) {
	if s.policy.Budget != nil {
		s.policy.Budget.Deposit(s.paid, err)
		s.paid = retry.Attempt{}
	}
}

func (s *Sequence) now() time.Time {
	if s.policy.Clock == nil {
		return time.Now()
	}
	return s.policy.Clock.Now()
}
