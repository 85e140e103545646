// AttemptFrom without its hooks.
package unnumbered

import (
	"context"
	"log"

	"github.com/gobackoff/retry"
)

func Call(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: 5}, func(ctx context.Context) error {
		a, _ := retry.AttemptFrom(ctx) // not found
		if a.Number > 1 {
			log.Printf("attempt %d", a.Number)
		}
		return op(ctx)
	})
}
