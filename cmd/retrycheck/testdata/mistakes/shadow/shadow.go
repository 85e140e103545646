package shadow

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, fetch func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		err := fetch(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			err := retry.Permanent(err) // mistake
		}
		return err
	})
}
