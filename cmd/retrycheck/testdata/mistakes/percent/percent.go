package percent

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	p := retry.Policy{Backoff: retry.Spread{Of: retry.Constant(time.Second), Fraction: 20}} // mistake
	return retry.Do(ctx, p, func(ctx context.Context) error { return fetch(ctx, "a") })
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
