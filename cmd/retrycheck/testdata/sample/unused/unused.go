// Result of Permanent dropped.
package unused

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
)

var ErrBad = errors.New("bad input")

func Put(ctx context.Context, put func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		err := put(ctx)
		if errors.Is(err, ErrBad) {
			retry.Permanent(err) // mistake
		}
		return err
	})
}
