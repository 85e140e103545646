// A flag set by a timer instead of MaxElapsed. Nothing finds it.
package timerflag

import (
	"context"
	"errors"
	"time"

	"github.com/gobackoff/retry"
)

func Call(ctx context.Context, op func(context.Context) error) error {
	expired := false
	time.AfterFunc(30*time.Second, func() { expired = true })
	return retry.Do(ctx, retry.Policy{MaxAttempts: retry.Unlimited}, func(ctx context.Context) error {
		if expired {
			return retry.Permanent(errors.New("expired"))
		}
		return op(ctx)
	})
}
