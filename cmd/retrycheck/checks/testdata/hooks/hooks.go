package hooks

import (
	"context"

	"github.com/gobackoff/retry"
)

type client struct{ policy retry.Policy }

func (c *client) get(ctx context.Context, op func(context.Context) error, hooks retry.Hooks) error {
	c.policy = c.policy.With(hooks) // want `each call of this function adds the hooks once more`
	return retry.Do(ctx, c.policy, op)
}

func (c *client) getOnce(ctx context.Context, op func(context.Context) error, hooks retry.Hooks) error {
	policy := c.policy.With(hooks)
	return retry.Do(ctx, policy, op)
}

func newClient(p retry.Policy, hooks retry.Hooks) *client {
	c := &client{policy: p}
	c.policy = c.policy.With(hooks)
	return c
}

func (c *client) watch(hooks retry.Hooks) {
	c.policy.Hooks = hooks // want `this replaces the hooks that the policy has: use policy = policy.With\(hooks\)`
}

func replaces(p retry.Policy, hooks retry.Hooks) retry.Policy {
	p.Hooks = hooks // want `this replaces the hooks that the policy has`
	return p
}

func fresh(hooks retry.Hooks) (retry.Policy, retry.Policy) {
	p := retry.Policy{MaxAttempts: 5}
	p.Hooks = hooks
	var other retry.Policy
	other.Hooks = hooks
	return p, other
}

func keeps(p retry.Policy, hooks retry.Hooks) retry.Policy {
	own := p.Hooks
	p.Hooks = hooks
	return p.With(own)
}

func silent(p retry.Policy) retry.Policy {
	p.Hooks = retry.Hooks{}
	return p
}
