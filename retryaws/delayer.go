package retryaws

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// A Delayer provides the delays of a [retry.Backoff] to the SDK's standard
// retryer, which keeps its choice of errors, its number of attempts and its
// quota. It is a BackoffDelayer of the SDK's package aws/retry, imported here as
// sdkretry:
//
//	sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
//		o.Backoff = &retryaws.Delayer{Backoff: rule}
//	})
//
// The SDK handles server hints: with AWS_NEW_RETRIES_2026=true it adds up to 5 s
// to honor x-amz-retry-after, otherwise it ignores them. A [retry.WhenThrottled]
// gets the class that [retry.DefaultClassifier] gives the error.
//
// Any number of goroutines and clients may share a Delayer. Its fields must not
// be changed once it is in use, and it must not be copied.
type Delayer struct {
	// Backoff computes the delays. nil means the rule of the zero [retry.Policy].
	Backoff retry.Backoff

	// Rand returns a random number, uniform in [0, 1). It must be safe for
	// concurrent use. nil means math/rand/v2.Float64.
	Rand func() float64

	sdk numbering
}

// BackoffDelay returns the delay before the retry that has this number in the
// SDK, and a nil error.
func (d *Delayer) BackoffDelay(attempt int, err error) (time.Duration, error) {
	return d.delay(d.number(attempt), retry.Policy{}.Classify(err)), nil
}

// number converts the SDK's number of a retry to the number of the failed attempt
// before it, from 1. Numbers that the SDK never uses count as the nearest one that
// it uses.
func (d *Delayer) number(attempt int) int {
	if d.sdk.startsAtZero() && attempt < math.MaxInt {
		attempt++
	}
	return max(1, attempt)
}

// longestChain bounds how many delays are drawn to compute one. After that many, a
// rule that derives a delay from the one before no longer depends on its start.
const longestChain = 64

// delay draws the delay after the failed attempt a with the number. The SDK does not
// report which call an attempt belongs to, so the delay before it is unknown and is
// drawn again, starting with the call's first delay. So the delays of rules like
// [retry.DecorrelatedJitter] have the right distribution, but do not form a chain.
func (d *Delayer) delay(number int, a retry.Attempt) time.Duration {
	rule := retry.Capped{Of: d.Backoff} // never negative, with a default for nil
	for a.Number = max(1, number-longestChain+1); ; a.Number++ {
		a.Waited = rule.Delay(a, d.random())
		if a.Number == number {
			return a.Waited
		}
	}
}

func (d *Delayer) random() float64 {
	if d.Rand == nil {
		return rand.Float64()
	}
	return d.Rand()
}
