// A Limiter for each call.
package ownlimiter

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

type tick struct{ t *time.Ticker }

func (l tick) Wait(ctx context.Context) error {
	select {
	case <-l.t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func Call(ctx context.Context, op func(context.Context) error) error {
	p := retry.Policy{Limiter: tick{time.NewTicker(100 * time.Millisecond)}} // not found
	return retry.Do(ctx, p, op)
}
