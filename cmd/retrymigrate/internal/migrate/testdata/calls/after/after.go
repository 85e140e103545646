// Package after has errors that ask for a wait.
package after

import (
	"context"

	"github.com/cenkalti/backoff/v5" // want "0 of 1 calls can be rewritten"
)

func call(ctx context.Context) (int, error) {
	return backoff.Retry(ctx, func() (int, error) { return 0, backoff.RetryAfter(3) }) // want "backoff\\.Retry: left alone: the package uses backoff\\.RetryAfter: make it retry\\.After"
}
