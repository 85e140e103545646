package main

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v7"
)

// cenkalti7 differs from cenkalti5 only in the version.
var cenkalti7 = library{
	name: "cenkalti-v7",
	build: func(ctx context.Context, p plan) policy {
		if p.usual {
			return cenkalti7Fresh(ctx, p)
		}
		options := cenkalti7Options(p)
		return func(o *operation) call {
			op := func() (struct{}, error) { return struct{}{}, o.try() }
			return func() error {
				_, err := backoff.Retry(ctx, op, options...)
				return err
			}
		}
	},
	fresh: cenkalti7Fresh,
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		return func(o *operation) valueCall {
			op := func() (int, error) { return 1, o.try() }
			return func() (int, error) { return backoff.Retry(ctx, op, cenkalti7Options(p)...) }
		}
	},
	hooks: true,
	delays: map[string]func() func() time.Duration{
		constant:    func() func() time.Duration { return cenkalti7Delay(backoff.NewConstantBackOff(time.Second)) },
		exponential: func() func() time.Duration { return cenkalti7Delay(cenkalti7Usual(0)) },
		partJitter:  func() func() time.Duration { return cenkalti7Delay(cenkalti7Usual(0.5)) },
	},
}

func cenkalti7Fresh(ctx context.Context, p plan) policy {
	return func(o *operation) call {
		op := func() (struct{}, error) { return struct{}{}, o.try() }
		return func() error {
			_, err := backoff.Retry(ctx, op, cenkalti7Options(p)...)
			return err
		}
	}
}

func cenkalti7Options(p plan) []backoff.RetryOption {
	options := []backoff.RetryOption{backoff.WithMaxTries(uint(p.attempts)), backoff.WithMaxElapsedTime(0)}
	if p.usual {
		options = append(options, backoff.WithBackOff(cenkalti7Usual(0.5)))
	} else {
		options = append(options, backoff.WithBackOff(backoff.NewConstantBackOff(p.wait)))
	}
	if p.hook != nil {
		options = append(options, backoff.WithNotify(func(error, time.Duration) { p.hook() }))
	}
	return options
}

func cenkalti7Usual(share float64) backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier, b.RandomizationFactor = usualBase, usualCap, 2, share
	return b
}

func cenkalti7Delay(b backoff.BackOff) func() time.Duration { return cycle(b.Reset, b.NextBackOff) }
