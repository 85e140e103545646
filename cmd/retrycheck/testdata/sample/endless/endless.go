// Endless: Unlimited with Background. Nothing finds it.
package endless

import (
	"context"

	"github.com/gobackoff/retry"
)

func Connect(dial func(context.Context) error) error {
	return retry.Do(context.Background(), retry.Policy{MaxAttempts: retry.Unlimited}, dial)
}
