package budget

import (
	"context"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"golang.org/x/time/rate"
)

func op(context.Context) error { return nil }

func literal(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{Budget: &retry.TokenBudget{}}, op) // want `retry.TokenBudget is made for each call of retry.Do, so it bounds nothing`
}

func variables(ctx context.Context) error {
	budget := &retry.RatioBudget{Ratio: 0.1} // want `retry.RatioBudget is made for each call`
	policy := retry.Policy{Budget: budget, MaxAttempts: 5}
	return retry.Do(ctx, policy, op)
}

func limiter(ctx context.Context) (int, error) {
	p := retry.Policy{Limiter: rate.NewLimiter(10, 1)} // want `the result of rate.NewLimiter is made for each call of retry.DoValue`
	return retry.DoValue(ctx, p, func(context.Context) (int, error) { return 1, nil })
}

func preset(ctx context.Context) error {
	return retry.Do(ctx, awspreset.Standard2026.Policy(""), op) // want `the result of awspreset.Preset.Policy is made for each call`
}

func assigned(ctx context.Context) error {
	p := shared
	p.Budget = &retry.TokenBudget{} // want `retry.TokenBudget is made for each call of retry.Do`
	return retry.Do(ctx, p.With(retry.Hooks{}), op)
}

func stored(ctx context.Context, c *client) error {
	c.policy.Budget = &retry.TokenBudget{}
	return retry.Do(ctx, shared, func(ctx context.Context) error { return c.call(ctx) })
}

var shared = retry.Policy{Budget: retry.FleetBudget()}

func global(ctx context.Context) error { return retry.Do(ctx, shared, op) }

func perJob(ctx context.Context, jobs []func(context.Context) error) {
	p := retry.Policy{Budget: &retry.TokenBudget{}}
	for _, job := range jobs {
		_ = retry.Do(ctx, p, job)
	}
}

func twice(ctx context.Context) error {
	p := retry.Policy{Budget: &retry.TokenBudget{}}
	if err := retry.Do(ctx, p, op); err != nil {
		return err
	}
	return retry.Do(ctx, p, op)
}

func handler(limit *retry.TokenBudget) func(context.Context) error {
	p := retry.Policy{Budget: retry.FleetBudget()}
	return func(ctx context.Context) error { return retry.Do(ctx, p, op) }
}

type client struct{ policy retry.Policy }

func newClient() *client { return &client{retry.Policy{Budget: &retry.ThrottleBudget{}}} }

func (c *client) call(ctx context.Context) error { return retry.Do(ctx, c.policy, op) }

func main() {
	p := retry.Policy{Budget: &retry.TokenBudget{}}
	_ = retry.Do(context.Background(), p, op)
}

func newPolicy() retry.Policy {
	return retry.Policy{Budget: &retry.TokenBudget{}} // want `retry.TokenBudget is made for each call of retry.Do`
}

func helped(ctx context.Context) error { return retry.Do(ctx, newPolicy(), op) }

func (c *client) limits() retry.Policy {
	p := retry.Policy{Budget: retry.FleetBudget()} // want `the result of retry.FleetBudget is made for each call`
	return p
}

func (c *client) helped(ctx context.Context) error { return retry.Do(ctx, c.limits(), op) }

func newShared() retry.Policy { return retry.Policy{Budget: &retry.TokenBudget{}} }

var made = newShared()

func usesShared(ctx context.Context) error { return retry.Do(ctx, made, op) }
