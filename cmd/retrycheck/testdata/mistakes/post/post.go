package post

import (
	"context"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func run(ctx context.Context, order string) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, "POST", "https://example.com/orders", strings.NewReader(order)) // mistake
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return retryhttp.CheckStatus(resp)
	})
}
