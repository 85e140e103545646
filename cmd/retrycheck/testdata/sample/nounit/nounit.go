// MaxElapsed without unit.
package nounit

import (
	"context"

	"github.com/gobackoff/retry"
)

var P = retry.Policy{MaxElapsed: 30} // mistake

func Call(ctx context.Context, op func(context.Context) error) error { return retry.Do(ctx, P, op) }
