// Final error only logged, the zero result is used. Nothing finds it.
package zeroresult

import (
	"context"
	"log"

	"github.com/gobackoff/retry"
)

func Quota(ctx context.Context, fetch func(context.Context) (int, error)) int {
	n, err := retry.DoValue(ctx, retry.Policy{MaxAttempts: 4}, fetch)
	if err != nil {
		log.Printf("quota: %v", err)
	}
	return n * 2
}
