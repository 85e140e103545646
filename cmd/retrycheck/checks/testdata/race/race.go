package race

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

type doubling struct{ next time.Duration }

func (d *doubling) Delay(retry.Attempt, float64) time.Duration {
	d.next *= 2 // want `all calls share this Backoff, so each of them changes d.next for the others: compute the delay from the Attempt`
	return d.next
}

type counting struct{ byNumber map[int]int }

func (c counting) Delay(a retry.Attempt, u float64) time.Duration {
	c.byNumber[a.Number]++
	return time.Duration(u * float64(time.Second))
}

type locked struct {
	mu    sync.Mutex
	known map[int]time.Duration
}

func (l *locked) Delay(a retry.Attempt, _ float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[a.Number] = time.Second
	return l.known[a.Number]
}

func closure() retry.Backoff {
	last := time.Second
	return retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
		last += time.Second // want `each of them changes last for the others`
		return last
	})
}

var drawn = retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
	return rand.N(time.Second)
})

var computed = retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
	delay := time.Second
	for range a.Number {
		delay *= 2
	}
	return time.Duration(u * float64(delay))
})

type client struct {
	policy retry.Policy
	mu     sync.Mutex
}

func (c *client) Get(ctx context.Context, timeout time.Duration, op func(context.Context) error) error {
	c.policy.MaxElapsed = timeout // want `calls that run at the same time share c.policy, so one uses what another sets: change a copy`
	return retry.Do(ctx, c.policy, op)
}

func (c *client) Locked(ctx context.Context, op func(context.Context) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policy.MaxAttempts = 5
	return retry.Do(ctx, c.policy, op)
}

func (c *client) SetAttempts(n int) { c.policy.MaxAttempts = n }

func (c *client) Copied(ctx context.Context, timeout time.Duration, op func(context.Context) error) error {
	policy := c.policy
	policy.MaxElapsed = timeout
	return retry.Do(ctx, policy, op)
}

type stats struct{ retries int }

func (s *stats) hooks() retry.Hooks {
	return retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {
		s.retries++ // want `calls that run at the same time call this hook, so they race for s.retries: use a lock or sync/atomic`
	}}
}

func oneCall(ctx context.Context, p retry.Policy, op func(context.Context) error) (retries int) {
	p = p.With(retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { retries++ }})
	_ = retry.Do(ctx, p, op)
	return retries
}

// A hook of a variable of the package is in no function.
var logged = retry.Policy{Hooks: retry.Hooks{OnRetry: func(_ context.Context, a retry.Attempt, _ time.Duration) { println(a.Number) }}}
