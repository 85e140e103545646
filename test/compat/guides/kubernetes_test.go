package guides

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/gobackoff/retry"
)

// condition is op as a condition of package wait, which is not done while op fails.
func condition(op operation) wait.ConditionWithContextFunc {
	return func(ctx context.Context) (bool, error) { return op(ctx) == nil, nil }
}

func exponential(ctx context.Context, op operation, b wait.Backoff) error {
	return wait.ExponentialBackoffWithContext(ctx, b, condition(op))
}

func pollUntilContextTimeout(ctx context.Context, op operation, interval, timeout time.Duration, immediate bool) error {
	return wait.PollUntilContextTimeout(ctx, interval, timeout, immediate, condition(op))
}

var kubernetesRows = []row{{
	what: "exponential",
	before: func(ctx context.Context, op operation) error {
		return exponential(ctx, op, wait.Backoff{Duration: sec, Factor: 2, Steps: 5})
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: time.Hour}, MaxAttempts: 5})
	},
}, {
	what: "with jitter",
	before: func(ctx context.Context, op operation) error {
		return exponential(ctx, op, wait.Backoff{Duration: sec, Factor: 2, Jitter: 0.5, Steps: 5})
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{
			Backoff:     retry.Jittered{Of: retry.Exponential{Base: 1500 * ms, Cap: time.Hour}, Share: 1.0 / 3},
			MaxAttempts: 5,
		})
	},
}, {
	what: "with a cap",
	before: func(ctx context.Context, op operation) error {
		return exponential(ctx, op, wait.Backoff{Duration: sec, Factor: 2, Steps: 8, Cap: 5 * sec})
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Exponential{Base: sec, Cap: 5 * sec}, MaxAttempts: 8})
	},
	differs: "makes all 8 attempts; wait gives up when it reaches Cap, after 3",
}, {
	what: "constant",
	before: func(ctx context.Context, op operation) error {
		return exponential(ctx, op, wait.Backoff{Duration: sec, Steps: 5})
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Constant(sec), MaxAttempts: 5})
	},
}, {
	what: "poll: interval, timeout, immediate",
	before: func(ctx context.Context, op operation) error {
		return pollUntilContextTimeout(ctx, op, 2*sec, 11*sec, true)
	},
	after: func(ctx context.Context, op operation) error {
		return ours(ctx, op, retry.Policy{Backoff: retry.Constant(2 * sec), MaxAttempts: retry.Unlimited, MaxElapsed: 11 * sec})
	},
}}
