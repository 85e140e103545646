package hooks

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryslog"
)

func run(ctx context.Context) error {
	p := retry.Policy{MaxAttempts: 5}
	p.With(retryslog.Hooks(slog.Default())) // mistake
	return retry.Do(ctx, p, func(ctx context.Context) error { return fetch(ctx, "a") })
}

func fetch(ctx context.Context, name string) error {
	_, err := os.ReadFile(name)
	return errors.Join(err, ctx.Err())
}
