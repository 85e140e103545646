package asvalue

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, op func(context.Context) error) int {
	err := retry.Do(ctx, retry.Policy{}, op)
	var e *retry.Error
	if errors.As(err, e) { // mistake
		return e.Attempts
	}
	return 0
}
