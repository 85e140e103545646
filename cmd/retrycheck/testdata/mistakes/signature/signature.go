package signature

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	p := retry.Policy{MaxAttempts: 5}
	return retry.Do(ctx, p, func() error { return fetch(ctx, "a") }) // mistake
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
