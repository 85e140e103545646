package ratelimit

import (
	"context"
	"slices"
	"sync"
)

type costKey struct{}

// A cost is what a call costs, and the Limiters that have counted it.
type cost struct {
	mu       sync.Mutex
	units    float64
	limiters []*Limiter
}

// WithCost sets how many units a call with this context costs, such as its tokens, as far as
// the caller knows or estimates them. Limits whose Name contains "token", and the Limiter's own
// Limit, count them; other limits count 1 for each call. A call without a cost, or with one
// below 0, costs 1. Pass the context to [retry.Do]: a Limiter of its Policy waits before the
// operation, so it does not see a cost that the operation sets.
func WithCost(ctx context.Context, units float64) context.Context {
	if !(units >= 0) {
		units = 1
	}
	return context.WithValue(ctx, costKey{}, &cost{units: min(units, 1e15)})
}

// Correct says what the call with a context of [WithCost] really cost, once that is known. The
// Limiters' own Limit, alone or shared, counts the difference. Limits that the server tells need
// no correction. Without WithCost, or with a number below 0, Correct does nothing.
func Correct(ctx context.Context, units float64) {
	c, ok := ctx.Value(costKey{}).(*cost)
	if !ok || !(units >= 0) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.limiters {
		l.giveBack(c.units - units)
	}
	c.units = units
}

func costOf(ctx context.Context) float64 {
	c, ok := ctx.Value(costKey{}).(*cost)
	if !ok {
		return 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.units
}

// counted notes that the Limit of l has counted the cost of a call.
func counted(ctx context.Context, l *Limiter) {
	c, ok := ctx.Value(costKey{}).(*cost)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.limiters, l) {
		c.limiters = append(c.limiters, l)
	}
}
