// Progress for every error.
package progress

import (
	"context"

	"github.com/gobackoff/retry"
)

func Consume(ctx context.Context, listen func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		err := listen(ctx)
		return retry.Progress(err)
	})
}
