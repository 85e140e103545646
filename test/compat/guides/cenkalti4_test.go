package guides

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryslog"
)

func cenkalti4(_ context.Context, op operation, b backoff.BackOff) error {
	return backoff.Retry(func() error { return op(context.Background()) }, b)
}

var cenkalti4Rows = []row{{
	what: "the defaults",
	before: func(ctx context.Context, op operation) error {
		return cenkalti4(ctx, op, backoff.WithContext(backoff.NewExponentialBackOff(), ctx))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{
			Backoff:     retry.Spread{Of: retry.Exponential{Base: 500 * ms, Factor: 1.5, Cap: 60 * sec}, Fraction: 0.5},
			MaxAttempts: retry.Unlimited, MaxElapsed: 15 * time.Minute,
		})
	},
}, {
	what: "its own waits",
	before: func(ctx context.Context, op operation) error {
		return cenkalti4(ctx, op, backoff.WithContext(backoff.NewExponentialBackOff(backoff.WithInitialInterval(sec), backoff.WithMultiplier(2),
			backoff.WithRandomizationFactor(0.25), backoff.WithMaxInterval(30*sec), backoff.WithMaxElapsedTime(0)), ctx))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{
			Backoff:     retry.Spread{Of: retry.Exponential{Base: sec, Cap: 30 * sec}, Fraction: 0.25},
			MaxAttempts: retry.Unlimited,
		})
	},
}, {
	what: "a number of retries",
	before: func(ctx context.Context, op operation) error {
		return cenkalti4(ctx, op, backoff.WithMaxRetries(backoff.NewConstantBackOff(sec), 3))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Constant(sec), MaxAttempts: 4})
	},
}, {
	what: "log each retry",
	before: func(ctx context.Context, op operation) error {
		return notify(ctx, op, func(err error, wait time.Duration) { logger.Warn("retry", "err", err, "wait", wait) })
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Hooks: retryslog.Hooks(logger)})
	},
}, {
	what: "retry all errors",
	before: func(ctx context.Context, op operation) error {
		return notify(ctx, missing(op))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, missing(op), retry.Policy{Classifier: retry.OnlyIf(nil)})
	},
}, {
	what:   "an error that ends the call",
	before: func(ctx context.Context, op operation) error { return notify(ctx, mark(op, backoff.Permanent)) },
	after:  func(ctx context.Context, op operation) error { return unchanged(ctx, mark(op, retry.Permanent)) },
}}

func notify(ctx context.Context, op operation, f ...func(error, time.Duration)) error {
	f = append(f, nil)
	return backoff.RetryNotify(func() error { return op(ctx) }, backoff.WithContext(backoff.NewConstantBackOff(sec), ctx), f[0])
}
