package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// loop is the reference: a careful hand-written loop with one timer, without permanent
// errors, a reason for giving up, or a budget.
var loop = library{
	name: "loop",
	build: func(ctx context.Context, p plan) policy {
		return func(o *operation) call {
			op := func(context.Context) error { return o.try() }
			return func() error { return byHand(ctx, &p, op) }
		}
	},
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		return func(o *operation) valueCall {
			op := func(context.Context) (int, error) { return 1, o.try() }
			return func() (int, error) {
				var v int
				err := byHand(ctx, &p, func(ctx context.Context) (err error) {
					v, err = op(ctx)
					return err
				})
				return v, err
			}
		}
	},
	hooks: true,
}

//go:noinline
func byHand(ctx context.Context, p *plan, op func(context.Context) error) error {
	var timer *time.Timer
	ceiling := usualBase
	for attempt := 1; ; attempt++ {
		err := op(ctx)
		if err == nil || attempt == p.attempts {
			return err
		}
		wait := p.wait
		if p.usual {
			wait = rand.N(ceiling)
			ceiling = min(2*ceiling, usualCap)
		}
		if p.hook != nil {
			p.hook()
		}
		if wait <= 0 {
			continue
		}
		if timer == nil {
			timer = time.NewTimer(wait)
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
