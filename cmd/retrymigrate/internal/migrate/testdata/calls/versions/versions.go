// Package versions has a call of each version whose functions differ.
package versions

import (
	"context"
	"time"

	backoff2 "github.com/cenkalti/backoff" // want "2 of 2 calls can be rewritten"
	backoff7 "github.com/cenkalti/backoff/v7"
)

func ping() error { return nil }

func cenkalti2() error {
	return backoff2.Retry(ping, backoff2.WithMaxRetries(backoff2.NewConstantBackOff(time.Second), 0)) // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
}

func cenkalti7(ctx context.Context) error {
	_, err := backoff7.Retry(ctx, func() (struct{}, error) { return struct{}{}, ping() }, backoff7.WithMaxTries(4)) // want "backoff\\.Retry: can be rewritten"
	return err
}
