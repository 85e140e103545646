package background

import (
	"context"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, fetch func(context.Context, string) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		return fetch(context.Background(), "a") // mistake
	})
}
