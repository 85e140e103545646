package body

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func run(ctx context.Context) error {
	body := strings.NewReader("{}")
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", body) // mistake
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return errors.Join(retryhttp.CheckStatus(resp), resp.Body.Close())
	})
}
