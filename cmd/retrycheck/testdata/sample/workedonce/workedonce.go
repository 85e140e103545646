// The work is done once, when the operation is made.
package workedonce

import (
	"context"

	"github.com/gobackoff/retry"
)

func upload(ctx context.Context, put func(context.Context, []byte) error, b []byte) func(context.Context) error {
	err := put(ctx, b)
	return func(context.Context) error { return err }
}

func Save(ctx context.Context, put func(context.Context, []byte) error, b []byte) error {
	return retry.Do(ctx, retry.Policy{}, upload(ctx, put, b)) // not found
}
