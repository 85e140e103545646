// MaxAttempts 0 meant as forever.
package zeroattempts

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

// WaitForDB blocks until the database is up.

func WaitForDB(ctx context.Context, ping func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: 0, Backoff: retry.Constant(time.Second)}, ping) // mistake
}
