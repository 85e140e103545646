// Goroutine in the operation.
package spawned

import (
	"context"
	"log"

	"github.com/gobackoff/retry"
)

func Publish(ctx context.Context, send func(context.Context, string) error, msgs []string) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		for _, m := range msgs {
			go func() {
				if err := send(ctx, m); err != nil {
					log.Print(err)
				}
			}()
		}
		return nil
	})
}
