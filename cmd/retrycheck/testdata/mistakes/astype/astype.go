package astype

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) int {
	err := retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { return fetch(ctx, "a") })
	var e retry.Error
	if errors.As(err, &e) { // mistake
		return e.Attempts
	}
	return 0
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
