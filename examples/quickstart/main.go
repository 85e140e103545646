// Quickstart calls a server that fails at first, in three ways that you can copy.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func main() {
	// A server that is busy for two requests of three, and never knows /missing.
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		if requests++; requests%3 != 0 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "answer to request %d", requests)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	// 1. Any operation. OnRetry shows what happens; it is optional.
	policy := retry.Policy{MaxAttempts: 5}
	policy.OnRetry = func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		fmt.Printf("  attempt %d: %v; next in %v\n", failed.Number, failed.Err, wait.Round(time.Millisecond))
	}
	page, err := retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) {
		return get(ctx, server.URL)
	})
	fmt.Printf("Do: %q, %v\n", page, err)

	// 2. An error that no retry mends: there is one attempt.
	_, err = retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) {
		return get(ctx, server.URL+"/missing")
	})
	fmt.Printf("permanent: %v (gave up after all attempts: %v)\n", err, errors.Is(err, retry.ErrMaxAttempts))

	// 3. All requests of a client. With its key, a POST may be repeated.
	client := retryhttp.NewClient(policy)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("a book"))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Idempotency-Key", "17")
	resp, err := client.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("retryhttp: %s, %q, %v\n", resp.Status, body, err)
	fmt.Println("Next: docs/tutorial.md, or docs/http.md for clients of net/http.")
}

// get returns the content of a page. The error of CheckStatus says whether a retry can help.
func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if err := retryhttp.CheckStatus(resp); err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
