package http_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// vanishing starts a server that reads its second request, then closes or resets the
// connection without a response. It responds to all other requests.
func vanishing(t *testing.T, reset bool) (url string, hits *atomic.Int32) {
	hits = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		if hits.Add(1) == 2 {
			drop(w, reset)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, hits
}

// TestHiddenHTTP1: on a used connection, net/http would silently resend some requests
// without a body. With a Transport, every send is an attempt, or is reported in Info.
func TestHiddenHTTP1(t *testing.T) {
	const body = "body"
	for _, test := range []struct {
		name, method string
		key          bool
		body         string
		alone        bool // each request has its own connection
		sends, hits  int32
		fails        bool
	}{
		{name: "GET", method: http.MethodGet, sends: 2, hits: 2},
		{name: "HEAD", method: http.MethodHead, sends: 2, hits: 2},
		{name: "OPTIONS", method: http.MethodOptions, sends: 2, hits: 2},
		{name: "TRACE", method: http.MethodTrace, sends: 2, hits: 2},
		{name: "POST with key", method: http.MethodPost, key: true, sends: 2, hits: 2},
		{name: "GET without keep-alive", method: http.MethodGet, alone: true, sends: 2, hits: 2},
		{name: "PUT", method: http.MethodPut, sends: 2, hits: 2},
		{name: "DELETE", method: http.MethodDelete, sends: 2, hits: 2},
		{name: "PUT with body", method: http.MethodPut, body: body, sends: 2, hits: 2},
		{name: "POST with key and body", method: http.MethodPost, key: true, body: body, sends: 2, hits: 2},
		{name: "POST", method: http.MethodPost, sends: 1, hits: 1, fails: true},
		{name: "POST with body", method: http.MethodPost, body: body, sends: 1, hits: 1, fails: true},
	} {
		for _, end := range []string{"closed", "reset"} {
			t.Run(test.name+"/"+end, func(t *testing.T) {
				url, hits := vanishing(t, end == "reset")
				policy, sends := counted()
				client := &http.Client{Transport: &retryhttp.Transport{
					Base:   &http.Transport{DisableKeepAlives: test.alone},
					Policy: policy,
				}}
				defer client.CloseIdleConnections()
				fetch(t, client, http.MethodGet, url, "", false, false)
				fetch(t, client, test.method, url, test.body, test.key, test.fails)
				assert.Equal(t, test.sends, sends.Load()-1, "sends")
				assert.Equal(t, test.hits, hits.Load()-1, "requests that the server has read")
			})
		}
	}
}

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

func overPipes(server *h2Server) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{Protocols: protocols, DialContext: server.dial}
}

// TestHiddenHTTP2: a request without a body that net/http would resend is resent by the
// Transport, once in a call and without long waits.
func TestHiddenHTTP2(t *testing.T) {
	protocolErrors := 3 + 1 // Go 1.26 alone: unlimited
	if go127 {
		protocolErrors = 3
	}
	for _, test := range []struct {
		code    http2.ErrCode
		streams int
	}{
		{http2.ErrCodeRefusedStream, 3 + 1}, // net/http alone: 8, within a minute
		{http2.ErrCodeProtocol, protocolErrors},
	} {
		t.Run(test.code.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refusal := step{refuses: true, do: resets(test.code)}
				server := &h2Server{steps: slices.Repeat([]step{refusal}, 12)}
				policy, sends := counted()
				transport := &retryhttp.Transport{Base: overPipes(server), Policy: policy}
				start := time.Now()
				_, err := transport.RoundTrip(get.request(t, "http://host/"))
				assert.Less(t, time.Since(start), 3*time.Second)
				transport.CloseIdleConnections()
				server.stop()
				streams, executed := server.seen()
				assert.ErrorIs(t, err, retry.ErrMaxAttempts)
				assert.NotErrorIs(t, err, context.Canceled, "the caller did not cancel")
				assert.EqualValues(t, test.streams, sends.Load())
				assert.Equal(t, test.streams, streams)
				assert.Empty(t, executed)
			})
		})
	}
}

func TestShownHTTP2Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := step{refuses: true, do: resets(http2.ErrCodeRefusedStream)}
		server := &h2Server{steps: []step{refusal, refusal, refusal}}
		policy, sends := counted()
		policy.MaxAttempts = 4
		transport := &retryhttp.Transport{Base: overPipes(server), Policy: policy, TrustRefusedStream: true}
		start := time.Now()
		resp, err := transport.RoundTrip(post.request(t, "http://host/"))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Less(t, time.Since(start), time.Second)
		assert.EqualValues(t, 4, sends.Load())
		transport.CloseIdleConnections()
		server.stop()
		streams, executed := server.seen()
		assert.Equal(t, 4, streams)
		assert.Equal(t, []string{longBody}, executed)
	})
}
