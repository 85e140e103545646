package swallowed

import (
	"context"
	"errors"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		if err := fetch(ctx, "a"); err != nil {
			println(err.Error())
		}
		return nil
	})
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
