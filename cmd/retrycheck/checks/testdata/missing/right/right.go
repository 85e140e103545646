// Package right makes the second call of each pair.
package right

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
	"k8s.io/client-go/util/workqueue"
)

var policy = retry.Policy{MaxAttempts: 3, Budget: &retry.SharedBudget{}}

func loads(load func() error) error {
	waits := adapt.NewSequence(policy)
	return backoff.Retry(func() error {
		err := load()
		if err == nil {
			waits.Succeeded()
		}
		return err
	}, waits)
}

func controls(queue workqueue.TypedRateLimitingInterface[string], reconcile func(string) error) {
	name, _ := queue.Get()
	defer queue.Done(name)
	err := reconcile(name)
	if err != nil {
		queue.AddRateLimited(name)
		return
	}
	queue.Forget(name)
}

type copier struct {
	limiter *awspreset.AdaptiveLimiter
	policy  retry.Policy
}

func newCopier() *copier {
	c := &copier{limiter: &awspreset.AdaptiveLimiter{}}
	c.policy.Limiter = c.limiter
	return c
}

func (c *copier) load(ctx context.Context, load func(context.Context) error) error {
	err := c.limiter.Wait(ctx) // for a call that the policy does not make
	if err != nil {
		return err
	}
	return load(ctx)
}

func runs(ctx context.Context, failures int, begun time.Time, job func(context.Context) error) (time.Duration, error) {
	err := job(ctx)
	if err == nil {
		policy.Budget.Deposit(retry.Attempt{Number: failures}, nil)
		return 0, nil
	}
	return policy.Next(retry.Attempt{Number: failures + 1, Err: err}, time.Since(begun))
}
