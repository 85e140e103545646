// Schedule without units.
package schedule

import (
	"github.com/gobackoff/retry"
)

var P = retry.Policy{Backoff: retry.Schedule{1, 2, 5, 10}} // mistake
