package retryaws

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// A Delayer lends the delays of a [retry.Backoff] to the SDK's own retryer,
// which keeps its choice of errors, its attempts and its quota. It is a
// BackoffDelayer of the SDK's package aws/retry, here called sdkretry:
//
//	sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
//		o.Backoff = &retryaws.Delayer{Backoff: rule}
//	})
//
// Server hints are the SDK's business: with AWS_NEW_RETRIES_2026=true it adds
// up to 5 s for x-amz-retry-after, else it ignores them. The class that a
// [retry.WhenThrottled] asks for is that of [retry.DefaultClassifier].
//
// Any number of goroutines and clients may share a Delayer. Its fields must
// not be changed once it is in use, and it must not be copied.
type Delayer struct {
	// Backoff computes the delays. nil: the rule of the zero [retry.Policy].
	Backoff retry.Backoff

	// Rand returns a number that is uniform in [0, 1) and is safe for
	// concurrent use. nil: math/rand/v2.Float64.
	Rand func() float64

	sdk numbering
}

// BackoffDelay returns the delay before the retry with the number that the SDK
// gives it, and no error.
func (d *Delayer) BackoffDelay(attempt int, err error) (time.Duration, error) {
	return d.delay(d.number(attempt), retry.Policy{}.Classify(err)), nil
}

// number returns the number of the failed attempt, from 1, before the retry to
// which the SDK gives a number. Numbers that the SDK never uses count as the
// nearest that it may use.
func (d *Delayer) number(attempt int) int {
	if d.sdk.startsAtZero() && attempt < math.MaxInt {
		attempt++
	}
	return max(1, attempt)
}

// longestChain is how many delays are drawn to get at one. A rule that draws a
// delay from the one before has forgotten its start by then.
const longestChain = 64

// delay draws the delay after attempt number of which a tells. The delay
// before that attempt is not known here, because the SDK does not tell one
// call from another, so it is drawn anew, from the call's first delay on. That
// gives rules like [retry.DecorrelatedJitter] delays of the right
// distribution, if not a chain.
func (d *Delayer) delay(number int, a retry.Attempt) time.Duration {
	rule := retry.Capped{Of: d.Backoff} // never negative, and knows what nil means
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
