package reader

import (
	"context"
	"io"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, name string, upload func(context.Context, io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		return upload(ctx, file) // mistake
	})
}
