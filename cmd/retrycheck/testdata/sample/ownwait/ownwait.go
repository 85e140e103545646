// Sleep in the operation.
package ownwait

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

func Poll(ctx context.Context, ready func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: 10}, func(ctx context.Context) error {
		err := ready(ctx)
		if err != nil {
			time.Sleep(2 * time.Second) // mistake
		}
		return err
	})
}
