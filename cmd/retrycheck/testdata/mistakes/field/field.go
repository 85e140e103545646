package field

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	p := retry.Policy{MaxRetries: 5, MaxElapsed: time.Minute} // mistake
	return retry.Do(ctx, p, func(ctx context.Context) error { return fetch(ctx, "a") })
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
