package adapt

import (
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// DelayFor decides whether and when a queue should redeliver a message or job. Like
// [retry.Call.Failed], it returns the wait, or the reason why there should be no retry.
// failed is the number of failures, including this one, and err is the latest failure. Less
// than 1 counts as 1. For a queue that counts the retries before this attempt, such as asynq,
// pass one more. A consumer that knows the context of its worker uses [Settle].
//
// The random numbers are derived from the id instead of the policy's Rand, so every
// worker computes the same chain of delays, even after a restart, and nothing is stored.
// Each message needs its own id, the same for every delivery; otherwise messages that
// failed together are redelivered together. If id is empty, each delay is random.
//
// Earlier failures count as transient failures without hints. The sum of their delays counts as
// the elapsed time for MaxElapsed; the duration of the attempts is unknown. A rule that derives
// each delay from the previous one needs all delays before. After more than 1,000 failures,
// DelayFor computes only the last 1,000 of them.
//
// If err says that a retry loop inside the handler gave up (see [retry.Verdict.GaveUp]), it is
// not final: DelayFor decides by the last failure of that loop.
//
// If err says that the handler, or a retry loop inside it, was canceled, the message has not
// failed: the program is being stopped. DelayFor then returns the delay of the Backoff, whatever
// the limits of the policy, and the Budget is not asked. DelayFor cannot know whose context was
// canceled, so a handler that cancels itself is called again and again.
//
// DelayFor keeps the books of the Budget for failures. If the policy has a Budget, a worker whose
// handler succeeds has to report that, with the number of failures before:
//
//	policy.Resume(failed, 0, 0).Succeeded()
func DelayFor(p retry.Policy, id string, failed int, err error) (time.Duration, error) {
	v := judge(p, err)
	if wasCanceled(v, err) {
		seed := seedOf(id)
		last := lastOf(p, seed, failed)
		return last.next(p.Backoff, numberOf(seed, last.number)), nil
	}
	return decide(p, id, failed, v, err)
}

// decide is DelayFor for a failure that counts. v is the verdict about err.
func decide(p retry.Policy, id string, failed int, v retry.Verdict, err error) (time.Duration, error) {
	v.GaveUp = false // the queue may begin the loop inside the handler again
	seed := seedOf(id)
	last := lastOf(p, seed, failed)
	p.Rand = func() float64 { return numberOf(seed, last.number) }
	call := withoutHooks(p).Resume(last.number-1, last.waited, last.total)
	return call.Failed(context.Background(), retry.WithVerdict(err, v))
}

// judge returns what the policy says about err, except that a cancellation is transient unless it
// is marked.
func judge(p retry.Policy, err error) retry.Verdict {
	own := p.Classifier
	if own == nil {
		own = retry.DefaultClassifier{}
	}
	p.Classifier = retry.FirstOf(retry.ClassifierFunc(canceledIsTransient), own)
	return p.Classify(err)
}

// canceledIsTransient does not know other errors than cancellations.
func canceledIsTransient(err error) retry.Verdict {
	if errfacts.Read(err).Canceled {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{}
}

// wasCanceled reports whether only the end of a context has ended the attempt, or the retry loop
// inside it. v is the verdict about err.
func wasCanceled(v retry.Verdict, err error) bool {
	if err == nil || v.Unrepeatable || v.Class == retry.ClassPermanent {
		return false
	}
	if errfacts.Read(err).Canceled {
		return true
	}
	for e := range errfacts.All(err) {
		loop, ok := e.(*retry.Error)
		if ok {
			return errfacts.Is(loop.Reason, context.Canceled)
		}
	}
	return false
}

// lastOf returns the attempt with the given number in the chain of a message.
func lastOf(p retry.Policy, seed uint64, number int) link {
	return walk(p.Backoff, number, func(number int) float64 { return numberOf(seed, number) })
}

// seedOf returns the seed of a message's random numbers.
func seedOf(id string) uint64 {
	if id == "" {
		return rand.Uint64() // messages without an id do not wait alike
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, id) // never fails
	return h.Sum64()
}

// withoutHooks returns the policy for a Call whose attempts and waits nobody reports.
func withoutHooks(p retry.Policy) retry.Policy {
	p.Limiter = nil
	p.Hooks = retry.Hooks{}
	return p
}

// numberOf returns the random number of an attempt, uniform in [0, 1).
func numberOf(seed uint64, number int) float64 {
	return float64(rand.NewPCG(seed, uint64(number)).Uint64()>>11) / (1 << 53)
}
