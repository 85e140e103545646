package copied

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	budget := retry.SharedBudget{Reserve: 100} // mistake
	mine := budget                             // mistake
	return retry.Do(ctx, retry.Policy{Budget: &mine}, func(ctx context.Context) error { return fetch(ctx, "a") })
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
