package adapt

import (
	"errors"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// errFailed replaces the failure if the library does not pass it on. It is marked so
// that no Classifier treats it as permanent.
var errFailed = retry.Transient(errors.New("failed"))

// maxChain bounds how many delays are drawn to compute one. A rule may derive a delay
// from the one before, so the chain is walked from its start; the bound limits the work
// to about 100 µs.
const maxChain = 1000

// A link is the last attempt in a chain of failures.
type link struct {
	number int           // of the attempt
	waited time.Duration // before it
	total  time.Duration // all waits before it
}

// free returns a policy that applies only the rule: it neither refuses retries nor
// counts them.
func free(rule retry.Backoff, random func() float64) retry.Policy {
	return retry.Policy{Backoff: rule, Rand: random, MaxAttempts: retry.Unlimited}
}

// next returns the wait after the attempt, under a free policy.
func (l *link) next(free retry.Policy) time.Duration {
	wait, _ := free.Next(retry.Attempt{Number: l.number, Waited: l.waited, Err: errFailed}, 0)
	return wait
}

// after advances to the attempt that follows the wait.
func (l *link) after(wait time.Duration) {
	l.number, l.waited, l.total = increment(l.number), wait, dur.Add(l.total, wait)
}

// walk returns the attempt with that number, drawing all waits before it.
func walk(rule retry.Backoff, number int, random func(number int) float64) link {
	number = max(1, number)
	l := link{number: max(1, number-maxChain+1)}
	policy := free(rule, func() float64 { return random(l.number) })
	for l.number < number {
		l.after(l.next(policy))
	}
	return l
}

// increment adds 1, saturating.
func increment(n int) int { return max(n, n+1) }
