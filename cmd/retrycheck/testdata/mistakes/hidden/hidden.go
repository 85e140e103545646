package hidden

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gobackoff/retry"
)

func find(ctx context.Context) error {
	err := op(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return retry.Permanent(err)
	}
	return err
}

func run(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		if err := find(ctx); err != nil {
			return fmt.Errorf("find: %s", err) // mistake
		}
		return nil
	})
}

func op(ctx context.Context) error {
	_, err := os.ReadFile("a")
	return errors.Join(err, ctx.Err())
}
