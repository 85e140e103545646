package response

import (
	"context"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

func retriesWithoutResponse() *retryablehttp.Client {
	client := retryablehttp.NewClient()
	client.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if resp.StatusCode >= 500 { // want `resp is nil if the request failed, so this panics: look at the error first`
			return true, nil
		}
		return err != nil, nil
	}
	return client
}

func looksAtError() *retryablehttp.Client {
	return &retryablehttp.Client{CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		if err != nil {
			return true, nil
		}
		return resp.StatusCode >= 500, nil
	}}
}
