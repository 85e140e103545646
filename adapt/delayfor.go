package adapt

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// DelayFor decides whether and when a queue should redeliver a message or job. failed is
// the number of its failures, including this one, and err is the latest failure. Like
// [retry.Policy.Next], DelayFor returns the wait before the next delivery, or the reason
// why there should be none.
//
// The random numbers are derived from the id instead of the policy's Rand: every worker
// computes the same chain of delays, even after a restart, and nothing is stored. The id
// must be the same for every delivery and different for every message; otherwise
// messages that failed together are redelivered together.
//
// The earlier delays are computed as if the failures had been transient and without
// hints. Their sum counts as the elapsed time for MaxElapsed; the duration of the
// attempts is not known. After more than 1,000 failures, a rule that derives a delay
// from the one before starts from the last 1,000.
//
// The Budget is used as in Next: the caller makes the deposits.
func DelayFor(p retry.Policy, id string, failed int, err error) (time.Duration, error) {
	h := fnv.New64a()
	_, _ = io.WriteString(h, id) // never fails
	seed := h.Sum64()
	last := walk(p.Backoff, failed, func(number int) float64 { return numberOf(seed, number) })
	p.Rand = func() float64 { return numberOf(seed, last.number) }
	return p.Next(retry.Attempt{Number: last.number, Waited: last.waited, Err: err}, last.total)
}

// numberOf returns the random number of an attempt, uniform in [0, 1).
func numberOf(seed uint64, number int) float64 {
	return float64(rand.NewPCG(seed, uint64(number)).Uint64()>>11) / (1 << 53)
}
