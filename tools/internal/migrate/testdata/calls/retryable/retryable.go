package retryable

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp" // want "6 of 8 calls can be rewritten"
)

func standard(retries int) *http.Client {
	client := retryablehttp.NewClient()
	client.RetryMax = retries
	client.RetryWaitMin = 100 * time.Millisecond
	client.Logger = nil
	return client.StandardClient() // want "retryablehttp\\.StandardClient: can be rewritten"
}

func own() (*http.Response, error) {
	client := retryablehttp.NewClient()
	client.CheckRetry = retryablehttp.ErrorPropagatedRetryPolicy
	return client.Get("https://example.com") // want "retryablehttp\\.Get: can be rewritten; errors are wrapped in a \\*url\\.Error"
}

type api struct{ http *retryablehttp.Client }

func (a api) get() (*http.Response, error) {
	req, err := retryablehttp.NewRequest(http.MethodPost, "https://example.com", []byte("x"))
	if err != nil {
		return nil, err
	}
	return a.http.Do(req) // want "retryablehttp\\.Do: can be rewritten"
}

func others() (*http.Client, error) {
	if _, err := retryablehttp.Post("https://example.com", "text/plain", []byte("x")); err != nil { // want "retryablehttp\\.Post: left alone: its body is no io\\.Reader"
		return nil, err
	}
	if _, err := retryablehttp.Head("https://example.com"); err != nil { // want "retryablehttp\\.Head: can be rewritten; errors are wrapped in a \\*url\\.Error"
		return nil, err
	}
	client := retryablehttp.NewClient()
	client.HTTPClient = http.DefaultClient
	return client.StandardClient(), nil // want "retryablehttp\\.StandardClient: can be rewritten"
}

func handled(c *retryablehttp.Client) (*http.Response, error) {
	client := retryablehttp.NewClient()
	client.ErrorHandler = handler
	if _, err := client.StandardClient().Get("https://example.com"); err != nil { // want "retryablehttp\\.StandardClient: can be rewritten"
		return nil, err
	}
	return c.Do(request()) // want "retryablehttp\\.Do: left alone: its request is not in a variable, or has a response handler"
}

func request() *retryablehttp.Request { return nil }

func handler(resp *http.Response, err error, _ int) (*http.Response, error) { return resp, err }
