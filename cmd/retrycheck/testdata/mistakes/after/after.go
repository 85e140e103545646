package after

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, fetch func(context.Context) (int, error)) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		code, err := fetch(ctx)
		if code == http.StatusTooManyRequests {
			return retry.After(err, 30) // mistake
		}
		return err
	})
}
