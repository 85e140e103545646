package equal

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	err := retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { return fetch(ctx, "a") })
	if err == retry.ErrMaxAttempts { // mistake
		return nil
	}
	return err
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
