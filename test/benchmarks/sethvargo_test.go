package main

import (
	"context"
	"time"

	"github.com/sethvargo/go-retry"
)

// sethvargo: a Backoff with a maximum number of retries holds the state of one call, so
// each call makes its own. Only marked errors are retried; marking them is part of the
// measured work.
var sethvargo = library{
	name:  "sethvargo",
	build: sethvargoCalls,
	fresh: sethvargoCalls,
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		return func(o *operation) valueCall {
			op := func(context.Context) (int, error) { return 1, retry.RetryableError(o.try()) }
			return func() (int, error) { return retry.DoValue(ctx, sethvargoBackoff(p), op) }
		}
	},
	delays: map[string]func() func() time.Duration{
		constant:    sethvargoDelay(func() retry.Backoff { return retry.NewConstant(time.Second) }),
		exponential: sethvargoDelay(sethvargoExponential),
		fullJitter:  sethvargoDelay(func() retry.Backoff { return retry.WithFullJitter(sethvargoExponential()) }),
		partJitter:  sethvargoDelay(func() retry.Backoff { return retry.WithJitterPercent(50, sethvargoExponential()) }),
		fibonacci: sethvargoDelay(func() retry.Backoff {
			return retry.WithCappedDuration(usualCap, retry.NewFibonacci(usualBase))
		}),
	},
}

func sethvargoCalls(ctx context.Context, p plan) policy {
	return func(o *operation) call {
		op := func(context.Context) error { return retry.RetryableError(o.try()) }
		return func() error { return retry.Do(ctx, sethvargoBackoff(p), op) }
	}
}

func sethvargoBackoff(p plan) retry.Backoff {
	var b retry.Backoff
	switch {
	case p.usual:
		b = retry.WithFullJitter(sethvargoExponential())
	case p.wait > 0:
		b = retry.NewConstant(p.wait)
	default: // NewConstant would panic
		b = retry.BackoffFunc(func() (time.Duration, bool) { return 0, false })
	}
	return retry.WithMaxRetries(uint64(p.attempts-1), b)
}

func sethvargoExponential() retry.Backoff {
	return retry.WithCappedDuration(usualCap, retry.NewExponential(usualBase))
}

// sethvargoDelay makes a Backoff for each call, because a Backoff cannot be reset.
func sethvargoDelay(start func() retry.Backoff) func() func() time.Duration {
	return func() func() time.Duration {
		var b retry.Backoff
		return cycle(func() { b = start() }, func() time.Duration {
			delay, _ := b.Next()
			return delay
		})
	}
}
