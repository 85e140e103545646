package pages

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// This file contains the short pieces of code of docs/http.md.

var (
	_ = retrying
	_ = patientRequest
)

var _ = []func() *http.Client{ofDownloads, ofAPI, tracedBelow, belowRetries}

func ofDownloads() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		FirstByteTimeout: 10 * time.Second,
		StallTimeout:     30 * time.Second,
	}}
	return client
}

func ofAPI() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{MaxRead: 1 << 20}}
	return client
}

func tracedBelow() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Wrap: func(base http.RoundTripper) http.RoundTripper { return otelhttp.NewTransport(base) },
	}}
	return client
}

func belowRetries() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy:  retry.Policy{MaxAttempts: retry.NoRetry},
		MaxRead: 1 << 20,
	}}
	return client
}

func retrying() (*http.Response, error) {
	client := retryhttp.NewClient(retry.Policy{MaxAttempts: 4})
	resp, err := client.Get("https://example.com/")
	return resp, err
}

func patientRequest(ctx context.Context, url string) (*http.Request, error) {
	ctx = retryhttp.WithPolicy(ctx, retry.Policy{MaxElapsed: time.Minute, AttemptTimeout: 10 * time.Second})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	return req, err
}
