package unheard

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	p := retry.Policy{AttemptTimeout: time.Second}
	return retry.Do(ctx, p, func(context.Context) error {
		return fetch(ctx, "a") // mistake
	})
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
