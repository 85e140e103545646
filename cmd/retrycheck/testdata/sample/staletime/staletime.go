// Signature with a time made outside. Nothing finds it.
package staletime

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func Get(ctx context.Context, url string, sign func(string) string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	sig := sign(now)
	return retry.Do(ctx, retry.Policy{MaxElapsed: 10 * time.Minute}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		req.Header.Set("X-Date", now)
		req.Header.Set("Authorization", sig)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return retryhttp.CheckStatus(resp)
	})
}
