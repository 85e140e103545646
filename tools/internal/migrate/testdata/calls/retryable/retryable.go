package retryable

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp" // want "1 of 2 calls can be rewritten"
)

func standard(retries int) *http.Client {
	client := retryablehttp.NewClient() // want "retryablehttp\\.NewClient: can be rewritten; after the last attempt the client returns the response, not an error"
	client.RetryMax = retries
	client.RetryWaitMin = 100 * time.Millisecond
	client.Logger = nil
	return client.StandardClient()
}

func own() (*http.Response, error) {
	client := retryablehttp.NewClient() // want "retryablehttp\\.NewClient: left alone: client\\.CheckRetry is used"
	client.CheckRetry = retryablehttp.ErrorPropagatedRetryPolicy
	return client.Get("https://example.com")
}
