package adapt

import (
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// DelayFor decides whether and when a queue should redeliver a message or job. Like
// [retry.Policy.Next], it returns the wait, or the reason why there should be no retry.
// failed is the number of failures, including this one, and err is the latest failure. Less
// than 1 counts as 1. For a queue that counts the retries before this attempt, such as asynq,
// pass one more.
//
// The random numbers are derived from the id instead of the policy's Rand, so every
// worker computes the same chain of delays, even after a restart, and nothing is stored.
// Each message needs its own id, the same for every delivery; otherwise messages that
// failed together are redelivered together.
//
// Earlier failures count as transient failures without hints. The sum of their delays counts as
// the elapsed time for MaxElapsed; the duration of the attempts is unknown. A rule that derives
// each delay from the previous one needs all delays before. After more than 1,000 failures,
// DelayFor computes only the last 1,000 of them.
//
// If err says that a retry loop inside the handler gave up (see [retry.Verdict.GaveUp]), it is
// not final: DelayFor decides by the last failure of that loop.
//
// As in Next, a retry withdraws from the Budget, but the caller has to make the deposits.
func DelayFor(p retry.Policy, id string, failed int, err error) (time.Duration, error) {
	h := fnv.New64a()
	_, _ = io.WriteString(h, id) // never fails
	seed := h.Sum64()
	last := walk(p.Backoff, failed, func(number int) float64 { return numberOf(seed, number) })
	p.Rand = func() float64 { return numberOf(seed, last.number) }
	if v := p.Classify(err); v.GaveUp {
		v.GaveUp = false
		p.Classifier = retry.ClassifierFunc(func(error) retry.Verdict { return v })
		err = &lastFailure{err}
	}
	return p.Next(retry.Attempt{Number: last.number, Waited: last.waited, Err: err}, last.total)
}

// numberOf returns the random number of an attempt, uniform in [0, 1).
func numberOf(seed uint64, number int) float64 {
	return float64(rand.NewPCG(seed, uint64(number)).Uint64()>>11) / (1 << 53)
}

// lastFailure hides the markers in an error whose verdict is known, because they would
// override a Classifier. errors.Is and errors.As still find what it wraps.
type lastFailure struct{ err error }

func (e *lastFailure) Error() string        { return e.err.Error() }
func (e *lastFailure) Is(target error) bool { return errors.Is(e.err, target) }
func (e *lastFailure) As(target any) bool   { return errors.As(e.err, target) }
