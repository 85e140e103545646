package main

import (
	"context"
	"time"

	"github.com/avast/retry-go/v5"
)

// avast: a Retrier contains the context, so only calls with the same context can share
// it. It keeps every error of a call.
var avast = library{
	name: "avast",
	build: func(ctx context.Context, p plan) policy {
		retrier := retry.New(avastOptions(ctx, p)...)
		return func(o *operation) call {
			op := func() error { return o.try() }
			return func() error { return retrier.Do(op) }
		}
	},
	fresh: func(ctx context.Context, p plan) policy {
		return func(o *operation) call {
			op := func() error { return o.try() }
			return func() error { return retry.New(avastOptions(ctx, p)...).Do(op) }
		}
	},
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		retrier := retry.NewWithData[int](avastOptions(ctx, p)...)
		return func(o *operation) valueCall {
			op := func() (int, error) { return 1, o.try() }
			return func() (int, error) { return retrier.Do(op) }
		}
	},
	hooks:   true,
	budgets: true,
	delays: map[string]func() func() time.Duration{
		constant:    avastDelay(retry.FixedDelay),
		exponential: avastDelay(retry.BackOffDelay),
		fullJitter:  avastDelay(retry.FullJitterBackoffDelay),
		// This is the library's default: the random part is bounded by a constant.
		partJitter: avastDelay(retry.CombineDelay(retry.BackOffDelay, retry.RandomDelay)),
	},
}

func avastOptions(ctx context.Context, p plan) []retry.Option {
	options := []retry.Option{retry.Context(ctx), retry.Attempts(uint(p.attempts))}
	if p.usual {
		options = append(options, retry.Delay(usualBase), retry.MaxDelay(usualCap), retry.DelayType(retry.FullJitterBackoffDelay))
	} else {
		options = append(options, retry.Delay(p.wait), retry.DelayType(retry.FixedDelay))
	}
	if p.hook != nil {
		options = append(options, retry.OnRetry(func(uint, error) { p.hook() }))
	}
	if p.budget {
		options = append(options, retry.WithFixedTokenBucketThrottle(retry.FixedTokenBucketThrottleConfig{MaxCapacity: plenty}))
	}
	return options
}

func avastDelay(delay retry.DelayTypeFunc) func() func() time.Duration {
	return func() func() time.Duration {
		var config retry.DelayContext = retry.New(retry.Delay(usualBase), retry.MaxDelay(usualCap))
		var n uint
		return cycle(func() { n = 0 }, func() time.Duration {
			n++
			return delay(n, errFlaky, config)
		})
	}
}
