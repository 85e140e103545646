package uncapped

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: retry.Unlimited}, op) // mistake
}

func op(ctx context.Context) error {
	_, err := os.ReadFile("a")
	return errors.Join(err, ctx.Err())
}
