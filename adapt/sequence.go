package adapt

import (
	"time"

	"github.com/gobackoff/retry"
)

// A Sequence is the state of one call that another library's loop makes: it returns the
// delays of a [retry.Policy] one after the other and ends them when the policy gives up.
// It is a BackOff of github.com/cenkalti/backoff (v4 to v7), a Backoff of
// github.com/sethvargo/go-retry and a Retryer of github.com/googleapis/gax-go:
//
//	backoff.Retry(ctx, op, backoff.WithBackOff(adapt.NewSequence(policy)))
//	goretry.Do(ctx, adapt.NewSequence(policy), op)
//	gax.Invoke(ctx, call, gax.WithRetry(func() gax.Retryer { return adapt.NewSequence(policy) }))
//
// Only gax passes errors on. In the other two the operation marks an error, in the way of
// that library: cenkalti retries all errors but backoff.Permanent, sethvargo none but
// RetryableError. The classes of those that are retried are unknown, and count as transient.
//
// A retry is withdrawn from the policy's Budget. These libraries do not tell the end of a
// call, so call [Sequence.Succeeded] after a success, or the Budget is never refilled.
//
// A Sequence must not be shared between calls or goroutines that run at the same time.
type Sequence struct {
	policy   retry.Policy
	failures int
	waited   time.Duration // before the last failed attempt
	start    time.Time     // if the policy has a MaxElapsed
	paid     retry.Class   // of the failure that the last retry was withdrawn for
}

// NewSequence returns the Sequence of a call that begins now.
func NewSequence(p retry.Policy) *Sequence {
	s := &Sequence{policy: p}
	s.Reset()
	return s
}

// NextBackOff returns the delay before the next retry, or -1 if there is to be none.
func (s *Sequence) NextBackOff() time.Duration {
	if wait, ok := s.Retry(errFailed); ok {
		return wait
	}
	return -1
}

// Next returns the delay before the next retry, or true if there is to be none.
func (s *Sequence) Next() (delay time.Duration, stop bool) {
	wait, ok := s.Retry(errFailed)
	return wait, !ok
}

// Retry returns the delay before the retry of an attempt that failed with err, and whether
// there is to be one. It decides as [retry.Policy.Next] does.
func (s *Sequence) Retry(err error) (delay time.Duration, retryIt bool) {
	failed := s.policy.Classify(err)
	if failed.Number == 1 { // after progress
		s.Succeeded()
	}
	s.failures = increment(s.failures)
	failed.Number, failed.Waited = s.failures, s.waited
	var elapsed time.Duration
	if s.policy.MaxElapsed != 0 {
		elapsed = max(0, s.now().Sub(s.start))
	}
	p := s.policy
	p.Classifier = retry.ClassifierFunc(func(error) retry.Class { return failed.Class }) // it was asked once
	wait, reason := p.Next(failed, elapsed)
	switch {
	case reason == nil:
		s.waited, s.paid = wait, failed.Class
	case reason == retry.ErrPermanent:
		s.deposit(false)
	}
	return wait, reason == nil
}

// Succeeded reports to the policy's Budget that the call succeeded, and begins anew like
// [Sequence.Reset].
func (s *Sequence) Succeeded() {
	s.deposit(true)
	s.Reset()
}

// Reset begins anew: the next failure is the first of a call that begins now.
func (s *Sequence) Reset() {
	s.failures, s.waited, s.paid = 0, 0, retry.ClassUnknown
	if s.policy.MaxElapsed != 0 {
		s.start = s.now()
	}
}

func (s *Sequence) deposit(succeeded bool) {
	if s.policy.Budget != nil {
		s.policy.Budget.Deposit(s.paid, succeeded)
		s.paid = retry.ClassUnknown
	}
}

func (s *Sequence) now() time.Time {
	if s.policy.Clock == nil {
		return time.Now()
	}
	return s.policy.Clock.Now()
}
