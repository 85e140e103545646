package refilled

import (
	"context"

	"github.com/gobackoff/retry"
)

var base = retry.Policy{MaxAttempts: 5}

func run(ctx context.Context, op func(context.Context) error) error {
	p := base
	p.Budget = &retry.SharedBudget{} // mistake
	return retry.Do(ctx, p, op)
}
