package retryhttp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestUnsent: the trace of an attempt decides whether an error proves that the request
// was not processed.
func TestUnsent(t *testing.T) {
	refused := errors.New("stream error: stream ID 1; REFUSED_STREAM")
	asks := func(trace *httptrace.ClientTrace) { trace.GetConn("host:80") }
	writes := func(trace *httptrace.ClientTrace) { trace.WroteHeaders() }
	gets := func(trace *httptrace.ClientTrace) { trace.GotConn(httptrace.GotConnInfo{}) }
	for _, tt := range []struct {
		name   string
		events []func(*httptrace.ClientTrace)
		err    error
		sent   int
	}{
		{"no events, dial", nil, errDial, 3},
		{"no events, reset", nil, errReset, 1},
		{"no events, refused", nil, refused, 1},
		{"no events, GOAWAY", nil, errGoAway, 11},
		{"no connection, anything", []func(*httptrace.ClientTrace){asks}, errReset, 3},
		{"no connection, timeout", []func(*httptrace.ClientTrace){asks}, context.DeadlineExceeded, 3},
		{"connection, dial", []func(*httptrace.ClientTrace){asks, gets}, errDial, 1},
		{"connection, reset", []func(*httptrace.ClientTrace){asks, gets}, errReset, 1},
		{"connection, refused", []func(*httptrace.ClientTrace){asks, gets}, refused, 1},
		{"connection, GOAWAY", []func(*httptrace.ClientTrace){asks, gets}, errGoAway, 11},
		{"connection and none, dial", []func(*httptrace.ClientTrace){asks, gets, asks}, errDial, 1},
		{"two connections, GOAWAY", []func(*httptrace.ClientTrace){asks, gets, gets}, errGoAway, 11},
		{"two connections, nothing written to the first, GOAWAY", []func(*httptrace.ClientTrace){asks, gets, gets, writes}, errGoAway, 11},
		{"two connections, written to both, GOAWAY", []func(*httptrace.ClientTrace){asks, gets, writes, gets, writes}, errGoAway, 1},
		{"two connections, written to the first, GOAWAY", []func(*httptrace.ClientTrace){asks, gets, writes, gets}, errGoAway, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, content := range []string{"", "content"} {
				sent := 0
				base := roundTripper(func(req *http.Request) (*http.Response, error) {
					sent++
					if len(tt.events) > 0 {
						trace := httptrace.ContextClientTrace(req.Context())
						for _, event := range tt.events {
							event(trace)
						}
					}
					return nil, tt.err
				})
				_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "POST", content))
				assert.ErrorIs(t, err, tt.err)
				assert.Equal(t, tt.sent, sent)
			}
		})
	}
}

// TestDialIsNoProof: a dial error does not prove that the request was not sent, because
// it may have been sent before that error.
func TestDialIsNoProof(t *testing.T) {
	var posts *atomic.Int32
	send := func(t *testing.T, base http.RoundTripper, content io.Reader) error {
		seen := new(atomic.Int32)
		posts = seen
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen.Add(1)
			_, _ = io.Copy(io.Discard, r.Body)
			http.Redirect(w, r, "http://"+closedPort(t), http.StatusSeeOther)
		}))
		t.Cleanup(server.Close)
		req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, content)
		require.NoError(t, err)
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(content), nil }
		_, err = (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		return err
	}
	t.Run("of the body's reader", func(t *testing.T) {
		_ = send(t, nil, io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), failingReader{errDial}))
		assert.LessOrEqual(t, posts.Load(), int32(1))
	})
	t.Run("of a Base that follows redirects", func(t *testing.T) {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			return (&http.Client{}).Do(req)
		})
		assert.ErrorIs(t, send(t, base, strings.NewReader("content")), retry.ErrUnrepeatable)
		assert.EqualValues(t, 1, posts.Load())
	})
	t.Run("resent by net/http", func(t *testing.T) {
		s := newServer(t, http1, processed(closed))
		dials := 0
		s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials > 1 {
				return nil, errDial
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		transport := s.transport()
		transport.MayRepeat = func(*http.Request) bool { return false }
		s.warm(t, transport)
		req := request(t, "GET", "")
		req.URL = parse(t, s.URL)
		_, err := transport.RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		_, executed := s.seen()
		assert.Len(t, executed, 1)
	})
}

// TestNoConnection: a POST is retried if a proxy or slow network prevented the send.
func TestNoConnection(t *testing.T) {
	t.Run("the proxy refuses", func(t *testing.T) {
		connects := 0
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, http.MethodConnect, r.Method)
			connects++
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		defer proxy.Close()
		base := &http.Transport{Proxy: http.ProxyURL(parse(t, proxy.URL))}
		req := request(t, "POST", "content")
		req.URL = parse(t, "https://host/")
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, 3, connects)
	})
	t.Run("the proxy forbids", func(t *testing.T) {
		for _, status := range []int{http.StatusForbidden, http.StatusProxyAuthRequired} {
			connects := 0
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				connects++
				w.WriteHeader(status)
			}))
			base := &http.Transport{Proxy: http.ProxyURL(parse(t, proxy.URL))}
			for _, content := range []string{"", "content"} {
				req := request(t, "PUT", content)
				req.URL = parse(t, "https://host/")
				_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
				assert.EqualError(t, err, http.StatusText(status))
			}
			proxy.Close()
			assert.Equal(t, 2, connects)
		}
	})
	t.Run("the time limit ends the dial", func(t *testing.T) {
		base := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		p := quick()
		p.AttemptTimeout = time.Millisecond
		_, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "POST", "content"))
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// TestCheckConnect: with CheckConnect, the status of a proxy's refusal and its
// Retry-After are known. Nothing was sent, so a POST is retried, too.
func TestCheckConnect(t *testing.T) {
	for status, sent := range map[int]int{http.StatusForbidden: 1, http.StatusServiceUnavailable: 3} {
		connects := 0
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			connects++
			if status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "7")
			}
			w.WriteHeader(status)
		}))
		base := &http.Transport{Proxy: http.ProxyURL(parse(t, proxy.URL)), OnProxyConnectResponse: retryhttp.CheckConnect}
		req, p, hint := request(t, "POST", "content"), quick(), time.Duration(0)
		req.URL = parse(t, "https://host/")
		p.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) { hint = failed.Hint }
		_, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(req)
		refusal, ok := errors.AsType[*retryhttp.StatusError](err)
		require.True(t, ok, err)
		assert.Equal(t, status, refusal.HTTPStatusCode())
		assert.Equal(t, sent, connects)
		assert.Equal(t, time.Duration(sent-1)/2*7*time.Second, hint)
		proxy.Close()
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err     error
		want    string
		timeout bool
	}{
		{errReset, `Get "http://host/path": gave up after 3 attempts (all attempts used): read: connection reset by peer`, false},
		{context.DeadlineExceeded, `Get "http://host/path": gave up after 3 attempts (all attempts used): context deadline exceeded`, true},
		{x509.UnknownAuthorityError{}, `Get "http://host/path": x509: certificate signed by unknown authority`, false},
		{errors.New("http2: Transport: cannot retry err [http2: client conn not usable] after Request.Body was written; define Request.GetBody to avoid this error"),
			`Get "http://host/path": gave up after 3 attempts (all attempts used): http2: client conn not usable`, false},
		{errors.New("http2: Transport: cannot retry err [no end"),
			`Get "http://host/path": gave up after 3 attempts (all attempts used): http2: Transport: cannot retry err [no end`, false},
	} {
		client := retryhttp.NewClient(quick())
		client.Transport.(*retryhttp.Transport).Base = &script{replies: []reply{{err: tt.err}}}
		_, err := client.Do(request(t, "GET", ""))
		require.EqualError(t, err, tt.want)
		assert.ErrorIs(t, err, tt.err)
		assert.Equal(t, tt.timeout, err.(*url.Error).Timeout())
	}
}

// TestUnsentRepeatable: an error about the last connection that says so is resent at once,
// also if the request was written to an earlier one: it may be executed twice.
func TestUnsentRepeatable(t *testing.T) {
	sent := 0
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		sent++
		trace := httptrace.ContextClientTrace(req.Context())
		trace.GetConn("host:80")
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
		trace.GotConn(httptrace.GotConnInfo{})
		return nil, errGoAway
	})
	_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 3+8, sent)
}

// TestNoProxyStatus: a text is the status of a proxy only if the request uses one.
func TestNoProxyStatus(t *testing.T) {
	refused := errors.New("Payment Required")
	for scheme, base := range map[string]*http.Transport{
		"https": {
			Proxy:          func(*http.Request) (*url.URL, error) { return nil, nil },
			DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return nil, refused },
		},
		"http": {Proxy: http.ProxyURL(parse(t, "http://proxy"))},
	} {
		if scheme == "http" {
			base.RegisterProtocol(scheme, roundTripper(func(*http.Request) (*http.Response, error) { return nil, refused }))
		}
		req := request(t, "GET", "")
		req.URL = parse(t, scheme+"://host/")
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts, scheme)
		assert.ErrorIs(t, err, refused, scheme)
	}
}
