package text

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func run(ctx context.Context) error {
	p, err := retryconfig.Parse("full base=100ms cap=20s attempt=5") // mistake
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error { return fetch(ctx, "a") })
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
