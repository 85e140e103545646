// Endless: Unlimited with Background. Only the analyzer unbounded finds it, which is off by default.
package endless

import (
	"context"

	"github.com/gobackoff/retry"
)

func Connect(dial func(context.Context) error) error {
	return retry.Do(context.Background(), retry.Policy{MaxAttempts: retry.Unlimited}, dial)
}
