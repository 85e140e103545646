package unmarked

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		err := fetch(ctx, "a")
		if errors.Is(err, fs.ErrPermission) {
			retry.Permanent(err) // mistake
		}
		return err
	})
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
