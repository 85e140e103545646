package randomkey

import (
	"context"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func run(ctx context.Context, url string) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("order"))
		if err != nil {
			return retry.Permanent(err)
		}
		req.Header.Set("Idempotency-Key", retryhttp.RandomKey(req)) // mistake
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return retryhttp.CheckStatus(resp)
	})
}
