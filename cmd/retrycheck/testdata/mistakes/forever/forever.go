package forever

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: -1, MaxElapsed: time.Hour}, func(ctx context.Context) error { // mistake
		return fetch(ctx, "a")
	})
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
