// Hint that is longer than MaxElapsed.
package longhint

import (
	"context"
	"errors"
	"time"

	"github.com/gobackoff/retry"
)

var ErrLimited = errors.New("rate limited")
var P = retry.Policy{MaxElapsed: 15 * time.Minute}

func Call(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, P, func(ctx context.Context) error {
		err := op(ctx)
		if errors.Is(err, ErrLimited) {
			return retry.After(err, 30*time.Minute) // not found
		}
		return err
	})
}
