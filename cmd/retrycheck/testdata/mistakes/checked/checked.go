package checked

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func run(ctx context.Context, url string) ([]byte, error) {
	var resp *http.Response
	err := retry.Do(ctx, retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) (err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err = http.DefaultClient.Do(req) // mistake
		if err != nil {
			return err
		}
		return retryhttp.CheckStatus(resp)
	})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
