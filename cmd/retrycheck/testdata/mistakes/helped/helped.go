package helped

import (
	"context"

	"github.com/gobackoff/retry"
)

func withRetry(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{}, op)
}

func run(ctx context.Context, names []string, counts map[string]int) error {
	return withRetry(ctx, func(ctx context.Context) error {
		for _, name := range names {
			counts[name]++ // not found
			if err := send(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

func send(ctx context.Context, _ string) error { return ctx.Err() }
