// Fmt.Errorf around a nil error.
package nilwrapped

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry"
)

func Rename(ctx context.Context, rename func(context.Context, string) error, name string) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		err := rename(ctx, name)
		return fmt.Errorf("rename to %s: %w", name, err)
	})
}
