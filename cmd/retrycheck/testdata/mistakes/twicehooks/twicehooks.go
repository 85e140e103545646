package twicehooks

import (
	"context"

	"github.com/gobackoff/retry"
)

type service struct{ policy retry.Policy }

func (s *service) call(ctx context.Context, h retry.Hooks, op func(context.Context) error) error {
	s.policy = s.policy.With(h) // mistake
	return retry.Do(ctx, s.policy, op)
}
