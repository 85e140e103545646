package cenkalti

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5" // want "3 of 4 calls can be rewritten"
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

func listed(ctx context.Context) (string, error) {
	opts := []backoff.RetryOption{backoff.WithMaxTries(3), backoff.WithNotify(nil)}
	return backoff.Retry(ctx, five2, opts...) // want "backoff\\.Retry: can be rewritten"
}

func five2() (string, error) { return "", nil }

func given(ctx context.Context, opts ...backoff.RetryOption) (string, error) {
	return backoff.Retry(ctx, five2, opts...) // want "backoff\\.Retry: left alone: its options are not listed in the package: opts"
}
