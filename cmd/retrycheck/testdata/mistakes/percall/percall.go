package percall

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	p := retry.Policy{Budget: &retry.SharedBudget{}} // mistake
	return retry.Do(ctx, p, func(ctx context.Context) error { return fetch(ctx, "a") })
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
