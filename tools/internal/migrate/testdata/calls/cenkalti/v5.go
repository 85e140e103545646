package cenkalti

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5" // want "2 of 2 calls can be rewritten"
)

func five(ctx context.Context) (string, error) {
	return backoff.Retry(ctx, func() (string, error) { return "", backoff.Permanent(nil) }) // want "backoff\\.Retry: can be rewritten"
}

func fiveMore(ctx context.Context) error {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = time.Second
	_, err := backoff.Retry(ctx, func() (string, error) { return "", nil }, backoff.WithBackOff(b), backoff.WithMaxTries(5), backoff.WithMaxElapsedTime(0)) // want "backoff\\.Retry: can be rewritten"
	return err
}
