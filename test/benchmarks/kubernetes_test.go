package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// kubernetes polls a condition: a retryable failure is a condition that is not yet true,
// and the failure's error is lost.
var kubernetes = library{
	name: "k8s",
	build: func(ctx context.Context, p plan) policy {
		backoff := kubernetesBackoff(p)
		return func(o *operation) call {
			condition := func(context.Context) (bool, error) { return o.try() == nil, nil }
			return func() error { return wait.ExponentialBackoffWithContext(ctx, backoff, condition) }
		}
	},
	fresh: func(ctx context.Context, p plan) policy {
		return func(o *operation) call {
			condition := func(context.Context) (bool, error) { return o.try() == nil, nil }
			return func() error { return wait.ExponentialBackoffWithContext(ctx, kubernetesBackoff(p), condition) }
		}
	},
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		backoff := kubernetesBackoff(p)
		return func(o *operation) valueCall {
			op := func() (int, error) { return 1, o.try() }
			return func() (int, error) {
				var v int
				err := wait.ExponentialBackoffWithContext(ctx, backoff, func(context.Context) (bool, error) {
					var err error
					v, err = op()
					return err == nil, nil
				})
				return v, err
			}
		}
	},
	delays: map[string]func() func() time.Duration{
		constant:    kubernetesDelay(wait.Backoff{Duration: time.Second, Steps: waitsPerCall}),
		exponential: kubernetesDelay(wait.Backoff{Duration: usualBase, Factor: 2, Cap: usualCap, Steps: waitsPerCall}),
		partJitter:  kubernetesDelay(wait.Backoff{Duration: usualBase, Factor: 2, Jitter: 0.5, Cap: usualCap, Steps: waitsPerCall}),
	},
}

func kubernetesBackoff(p plan) wait.Backoff {
	if p.usual {
		// Its jitter only adds to the delay, here up to half of it.
		return wait.Backoff{Duration: usualBase, Factor: 2, Jitter: 0.5, Cap: usualCap, Steps: p.attempts}
	}
	return wait.Backoff{Duration: p.wait, Steps: p.attempts}
}

func kubernetesDelay(start wait.Backoff) func() func() time.Duration {
	return func() func() time.Duration {
		var b wait.Backoff
		return cycle(func() { b = start }, func() time.Duration { return b.Step() })
	}
}
