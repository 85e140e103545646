package troubleshooting

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// answers is a server that answers its first requests with a status each, and the others with 200.
func answers(t *testing.T, statuses ...int) *httptest.Server {
	t.Helper()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1))
		_, _ = io.Copy(io.Discard, r.Body)
		if n <= len(statuses) {
			w.WriteHeader(statuses[n-1])
		}
	}))
	t.Cleanup(server.Close)
	return server
}

var quick = retry.Policy{Backoff: retry.NoDelay{}}

// send returns the error of a request, or of its response.
func send(client *http.Client, req *http.Request) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}

func request(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	require.NoError(t, err)
	return req
}

// requests are programs that call an HTTP server.
var requests = map[string]program{
	"`404 Not Found`, and other permanent statuses": func(t *testing.T, mended bool) error {
		policy := quick
		if mended {
			policy.Classifier = retry.Codes{Retry: []string{"404"}}
		}
		return send(retryhttp.NewClient(policy), request(t, "GET", answers(t, 404).URL, nil))
	},
	"`no Idempotency-Key: see Transport.IdempotencyKey and MayRepeat`": func(t *testing.T, mended bool) error {
		transport := &retryhttp.Transport{Policy: quick}
		if mended {
			transport.IdempotencyKey = retryhttp.KeyForHosts(retryhttp.RandomKey, "api.example.com")
		}
		server := answers(t, 503).Listener.Addr().String()
		transport.Base = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}}
		return send(&http.Client{Transport: transport}, request(t, "POST", "http://api.example.com/", nil))
	},
	"`Transport.MayRepeat returned false`": func(t *testing.T, mended bool) error {
		transport := &retryhttp.Transport{Policy: quick}
		transport.MayRepeat = func(*http.Request) bool { return false }
		if mended {
			transport.MayRepeat = func(r *http.Request) bool { return retryhttp.IsIdempotent(r) }
		}
		return send(&http.Client{Transport: transport}, request(t, "GET", answers(t, 503).URL, nil))
	},
	"`the request has no GetBody to resend its body`": func(t *testing.T, mended bool) error {
		transport := &retryhttp.Transport{Policy: quick}
		if mended {
			transport.MaxBuffer = 1 << 20
		}
		req := request(t, "PUT", answers(t, 503).URL, io.NopCloser(strings.NewReader("content")))
		return send(&http.Client{Transport: transport}, req)
	},
	"`http: ContentLength=… with Body length 0`": func(t *testing.T, mended bool) error {
		url, content := answers(t, 503).URL, "content"
		once := io.NopCloser(strings.NewReader(content))
		return retry.Do(t.Context(), quick, func(ctx context.Context) error {
			body := io.Reader(once)
			if mended {
				body = strings.NewReader(content)
			}
			req, err := http.NewRequestWithContext(ctx, "PUT", url, body)
			if err != nil {
				return err
			}
			req.ContentLength = int64(len(content))
			return send(http.DefaultClient, req)
		})
	},
	"`gave up after 1 attempt (context deadline exceeded)` (Client.Timeout exceeded)": func(t *testing.T, mended bool) (err error) {
		synctest.Test(t, func(t *testing.T) {
			transport := &retryhttp.Transport{Base: &hangsOnce{}}
			client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
			if mended {
				client.Timeout = 0
				transport.Policy.AttemptTimeout = 3 * time.Second
			}
			err = send(client, request(t, "GET", "http://example.com/", nil))
		})
		return err
	},
	"`ratelimit: the limit`, `is used up for`": func(t *testing.T, mended bool) error {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-RateLimit-Limit", "10")
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "3000") // seconds
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer server.Close()
		client := retryhttp.NewClient(retry.Policy{MaxAttempts: retry.NoRetry})
		for range 5 {
			err := send(client, request(t, "GET", server.URL, nil))
			if errors.As(err, new(*ratelimit.UsedUpError)) {
				if mended {
					return putBack(err)
				}
				return err
			}
		}
		return nil
	},
	"`context canceled`, while a body or rows are read": func(t *testing.T, mended bool) error {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			if r.URL.Path == "/late" {
				<-r.Context().Done()
			}
		}))
		defer server.Close()
		policy := retry.Policy{AttemptTimeout: time.Minute}
		var resp *http.Response
		err := retry.Do(t.Context(), policy, func(ctx context.Context) error {
			path := "/late"
			if mended {
				path = "/"
			}
			req, err := http.NewRequestWithContext(ctx, "GET", server.URL+path, nil)
			if err != nil {
				return err
			}
			resp, err = http.DefaultClient.Do(req)
			if err != nil || !mended {
				return err
			}
			defer resp.Body.Close()
			_, err = io.ReadAll(resp.Body)
			return err
		})
		if err != nil || mended {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	},
}

// hangsOnce has no response to its first request.
type hangsOnce struct{ requests atomic.Int32 }

func (h *hangsOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.requests.Add(1) == 1 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// message stands for one of a queue.
var message queued

type queued struct{}

func (queued) NakWithDelay(time.Duration) error { return nil }

// putBack handles the error of a message's call.
func putBack(err error) error {
	var usedUp *ratelimit.UsedUpError
	if errors.As(err, &usedUp) {
		return message.NakWithDelay(usedUp.After)
	}
	return err
}
