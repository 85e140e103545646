package http_test

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func fetch(t *testing.T, client *http.Client, method, url, body string, key, fails bool) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, reader)
	require.NoError(t, err)
	if key {
		req.Header.Set("Idempotency-Key", "k1")
	}
	resp, err := client.Do(req)
	if fails {
		require.ErrorIs(t, err, retry.ErrUnrepeatable)
		return
	}
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

type staleConn struct {
	net.Conn
	stale *atomic.Bool
}

func (c staleConn) Write(p []byte) (int, error) {
	if c.stale.Load() {
		return 0, errors.New("broken")
	}
	return c.Conn.Write(p)
}

// TestHiddenUnwritten: if nothing was written, net/http resends a request without a body.
// With a Transport it does so, too, and the request counts as sent, because net/http
// reports that its headers were written.
func TestHiddenUnwritten(t *testing.T) {
	for _, test := range []struct {
		kind  kind
		sends int32
		hits  int32
	}{
		{get, 2, 1},
		{postEmpty, 2, 1},
		{put, 2, 1},
		{post, 1, 0}, // net/http mistakes the failed write for a failure to read a long body
	} {
		t.Run(test.kind.name, func(t *testing.T) {
			var hits, dials atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
			defer server.Close()
			stale := new(atomic.Bool)
			base := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err == nil && dials.Add(1) == 1 {
					conn = staleConn{conn, stale}
				}
				return conn, err
			}}
			policy, sends := counted()
			client := &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: policy}}
			defer client.CloseIdleConnections()
			fetch(t, client, http.MethodGet, server.URL, "", false, false)
			stale.Store(true)
			fetch(t, client, test.kind.method, server.URL, test.kind.content(), test.kind.key, test.hits == 0)
			assert.Equal(t, test.sends, sends.Load()-1, "sends")
			assert.Equal(t, test.hits, hits.Load()-1, "requests that the server has read")
		})
	}
}
