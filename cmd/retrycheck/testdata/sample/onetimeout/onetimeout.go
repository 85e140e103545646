// One timeout for all attempts, meant for each.
package onetimeout

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

func Call(ctx context.Context, send func(context.Context) error) error {
	callCtx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return retry.Do(ctx, retry.Policy{MaxAttempts: 4}, func(context.Context) error {
		return send(callCtx) // mistake
	})
}
