package http_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// sendMany sends the given number of requests, ten at a time, each with its own path,
// and returns their errors.
func sendMany(t *testing.T, rt http.RoundTripper, url string, k kind, many int) (failed []error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var next atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 10 {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(many); n = next.Add(1) {
				if err := sendOne(ctx, rt, fmt.Sprintf("%s/%d", url, n), k); err != nil {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, ctx.Err(), "requests are still in flight")
	return failed
}

func sendOne(ctx context.Context, rt http.RoundTripper, url string, k kind) error {
	var body io.Reader
	if k.body {
		body = strings.NewReader("content")
	}
	req, err := http.NewRequestWithContext(ctx, k.method, url, body)
	if err != nil {
		return err
	}
	if k.key {
		req.Header.Set("Idempotency-Key", url)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return err
}

type wrapped struct{ http.RoundTripper }

func (w wrapped) RoundTrip(req *http.Request) (*http.Response, error) {
	return w.RoundTripper.RoundTrip(req.Clone(req.Context()))
}

func overBases(t *testing.T, test func(t *testing.T, over func(*http.Transport) http.RoundTripper)) {
	t.Run("http.Transport", func(t *testing.T) {
		test(t, func(base *http.Transport) http.RoundTripper { return base })
	})
	t.Run("wrapped", func(t *testing.T) {
		test(t, func(base *http.Transport) http.RoundTripper { return wrapped{base} })
	})
}

// TestNginxResets: a server that never responds receives at most one request per attempt over
// HTTP/1.1, and one more over HTTP/2, because net/http of Go 1.26 would resend it.
func TestNginxResets(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			overBases(t, func(t *testing.T, over func(*http.Transport) http.RoundTripper) {
				c := newCounter(t, protocol, nginx(t, protocol, "return 444;"))
				policy, sends := counted()
				policy.Budget = retry.NoBudget{} // each resend after the first takes a token
				rt := &retryhttp.Transport{Base: over(c.transport(t)), Policy: policy}
				err := sendOne(t.Context(), rt, c.url, get)
				require.ErrorIs(t, err, retry.ErrMaxAttempts)
				assert.NotErrorIs(t, err, context.Canceled)
				t.Logf("%d sends, %d requests, %d connections", sends.Load(), c.headers.Load(), c.conns.Load())
				require.Eventually(t, func() bool { return c.headers.Load() >= int64(sends.Load()) }, time.Minute, time.Millisecond) // it counts behind the relay
				assert.EqualValues(t, sends.Load(), c.headers.Load())
				want := 3
				switch _, direct := rt.Base.(*http.Transport); {
				case protocol == "HTTP/1.1" || go127:
				case direct:
					want = 3 + 1
				default: // each time, net/http would resend the request without telling why
					want = 3 + 8
				}
				assert.EqualValues(t, want, sends.Load())
			})
		})
	}
}

// TestNginxKeepalive: nginx ends a connection after 100 requests, over HTTP/2 with a
// graceful GOAWAY. That costs no attempt, and no request is executed twice.
func TestNginxKeepalive(t *testing.T) {
	for _, test := range []struct {
		protocol string
		kind     kind
		attempts int // of the policy
		many     int
	}{
		{"HTTP/1.1", get, 1, 400},
		{"HTTP/1.1", postEmpty, 3, 400},
		{"HTTP/2", get, 1, 1200},
		{"HTTP/2", postEmpty, 3, 1200},
		{"HTTP/2", post, 3, 400},
		{"HTTP/2", postKeyed, 3, 400},
		{"HTTP/2", put, 3, 400},
	} {
		t.Run(test.protocol+"/"+test.kind.name, func(t *testing.T) {
			overBases(t, func(t *testing.T, over func(*http.Transport) http.RoundTripper) {
				backend := newExecutions(t, false)
				address := nginx(t, test.protocol, "keepalive_requests 100; location / { proxy_pass "+backend.URL+"; }")
				c := newCounter(t, test.protocol, address)
				policy, sends := counted()
				policy.MaxAttempts = test.attempts
				base := over(c.transport(t))
				failed := sendMany(t, &retryhttp.Transport{Base: base, Policy: policy}, c.url, test.kind, test.many)
				t.Logf("%d failed, %d sends, %d requests, %d connections", len(failed), sends.Load(), c.headers.Load(), c.conns.Load())
				assert.LessOrEqual(t, c.headers.Load(), int64(sends.Load()))
				assert.Zero(t, backend.twice())
				if _, direct := base.(*http.Transport); !direct && test.kind == postEmpty && test.protocol == "HTTP/2" {
					for _, err := range failed { // net/http does not tell why it would resend the request
						assert.ErrorIs(t, err, retry.ErrUnrepeatable)
					}
					return
				}
				assert.Empty(t, failed)
			})
		})
	}
}
