package retryaws

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// A Delayer provides the delays of a [retry.Backoff] to the SDK's standard
// retryer. It implements the interface BackoffDelayer of the SDK's package aws/retry,
// imported here as sdkretry:
//
//	sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
//		o.Backoff = &retryaws.Delayer{Backoff: rule}
//	})
//
// The SDK handles server hints: since v1.48.0, it adds up to 5 s to honor
// x-amz-retry-after; before, it ignored them. A [retry.WhenThrottled] gets the
// error's class from [retry.DefaultClassifier]. The SDK does not identify the call, so
// the call's earlier delays are drawn again: the delays of rules like
// [retry.DecorrelatedJitter] have the right distribution but do not form a chain.
//
// Any number of goroutines and clients may share a Delayer. It must not be copied,
// and its fields must not change once it is in use.
type Delayer struct {
	// Backoff computes the delays. nil means the rule of the zero [retry.Policy].
	Backoff retry.Backoff

	// Rand returns a uniform random number in [0, 1) and must be safe for
	// concurrent use. nil means math/rand/v2.Float64.
	Rand func() float64

	sdk numbering
}

// BackoffDelay returns the delay before a retry, and a nil error. The argument attempt
// is the SDK's number for the retry.
func (d *Delayer) BackoffDelay(attempt int, err error) (time.Duration, error) {
	delay := d.delay(d.number(attempt), retry.Attempt{Err: err, Verdict: retry.Policy{}.Classify(err)})
	return endIfNegative(delay, err)
}

// number converts the SDK's number for a retry to the number of the failed attempt
// before it, at least 1.
func (d *Delayer) number(attempt int) int {
	if d.sdk.startsAtZero() && attempt < math.MaxInt {
		attempt++
	}
	return max(1, attempt)
}

// longestChain bounds how many delays are drawn to compute one. After that many, the
// start of a chain no longer matters.
const longestChain = 64

// delay draws the delay after the failed attempt a, whose number is the argument
// number. The SDK does not identify the call, so all the call's earlier delays are
// drawn again. The delays of rules like [retry.DecorrelatedJitter] therefore have the
// right distribution but do not form a chain.
func (d *Delayer) delay(number int, a retry.Attempt) time.Duration {
	rule := retry.Capped{Of: d.Backoff} // the default rule for nil
	for a.Number = max(1, number-longestChain+1); ; a.Number++ {
		a.Waited = rule.Delay(a, d.random())
		if a.Number == number || a.Waited < 0 {
			return a.Waited
		}
	}
}

// endIfNegative returns an error instead of a negative delay, with which a Backoff ends the
// call.
func endIfNegative(delay time.Duration, opErr error) (time.Duration, error) {
	if delay < 0 {
		return 0, errors.Join(opErr, retry.Permanent(retry.ErrBackoff))
	}
	return delay, nil
}

func (d *Delayer) random() float64 {
	if d.Rand == nil {
		return rand.Float64()
	}
	return d.Rand()
}
