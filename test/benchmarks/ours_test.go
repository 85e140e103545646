package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

var ours = library{
	name: us,
	build: func(ctx context.Context, p plan) policy {
		policy := ourPolicy(p)
		return func(o *operation) call {
			op := func(context.Context) error { return o.try() }
			return func() error { return retry.Do(ctx, policy, op) }
		}
	},
	fresh: func(ctx context.Context, p plan) policy {
		return func(o *operation) call {
			op := func(context.Context) error { return o.try() }
			return func() error { return retry.Do(ctx, ourPolicy(p), op) }
		}
	},
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		policy := ourPolicy(p)
		return func(o *operation) valueCall {
			op := func(context.Context) (int, error) { return 1, o.try() }
			return func() (int, error) { return retry.DoValue(ctx, policy, op) }
		}
	},
	hooks:   true,
	budgets: true,
	delays: map[string]func() func() time.Duration{
		constant:     ourDelay(retry.Constant(time.Second)),
		exponential:  ourDelay(retry.Exponential{Base: usualBase, Cap: usualCap}),
		fullJitter:   ourDelay(retry.FullJitter{Base: usualBase, Cap: usualCap}),
		partJitter:   ourDelay(retry.Spread{Of: retry.Exponential{Base: usualBase, Cap: usualCap}, Fraction: 0.5}),
		equalJitter:  ourDelay(retry.EqualJitter{Base: usualBase, Cap: usualCap}),
		decorrelated: ourDelay(retry.DecorrelatedJitter{Base: usualBase, Cap: usualCap}),
		linear:       ourDelay(retry.Linear{Base: usualBase, Cap: usualCap}),
		fibonacci:    ourDelay(retry.Fibonacci{Base: usualBase, Cap: usualCap}),
		schedule:     ourDelay(retry.Schedule{usualBase, 2 * usualBase, 5 * usualBase}),
	},
}

func ourPolicy(p plan) retry.Policy {
	policy := retry.Policy{MaxAttempts: p.attempts}
	if p.usual {
		policy.Backoff = retry.FullJitter{Base: usualBase, Cap: usualCap}
	} else {
		policy.Backoff = retry.Constant(p.wait)
	}
	if p.hook != nil {
		policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) { p.hook() }
	}
	if p.budget {
		policy.Budget = &awspreset.TokenBudget{Capacity: plenty}
	}
	return policy
}

// ourDelay also draws a random number for each delay, as Do does for every rule.
func ourDelay(rule retry.Backoff) func() func() time.Duration {
	return func() func() time.Duration {
		a := retry.Attempt{Err: errFlaky, Verdict: retry.Verdict{Class: retry.ClassTransient}}
		return cycle(func() { a.Number, a.Waited = 0, 0 }, func() time.Duration {
			a.Number++
			a.Waited = rule.Delay(a, rand.Float64())
			return a.Waited
		})
	}
}
