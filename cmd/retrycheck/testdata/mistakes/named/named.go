package named

import (
	"context"

	"github.com/gobackoff/retry"
)

const timeout = 5

func run(ctx context.Context, op func(context.Context) error) error {
	p := retry.Policy{AttemptTimeout: timeout} // mistake
	return retry.Do(ctx, p, op)
}
