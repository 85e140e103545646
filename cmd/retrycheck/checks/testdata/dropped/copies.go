package dropped

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func usesCopy(ctx context.Context, op func(context.Context) error) error {
	q := shared
	q.AttemptTimeout = time.Second
	return retry.Do(ctx, q, op)
}

func tooLate(p retry.Policy, hooks retry.Hooks) *http.Client {
	client := retryhttp.NewClient(p)
	p.MaxAttempts = 7 // want `p is a copy of what the caller has, so this change of p.MaxAttempts is lost: return the copy, or take a pointer`
	p.Hooks = hooks   // want `this change of p.Hooks is lost`
	p = p.With(hooks) // want `this change of p is lost`
	return client
}

func each(policies []retry.Policy, pointers []*retry.Policy, services []service, byName map[string]retry.Policy) {
	for _, p := range policies {
		p.MaxElapsed = time.Minute // want `p is a copy of the element, so this change of p.MaxElapsed is lost: change the element by its index`
	}
	for i := range policies {
		policies[i].MaxElapsed = time.Minute
	}
	for _, p := range pointers {
		p.MaxElapsed = time.Minute
	}
	for _, s := range services {
		s.policy.MaxAttempts = 2 // want `s is a copy of the element`
		s.shared.MaxAttempts = 2
	}
	for name, p := range byName {
		p.MaxElapsed = time.Minute
		byName[name] = p
	}
	p := byName["a"]
	p.MaxElapsed = time.Minute // want `nothing uses p after this change`
}

type service struct {
	policy retry.Policy
	shared *retry.Policy
}

func (s service) setTimeout(d time.Duration) {
	s.policy.AttemptTimeout = d // want `s is a copy of the receiver, so this change of s.policy.AttemptTimeout is lost: use a pointer as the receiver`
	s.shared.AttemptTimeout = d
}

func (s service) log(hooks retry.Hooks) {
	s.policy = s.policy.With(hooks) // want `s is a copy of the receiver`
}

func (s service) with(hooks retry.Hooks) service {
	s.policy = s.policy.With(hooks)
	return s
}

func (s service) call(ctx context.Context, op func(context.Context) error) error {
	s.policy.AttemptTimeout = time.Second
	return retry.Do(ctx, s.policy, op)
}

func (s *service) setAttempts(n int) { s.policy.MaxAttempts = n }

func configure(p retry.Policy, c *retry.Policy) {
	p.Budget = &retry.SharedBudget{} // want `p is a copy of what the caller has`
	c.Budget = &retry.SharedBudget{}
}

func named() (p retry.Policy) {
	p.MaxAttempts = 5
	return
}

func closures(ctx context.Context, op func(context.Context) error) (func() error, func(int)) {
	p := shared
	run := func() error { return retry.Do(ctx, p, op) }
	p.MaxAttempts = 5
	return run, func(n int) { p.MaxAttempts = n }
}

func address(fill func(*retry.Policy)) *retry.Policy {
	p := shared
	pointer := &p
	fill(pointer)
	p.MaxAttempts = 5
	return pointer
}

func grows(ctx context.Context, op func(context.Context) error) {
	p := shared
	for range 3 {
		_ = retry.Do(ctx, p, op)
		p.MaxElapsed += time.Minute
		p.MaxAttempts = 5
	}
}

func decodes() *http.Client {
	var tr retryhttp.Transport
	c := &http.Client{Transport: &tr}
	tr.Policy.MaxAttempts = 5
	return c
}
