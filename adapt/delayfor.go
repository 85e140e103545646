package adapt

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// DelayFor decides about a message or job that a queue delivers again. failed is how many
// times it has failed, this time included, and err is what it failed with. DelayFor
// returns what [retry.Policy.Next] returns: the wait before the next delivery, or the
// reason why there is to be none.
//
// The random numbers come from the id instead of the policy's Rand: every worker finds
// the same chain of delays, after a restart too, and nothing is stored. The id has to be
// the same for every delivery and different for every message, or messages that failed
// together come back together.
//
// The delays before this one are taken as those after transient failures without hints.
// Their sum is what has elapsed for MaxElapsed; the time of the attempts is not
// known. After more than 1,000 failures a rule that draws a delay from the one before
// forgets its beginning.
//
// The Budget is used as by Next: the caller deposits.
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
