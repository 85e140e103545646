// Backoff that overflows. Only Policy.Validate finds it.
package overflow

import (
	"time"

	"github.com/gobackoff/retry"
)

var P = retry.Policy{
	MaxAttempts: 100,
	Backoff: retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
		return 100 * time.Millisecond << a.Number
	}),
}
