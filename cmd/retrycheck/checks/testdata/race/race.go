package race

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
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
	return rand.N(time.Second) // want `a Backoff draws its delay from u, which a policy's Rand can fix in a test: do not use another random number`
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

func hedges(ctx context.Context, hedge *retryhedge.Hedge, find func(context.Context) (int, error)) (found int, err error) {
	_, err = retryhedge.Do(ctx, hedge, "find", func(ctx context.Context) (bool, error) {
		n, err := find(ctx)
		found = n // want `a copy of the operation runs at the same time, even after retryhedge.Do has returned, so both write to found`
		return true, err
	})
	return found, err
}

func tooEarly(ctx context.Context, p retry.Policy, load func(context.Context) (int, error)) (int, error) {
	var n int
	var err error
	go func() {
		n, err = retry.DoValue(ctx, p, load) // want `n is read before this goroutine has set it, because nothing waits for the goroutine` `err is read before this goroutine has set it`
	}()
	return n, err
}

func tooEarlyInGroup(ctx context.Context, p retry.Policy, group *sync.WaitGroup, load func(context.Context) (int, error)) int {
	n := 0
	group.Go(func() {
		_ = retry.Do(ctx, p, func(ctx context.Context) error {
			got, err := load(ctx)
			if err != nil {
				return err
			}
			n = got // want `n is read before this goroutine has set it`
			return nil
		})
	})
	return n
}

func inTime(ctx context.Context, p retry.Policy, load func(context.Context) (int, error)) (int, error) {
	var n, m int
	var err error
	var group sync.WaitGroup
	group.Go(func() { n, err = retry.DoValue(ctx, p, load) })
	group.Wait()
	done := make(chan struct{})
	go func() {
		defer close(done)
		m, err = retry.DoValue(ctx, p, load)
	}()
	<-done
	return n + m, err
}

func readBeforeWait(ctx context.Context, p retry.Policy, load func(context.Context) (int, error)) (int, error) {
	var n int
	var err error
	var group sync.WaitGroup
	group.Go(func() {
		n, err = retry.DoValue(ctx, p, load) // want `err is read before this goroutine has set it`
	})
	if err != nil {
		return 0, err
	}
	group.Wait()
	return n, nil
}
