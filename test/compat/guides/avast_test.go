package guides

import (
	"context"
	"errors"
	"time"

	avast "github.com/avast/retry-go/v5"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryslog"
)

func avastDo(ctx context.Context, op operation, options ...avast.Option) error {
	return avast.New(append([]avast.Option{avast.Context(ctx)}, options...)...).Do(func() error { return op(ctx) })
}

func avastSecondly(ctx context.Context, op operation, options ...avast.Option) error {
	return avastDo(ctx, op, append([]avast.Option{avast.UntilSucceeded(), avast.Delay(sec), avast.DelayType(avast.FixedDelay)}, options...)...)
}

var avastRows = []row{{
	what:   "the defaults",
	before: func(ctx context.Context, op operation) error { return avastDo(ctx, op) },
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{
			Backoff: retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
				return retry.Exponential{Base: 100 * ms}.Delay(a, u) + time.Duration(u*float64(100*ms))
			}),
			MaxAttempts: 10,
		})
	},
}, {
	what: "full jitter",
	before: func(ctx context.Context, op operation) error {
		return avastDo(ctx, op, avast.Delay(100*ms), avast.MaxDelay(5*sec), avast.DelayType(avast.FullJitterBackoffDelay))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.FullJitter{Base: 200 * ms, Cap: 5 * sec}, MaxAttempts: 10})
	},
}, {
	what: "a constant wait",
	before: func(ctx context.Context, op operation) error {
		return avastDo(ctx, op, avast.Delay(2*sec), avast.DelayType(avast.FixedDelay))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Constant(2 * sec), MaxAttempts: 10})
	},
}, {
	what: "exponential, with a cap",
	before: func(ctx context.Context, op operation) error {
		return avastDo(ctx, op, avast.Delay(sec), avast.MaxDelay(5*sec), avast.DelayType(avast.BackOffDelay))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: 5 * sec}, MaxAttempts: 10})
	},
}, {
	what: "a random wait",
	before: func(ctx context.Context, op operation) error {
		return avastDo(ctx, op, avast.MaxJitter(2*sec), avast.DelayType(avast.RandomDelay))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Jittered{Of: retry.Constant(2 * sec), Share: 1}, MaxAttempts: 10})
	},
}, {
	what:   "a number of attempts",
	before: func(ctx context.Context, op operation) error { return avastSecondly(ctx, op, avast.Attempts(4)) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxAttempts: 4})
	},
}, {
	what:   "no bound",
	before: func(ctx context.Context, op operation) error { return avastSecondly(ctx, op, avast.UntilSucceeded()) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxAttempts: retry.Unlimited})
	},
}, {
	what: "some errors only",
	before: func(ctx context.Context, op operation) error {
		return avastSecondly(ctx, op, avast.RetryIf(func(err error) bool { return errors.Is(err, errBusy) }))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, errBusy) })})
	},
}, {
	what:   "retry all errors",
	before: func(ctx context.Context, op operation) error { return avastSecondly(ctx, missing(op)) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, missing(op), retry.Policy{Classifier: retry.OnlyIf(nil)})
	},
}, {
	what: "log each retry",
	before: func(ctx context.Context, op operation) error {
		return avastSecondly(ctx, op, avast.OnRetry(func(n uint, err error) { logger.Warn("retry", "n", n, "err", err) }))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Hooks: retryslog.Hooks(logger)})
	},
}, {
	what: "an error that ends the call",
	before: func(ctx context.Context, op operation) error {
		return avastSecondly(ctx, mark(op, avast.Unrecoverable))
	},
	after: func(ctx context.Context, op operation) error { return unchanged(ctx, mark(op, retry.Permanent)) },
}}
