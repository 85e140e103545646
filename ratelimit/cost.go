package ratelimit

import "context"

type costKey struct{}

// WithCost sets how many units a call with this context costs, such as its tokens, as far as
// the caller knows or estimates them. Limits whose Name contains "token" count them; other
// limits count 1 for each call. A call without a cost, or with one below 0, costs 1.
func WithCost(ctx context.Context, units float64) context.Context {
	return context.WithValue(ctx, costKey{}, units)
}

func costOf(ctx context.Context) float64 {
	if n, ok := ctx.Value(costKey{}).(float64); ok && n >= 0 {
		return min(n, 1e15)
	}
	return 1
}
