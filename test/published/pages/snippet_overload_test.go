package pages

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/retryhttp"
)

// This file has the code of docs/overload.md.

func behindGate() *http.Client {
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy: retry.Policy{MaxAttempts: 4, AttemptTimeout: time.Second, Budget: retry.NoBudget{}},
	}}
	return client
}

func important(gate *admit.Gate, mux *http.ServeMux) *admit.Handler {
	handler := gate.Handler(mux)
	handler.Share = func(r *http.Request) float64 {
		if strings.HasPrefix(r.URL.Path, "/reports/") {
			return 0.75
		}
		return 1
	}
	handler.Skip = func(r *http.Request) bool {
		return r.URL.Path == "/healthz" || r.URL.Path == "/events"
	}
	return handler
}

func announce(transport *retryhttp.Transport) {
	transport.Sign = func(req *http.Request) (retryhttp.Refused, error) {
		deadline, ok := req.Context().Deadline()
		if ok {
			timeout := max(time.Until(deadline), time.Millisecond)
			req.Header.Set("X-Envoy-Expected-Rq-Timeout-Ms", strconv.FormatInt(timeout.Milliseconds(), 10))
		}
		return nil, nil
	}
}

// TestAnnounce: the timeout of the policy arrives at a server that reads the header.
func TestAnnounce(t *testing.T) {
	var announced string
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		announced = r.Header.Get("X-Envoy-Expected-Rq-Timeout-Ms")
	})
	server := httptest.NewServer(important(new(admit.Gate), mux))
	defer server.Close()
	client := behindGate()
	transport := client.Transport.(*retryhttp.Transport)
	transport.Policy.AttemptTimeout = time.Hour
	announce(transport)
	resp, err := client.Get(server.URL)
	require.NoError(t, err)
	assert.NoError(t, resp.Body.Close())
	got, err := strconv.Atoi(announced)
	require.NoError(t, err)
	assert.InDelta(t, time.Hour.Milliseconds(), got, 600_000)
}

// TestImportant: reports get less of the Gate, and health checks bypass it.
func TestImportant(t *testing.T) {
	handler := important(new(admit.Gate), http.NewServeMux())
	request := func(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }
	assert.Equal(t, 0.75, handler.Share(request("/reports/1")))
	assert.Equal(t, 1.0, handler.Share(request("/orders/1")))
	assert.True(t, handler.Skip(request("/healthz")))
	assert.False(t, handler.Skip(request("/orders/1")))
}
