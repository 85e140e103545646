package handmade

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	err := retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { return fetch(ctx, "a") })
	for i := 0; err != nil && i < 10; i++ {
		time.Sleep(time.Minute) // mistake
		err = fetch(context.Background(), "b")
	}
	return err
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
