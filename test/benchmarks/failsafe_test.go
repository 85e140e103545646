package main

import (
	"context"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

// failsafeGo builds policy and executor once; each call passes its context. The library
// does not expose its delays. Its budget counts calls in flight.
var failsafeGo = library{
	name: "failsafe",
	build: func(ctx context.Context, p plan) policy {
		executor := failsafe.With(failsafePolicy[any](p))
		return func(o *operation) call {
			op := func() error { return o.try() }
			return func() error { return executor.WithContext(ctx).Run(op) }
		}
	},
	fresh: func(ctx context.Context, p plan) policy {
		return func(o *operation) call {
			op := func() error { return o.try() }
			return func() error { return failsafe.With(failsafePolicy[any](p)).WithContext(ctx).Run(op) }
		}
	},
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		executor := failsafe.With(failsafePolicy[int](p))
		return func(o *operation) valueCall {
			op := func() (int, error) { return 1, o.try() }
			return func() (int, error) { return executor.WithContext(ctx).Get(op) }
		}
	},
	hooks:   true,
	budgets: true,
}

func failsafePolicy[R any](p plan) failsafe.Policy[R] {
	b := retrypolicy.NewBuilder[R]().WithMaxAttempts(p.attempts)
	if p.usual {
		// There is no full jitter; this adds or subtracts up to half of the delay.
		b.WithBackoff(usualBase, usualCap).WithJitterFactor(0.5)
	} else {
		b.WithDelay(p.wait)
	}
	if p.hook != nil {
		b.OnRetryScheduled(func(failsafe.ExecutionScheduledEvent[R]) { p.hook() })
	}
	if p.budget {
		b.WithBudget(budget.NewBuilder().WithMaxRate(1).WithMinConcurrency(plenty).Build())
	}
	return b.Build()
}
