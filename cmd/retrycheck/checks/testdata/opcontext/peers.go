package opcontext

import (
	"context"

	"github.com/cenkalti/backoff/v4"
)

func withoutContext(ctx context.Context, find func(context.Context) error) error {
	return backoff.Retry(func() error { return find(ctx) }, backoff.NewExponentialBackOff()) // want `these retries go on after ctx is done: pass backoff.WithContext\(b, ctx\)`
}

func withContext(ctx context.Context, find func(context.Context) error) error {
	return backoff.Retry(func() error { return find(ctx) }, backoff.WithContext(backoff.NewExponentialBackOff(), ctx))
}
