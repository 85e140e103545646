package perrequest

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func run(ctx context.Context, url string) error {
	client := retryhttp.NewClient(retry.Policy{MaxAttempts: 4}) // mistake
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}
