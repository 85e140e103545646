package detached

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	return retry.Do(context.Background(), retry.Policy{}, func(ctx context.Context) error { return fetch(ctx, "a") }) // mistake
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
