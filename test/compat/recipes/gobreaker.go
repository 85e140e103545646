package recipes

import (
	"context"
	"errors"

	"github.com/sony/gobreaker/v2"

	"github.com/gobackoff/retry"
)

// WithBreaker retries through a circuit breaker, whose refusals are permanent for the
// call.
func WithBreaker[T any](ctx context.Context, policy retry.Policy, breaker *gobreaker.CircuitBreaker[T], op func(context.Context) (T, error)) (T, error) {
	return retry.DoValue(ctx, policy, func(ctx context.Context) (T, error) {
		v, err := breaker.Execute(func() (T, error) { return op(ctx) })
		if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
			err = retry.Permanent(err)
		}
		return v, err
	})
}
