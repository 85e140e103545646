package fake

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retrytest"
)

var hurried = retry.Policy{
	Clock: &retrytest.Clock{}, // want `retrytest.Clock is for tests: with it, retries do not wait`
	Rand:  retrytest.Fixed(0), // want `retrytest.Fixed is for tests: with it, retries do not wait`
}

var patient = retry.Policy{MaxAttempts: 5}

func hurries(p retry.Policy) retry.Policy {
	clock := new(retrytest.Clock)
	p.Clock = clock                              // want `retrytest.Clock is for tests`
	p.Limiter = &ratelimit.Limiter{Clock: clock} // want `retrytest.Clock is for tests`
	return p
}

func repeats(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, patient, retrytest.Twice(op)) // want `retrytest.Twice is for tests: it executes the operation twice`
}

func keeps(p retry.Policy) retry.Policy {
	p.Clock = retry.SystemClock{}
	return p
}

// A program that shows what a policy does.
func simulates(ctx context.Context, p retry.Policy, op func(context.Context) error) []time.Duration {
	clock := &retrytest.Clock{}
	p.Clock = clock
	_ = retry.Do(ctx, p, op)
	return clock.Waits()
}
