package started

import (
	"context"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, op func(context.Context) error) {
	go retry.Do(ctx, retry.Policy{}, op) // mistake
}
