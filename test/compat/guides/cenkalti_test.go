package guides

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v7"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryslog"
)

func cenkalti(ctx context.Context, op operation, options ...backoff.RetryOption) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, op(ctx) }, options...)
	return err
}

func cenkaltiSecondly(ctx context.Context, op operation, options ...backoff.RetryOption) error {
	return cenkalti(ctx, op, append([]backoff.RetryOption{backoff.WithBackOff(backoff.NewConstantBackOff(time.Second))}, options...)...)
}

var cenkaltiRows = []row{{
	what: "the defaults",
	before: func(ctx context.Context, op operation) error {
		return cenkalti(ctx, op, backoff.WithBackOff(backoff.NewExponentialBackOff()))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{
			Backoff:     retry.Spread{Of: retry.Exponential{Base: 500 * ms, Factor: 1.5, Cap: 60 * sec}, Fraction: 0.5},
			MaxAttempts: retry.Unlimited, MaxElapsed: 15 * time.Minute,
		})
	},
}, {
	what: "a constant wait",
	before: func(ctx context.Context, op operation) error {
		return cenkalti(ctx, op, backoff.WithBackOff(backoff.NewConstantBackOff(2*sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.Constant(2 * sec)})
	},
}, {
	what: "no wait",
	before: func(ctx context.Context, op operation) error {
		return cenkalti(ctx, op, backoff.WithBackOff(&backoff.ZeroBackOff{}))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.NoDelay{}})
	},
}, {
	what: "no retry",
	before: func(ctx context.Context, op operation) error {
		return cenkalti(ctx, op, backoff.WithBackOff(&backoff.StopBackOff{}))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{MaxAttempts: 1})
	},
}, {
	what: "a number of attempts",
	before: func(ctx context.Context, op operation) error {
		return cenkaltiSecondly(ctx, op, backoff.WithMaxTries(4))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxAttempts: 4})
	},
}, {
	what: "a time limit",
	before: func(ctx context.Context, op operation) error {
		return cenkaltiSecondly(ctx, op, backoff.WithMaxElapsedTime(5*sec))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxElapsed: 5 * sec})
	},
}, {
	what: "log each retry",
	before: func(ctx context.Context, op operation) error {
		return cenkaltiSecondly(ctx, op, backoff.WithNotify(func(err error, wait time.Duration) { logger.Warn("retry", "err", err, "wait", wait) }))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Hooks: retryslog.Hooks(logger)})
	},
}, {
	what:   "retry all errors",
	before: func(ctx context.Context, op operation) error { return cenkaltiSecondly(ctx, missing(op)) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, missing(op), retry.Policy{Classifier: retry.OnlyIf(nil)})
	},
}, {
	what: "an error that ends the call",
	before: func(ctx context.Context, op operation) error {
		return cenkaltiSecondly(ctx, mark(op, backoff.Permanent))
	},
	after: func(ctx context.Context, op operation) error { return unchanged(ctx, mark(op, retry.Permanent)) },
}, {
	what:    "an error with a wait",
	differs: "the wait is up to a tenth longer",
	before: func(ctx context.Context, op operation) error {
		return cenkaltiSecondly(ctx, mark(op, func(err error) error { return backoff.RetryAfter(3*sec, err) }))
	},
	after: func(ctx context.Context, op operation) error {
		return unchanged(ctx, mark(op, func(err error) error { return retry.After(err, 3*sec) }))
	},
}}
