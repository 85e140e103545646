package cost

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// embedder asks a model. Its account may use so many tokens in a second.
type embedder struct {
	call   func(context.Context, []string) error
	policy retry.Policy
	sent   atomic.Int64
}

func newEmbedder() *embedder {
	return &embedder{policy: retry.Policy{Limiter: &ratelimit.Limiter{Limit: ratelimit.Limit{Rate: 1500}}}}
}

func (e *embedder) embed(ctx context.Context, texts []string) error {
	return retry.Do(ctx, e.policy, func(ctx context.Context) error {
		ctx = ratelimit.WithCost(ctx, float64(len(texts))) // want `the Limiter of the policy waits before the operation, so it does not see this cost: give the context of WithCost to retry.Do`
		return e.call(ctx, texts)
	})
}

func (e *embedder) one(ctx context.Context, texts []string) error {
	ctx = ratelimit.WithCost(ctx, float64(len(texts))) // want `the Limiter of the policy waits before the operation, so it does not see this cost`
	return e.call(ctx, texts)
}

func (e *embedder) within(ctx context.Context, texts []string) error {
	return retry.Do(ctx, e.policy, func(ctx context.Context) error { return e.one(ctx, texts) })
}

func (e *embedder) before(ctx context.Context, texts []string) error {
	ctx = ratelimit.WithCost(ctx, float64(len(texts)))
	return retry.Do(ctx, e.policy, func(ctx context.Context) error {
		err := e.call(ctx, texts)
		ratelimit.Correct(ctx, float64(e.sent.Add(1)))
		return err
	})
}

// free has no Limiter, and call may have one.
func (e *embedder) free(ctx context.Context, texts []string) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: 5}, func(ctx context.Context) error {
		return e.call(ratelimit.WithCost(ctx, 5), texts)
	})
}

func later(ctx context.Context, policy retry.Policy, call func(context.Context) error) error {
	policy.Limiter = &ratelimit.Limiter{}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		return call(ratelimit.WithCost(ctx, 5)) // want `the Limiter of the policy waits before the operation`
	})
}

// client has a Transport of another package, which may have a Limiter.
type client struct {
	http   *http.Client
	policy retry.Policy
}

func (c *client) get(ctx context.Context, req *http.Request) error {
	policy := retry.Policy{Limiter: &ratelimit.Limiter{Limit: ratelimit.Limit{Rate: 10}}}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		resp, err := c.http.Do(req.WithContext(ratelimit.WithCost(ctx, 100)))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
