package main

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// cenkalti5: a BackOff holds the state of one call, so each call creates its own if the
// delays grow. A constant BackOff is shared.
var cenkalti5 = library{
	name: "cenkalti-v5",
	build: func(ctx context.Context, p plan) policy {
		if p.usual {
			return cenkalti5Fresh(ctx, p)
		}
		options := cenkalti5Options(p)
		return func(o *operation) call {
			op := func() (struct{}, error) { return struct{}{}, o.try() }
			return func() error {
				_, err := backoff.Retry(ctx, op, options...)
				return err
			}
		}
	},
	fresh: cenkalti5Fresh,
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		return func(o *operation) valueCall {
			op := func() (int, error) { return 1, o.try() }
			return func() (int, error) { return backoff.Retry(ctx, op, cenkalti5Options(p)...) }
		}
	},
	hooks: true,
	delays: map[string]func() func() time.Duration{
		constant:    func() func() time.Duration { return cenkalti5Delay(backoff.NewConstantBackOff(time.Second)) },
		exponential: func() func() time.Duration { return cenkalti5Delay(cenkalti5Usual(0)) },
		partJitter:  func() func() time.Duration { return cenkalti5Delay(cenkalti5Usual(0.5)) },
	},
}

func cenkalti5Fresh(ctx context.Context, p plan) policy {
	return func(o *operation) call {
		op := func() (struct{}, error) { return struct{}{}, o.try() }
		return func() error {
			_, err := backoff.Retry(ctx, op, cenkalti5Options(p)...)
			return err
		}
	}
}

func cenkalti5Options(p plan) []backoff.RetryOption {
	// Removes the default limit of 15 minutes, which the other libraries do not have.
	options := []backoff.RetryOption{backoff.WithMaxTries(uint(p.attempts)), backoff.WithMaxElapsedTime(0)}
	if p.usual {
		options = append(options, backoff.WithBackOff(cenkalti5Usual(0.5)))
	} else {
		options = append(options, backoff.WithBackOff(backoff.NewConstantBackOff(p.wait)))
	}
	if p.hook != nil {
		options = append(options, backoff.WithNotify(func(error, time.Duration) { p.hook() }))
	}
	return options
}

// cenkalti5Usual returns a BackOff without full jitter, which the library lacks: a delay
// differs from the exponential value by at most the given share of that value.
func cenkalti5Usual(share float64) backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier, b.RandomizationFactor = usualBase, usualCap, 2, share
	return b
}

func cenkalti5Delay(b backoff.BackOff) func() time.Duration { return cycle(b.Reset, b.NextBackOff) }
