package adapt

import (
	"errors"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// errFailed stands for a failure that the library does not pass on. It is marked so that
// no Classifier treats it as permanent.
var errFailed = retry.Transient(errors.New("failed"))

// maxChain bounds the number of delays drawn to compute one delay: a rule may derive each
// delay from the previous one. The bound limits the work to about 100 µs.
const maxChain = 1000

// A link is the last attempt in a chain of failures.
type link struct {
	number int           // the attempt's number
	waited time.Duration // the wait before the attempt
	total  time.Duration // the sum of all waits so far
}

// next returns the wait after the attempt. If the rule has no further one, it is the wait before
// the attempt, because the library may go on, and must not do so without waiting.
func (l *link) next(rule retry.Backoff, u float64) time.Duration {
	failed := retry.Attempt{Number: l.number, Waited: l.waited, Err: errFailed, Verdict: retry.Verdict{Class: retry.ClassTransient}}
	wait := retry.Capped{Of: rule}.Delay(failed, u) // a nil Of is the default rule
	if wait < 0 {
		return l.waited
	}
	return wait
}

// after advances to the attempt that follows the wait.
func (l *link) after(wait time.Duration) {
	l.number, l.waited, l.total = increment(l.number), wait, dur.Add(l.total, wait)
}

// walk draws all waits before the attempt with the given number, and returns that
// attempt.
func walk(rule retry.Backoff, number int, random func(number int) float64) link {
	number = max(1, number)
	l := link{number: max(1, number-maxChain+1)}
	for l.number < number {
		l.after(l.next(rule, random(l.number)))
	}
	return l
}

// increment adds 1, saturating.
func increment(n int) int { return max(n, n+1) }
