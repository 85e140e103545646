package swapped

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, op func(context.Context) error) error {
	p := retry.Policy{Backoff: retry.Exponential{Base: 30 * time.Second, Cap: 100 * time.Millisecond}} // mistake
	return retry.Do(ctx, p, op)
}
