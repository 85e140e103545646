// The call's own deadline is shorter than one attempt.
package shortcall

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

func Call(ctx context.Context, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return retry.Do(ctx, retry.Policy{AttemptTimeout: 5 * time.Second, MaxAttempts: 4}, op) // mistake
}
