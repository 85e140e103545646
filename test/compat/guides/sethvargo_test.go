package guides

import (
	"context"
	"errors"
	"time"

	sethvargo "github.com/sethvargo/go-retry"

	"github.com/gobackoff/retry"
)

// sethvargoDo marks all errors: otherwise none is retried.
func sethvargoDo(ctx context.Context, op operation, b sethvargo.Backoff) error {
	return sethvargo.Do(ctx, b, sethvargo.RetryFunc(mark(op, sethvargo.RetryableError)))
}

func sethvargoMarked(ctx context.Context, op operation) error {
	return sethvargo.Do(ctx, sethvargo.NewConstant(sec), sethvargo.RetryFunc(op))
}

func someBusy(marker func(error) error) func(error) error {
	return func(err error) error {
		if errors.Is(err, errBusy) {
			return marker(err)
		}
		return err
	}
}

func someTransient(op operation) operation { return mark(op, someBusy(retry.Transient)) }

func someRetryable(op operation) operation { return mark(op, someBusy(sethvargo.RetryableError)) }

var sethvargoRows = []row{{
	what:   "constant",
	before: func(ctx context.Context, op operation) error { return sethvargoDo(ctx, op, sethvargo.NewConstant(sec)) },
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Constant(sec), MaxAttempts: retry.Unlimited})
	},
}, {
	what: "exponential",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithMaxRetries(4, sethvargo.NewExponential(sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: time.Hour}, MaxAttempts: 5})
	},
}, {
	what: "Fibonacci",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithMaxRetries(4, sethvargo.NewFibonacci(sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Fibonacci{Base: sec, Cap: time.Hour}, MaxAttempts: 5})
	},
	differs: "1, 1, 2, 3 s; go-retry begins with 1, 2, 3, 5 s",
}, {
	what: "a cap",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithCappedDuration(5*sec, sethvargo.NewExponential(sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: 5 * sec}})
	},
}, {
	what: "full jitter",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithFullJitter(sethvargo.WithCappedDuration(5*sec, sethvargo.NewExponential(sec))))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.FullJitter{Base: sec, Cap: 5 * sec}})
	},
}, {
	what: "jitter in percent",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithJitterPercent(20, sethvargo.NewConstant(sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.Spread{Of: retry.Constant(sec), Fraction: 0.2}})
	},
}, {
	what: "jitter as a time",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithJitter(500*ms, sethvargo.NewConstant(2*sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{Backoff: retry.Spread{Of: retry.Constant(2 * sec), Fraction: 0.25}})
	},
}, {
	what: "a time limit",
	before: func(ctx context.Context, op operation) error {
		return sethvargoDo(ctx, op, sethvargo.WithMaxDuration(5500*ms, sethvargo.NewConstant(sec)))
	},
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, op, retry.Policy{MaxElapsed: 5500 * ms})
	},
	differs: "gives up at 5 s; go-retry shortens its last wait to 0.5 s",
}, {
	what: "errors to retry",
	before: func(ctx context.Context, op operation) error {
		return sethvargoMarked(ctx, mark(op, sethvargo.RetryableError))
	},
	after: func(ctx context.Context, op operation) error { return unchanged(ctx, mark(op, retry.Transient)) },
}, {
	what:   "no others",
	before: func(ctx context.Context, op operation) error { return sethvargoMarked(ctx, someRetryable(op)) },
	after: func(ctx context.Context, op operation) error {
		return secondly(ctx, someTransient(op), retry.Policy{Classifier: retry.OnlyIf(func(error) bool { return false })})
	},
}}
