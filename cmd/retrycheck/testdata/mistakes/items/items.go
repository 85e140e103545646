package items

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, names []string) error {
	for _, name := range names {
		p := retry.Policy{Budget: &retry.SharedBudget{Reserve: 9}} // mistake
		if err := retry.Do(ctx, p, func(ctx context.Context) error { return fetch(ctx, name) }); err != nil {
			return err
		}
	}
	return nil
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
