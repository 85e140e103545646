// Result of Do ignored.
package notheard

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
)

func Notify(ctx context.Context, url string) {
	retry.Do(ctx, retry.Policy{MaxAttempts: 5}, func(ctx context.Context) error { // mistake
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := http.DefaultClient.Do(req) // mistake
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
