package retryable

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp" // want "0 of 1 calls can be rewritten"
)

func standard(retries int) *http.Client {
	client := retryablehttp.NewClient() // want "retryablehttp\\.NewClient: left alone: use an http\\.Client with a retryhttp\\.Transport"
	client.RetryMax = retries
	client.RetryWaitMin = 100 * time.Millisecond
	return client.StandardClient()
}

func get(client *retryablehttp.Client) (*http.Response, error) {
	return client.Get("https://example.com")
}
