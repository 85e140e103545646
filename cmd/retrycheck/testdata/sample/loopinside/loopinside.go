// A loop of its own inside the operation.
package loopinside

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

func Call(ctx context.Context, send func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		var err error
		for i := 0; i < 3; i++ {
			if err = send(ctx); err == nil {
				return nil
			}
			time.Sleep(time.Second) // mistake
		}
		return err
	})
}
