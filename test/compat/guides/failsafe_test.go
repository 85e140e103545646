package guides

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryslog"
)

func failsafeRun(ctx context.Context, op operation, b retrypolicy.Builder[any]) error {
	return failsafe.With(b.Build()).WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error { return op(e.Context()) })
}

func builder() retrypolicy.Builder[any] { return retrypolicy.NewBuilder[any]() }

// slow is for rows about other things than delays and attempts.
func slow() retrypolicy.Builder[any] { return builder().WithDelay(sec).WithMaxRetries(-1) }

var failsafeRows = []row{{
	what: "the defaults",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, builder())
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.NoDelay{}})
	},
}, {
	what: "exponential",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, builder().WithBackoff(sec, 8*sec).WithMaxAttempts(6))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: 8 * sec}, MaxAttempts: 6})
	},
}, {
	what: "another factor",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, builder().WithBackoffFactor(sec, 60*sec, 3).WithMaxRetries(5))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: 60 * sec, Factor: 3}, MaxAttempts: 6})
	},
}, {
	what: "jitter as a factor",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, builder().WithDelay(2*sec).WithJitterFactor(0.25))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Spread{Of: retry.Constant(2 * sec), Fraction: 0.25}})
	},
}, {
	what: "jitter as a time",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, builder().WithDelay(2*sec).WithJitter(500*ms))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Spread{Of: retry.Constant(2 * sec), Fraction: 0.25}})
	},
}, {
	what: "a random wait",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, builder().WithRandomDelay(sec, 4*sec))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Jittered{Of: retry.Constant(4 * sec), Share: 0.75}})
	},
}, {
	what:   "no bound",
	before: func(ctx context.Context, op operation) error { return failsafeRun(ctx, op, slow().WithMaxAttempts(-1)) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxAttempts: retry.Unlimited})
	},
}, {
	what: "a time limit",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, slow().WithMaxDuration(5500*ms))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxElapsed: 5500 * ms})
	},
	differs: "gives up at 5 s; failsafe-go shortens its last wait to 0.5 s",
}, {
	what: "some errors only",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, slow().HandleErrors(errBusy))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, errBusy) })})
	},
}, {
	what: "errors that end the call",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, slow().AbortOnErrors(errGone))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Classifier: retry.OnlyIf(func(err error) bool { return !errors.Is(err, errGone) })})
	},
}, {
	what: "a wait computed from the failure",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, slow().WithDelayFunc(func(e failsafe.ExecutionAttempt[any]) time.Duration {
			return time.Duration(e.Attempts()) * sec
		}))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.BackoffFunc(func(failed retry.Attempt, u float64) time.Duration {
			return time.Duration(failed.Number) * sec
		})})
	},
}, {
	what: "log each retry",
	before: func(ctx context.Context, op operation) error {
		return failsafeRun(ctx, op, slow().OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[any]) {
			logger.Warn("retry", "err", e.LastError(), "wait", e.Delay)
		}))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Hooks: retryslog.Hooks(logger)})
	},
}, {
	what:   "retry all errors",
	before: func(ctx context.Context, op operation) error { return failsafeRun(ctx, missing(op), slow()) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, missing(op), retry.Policy{Classifier: retry.OnlyIf(nil)})
	},
}}
