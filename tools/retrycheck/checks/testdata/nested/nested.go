package nested

import (
	"context"
	"net/http"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	"github.com/hashicorp/go-retryablehttp"
)

func client(ctx context.Context, p retry.Policy, c *retryablehttp.Client) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(req) // want `go-retryablehttp.Client already retries: retry.Do around it multiplies the attempts`
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func twoLoops(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	return backoff.Retry(func() error {
		return retry.Do(ctx, p, op) // want `retry.Do already retries: backoff.Retry around it`
	}, backoff.NewExponentialBackOff())
}

func plain(ctx context.Context, p retry.Policy, c *http.Client, req *http.Request) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := c.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
