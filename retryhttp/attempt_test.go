package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

// TestUnsent: what net/http tells of an attempt decides whether an error is a
// proof that the request was not processed.
func TestUnsent(t *testing.T) {
	refused := errors.New("stream error: stream ID 1; REFUSED_STREAM")
	goAway := errors.New("http2: Transport received Server's graceful shutdown GOAWAY")
	asks := func(trace *httptrace.ClientTrace) { trace.GetConn("host:80") }
	gets := func(trace *httptrace.ClientTrace) { trace.GotConn(httptrace.GotConnInfo{}) }
	for _, tt := range []struct {
		name   string
		events []func(*httptrace.ClientTrace)
		err    error
		unsent bool
	}{
		{"nothing told, dial", nil, errDial, true},
		{"nothing told, reset", nil, errReset, false},
		{"nothing told, refused", nil, refused, false},
		{"nothing told, GOAWAY", nil, goAway, true},
		{"no connection, anything", []func(*httptrace.ClientTrace){asks}, errReset, true},
		{"no connection, timeout", []func(*httptrace.ClientTrace){asks}, context.DeadlineExceeded, true},
		{"connection, dial", []func(*httptrace.ClientTrace){asks, gets}, errDial, false},
		{"connection, reset", []func(*httptrace.ClientTrace){asks, gets}, errReset, false},
		{"connection, refused", []func(*httptrace.ClientTrace){asks, gets}, refused, false},
		{"connection, GOAWAY", []func(*httptrace.ClientTrace){asks, gets}, goAway, true},
		{"connection and none, dial", []func(*httptrace.ClientTrace){asks, gets, asks}, errDial, false},
		{"two connections, GOAWAY", []func(*httptrace.ClientTrace){asks, gets, gets}, goAway, false},
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
				assert.Equal(t, tt.unsent, sent == 3, "sent %d times", sent)
			}
		})
	}
}

// TestNotSentAgain: when net/http is about to send a request without a body once
// more over HTTP/2, the context of the attempt ends; over HTTP/1 it does not.
func TestNotSentAgain(t *testing.T) {
	for _, tt := range []struct {
		method, field, content string
		want                   error
	}{
		{"POST", ":method", "", context.Canceled},
		{"POST", "Host", "", nil},
		{"POST", ":method", "content", nil},
	} {
		for _, next := range []string{"GetConn", "GotConn"} {
			base := roundTripper(func(req *http.Request) (*http.Response, error) {
				trace := httptrace.ContextClientTrace(req.Context())
				trace.GetConn("host:80")
				trace.GotConn(httptrace.GotConnInfo{})
				if trace.WroteHeaderField != nil {
					trace.WroteHeaderField(tt.field, nil)
				}
				trace.WroteHeaders()
				require.NoError(t, req.Context().Err())
				if next == "GetConn" {
					trace.GetConn("host:80")
				} else {
					trace.GotConn(httptrace.GotConnInfo{})
				}
				assert.Equal(t, tt.want, req.Context().Err())
				return nil, errReset
			})
			_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, tt.method, tt.content))
			assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		}
	}
}

// TestTraceOfTheCaller: the caller's own trace, values and deadline are seen below,
// also where net/http is watched.
func TestTraceOfTheCaller(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	type key struct{}
	for _, content := range []string{"", "content"} {
		conns := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { conns++ }})
		ctx, cancel := context.WithTimeout(context.WithValue(ctx, key{}, "value"), time.Minute)
		transport := &retryhttp.Transport{Base: roundTripper(func(req *http.Request) (*http.Response, error) {
			assert.Equal(t, "value", req.Context().Value(key{}))
			assert.Equal(t, 1, retryhttp.AttemptNumber(req.Context()))
			_, limited := req.Context().Deadline()
			assert.True(t, limited)
			assert.NoError(t, req.Context().Err())
			return http.DefaultTransport.RoundTrip(req)
		})}
		req := request(t, "POST", content).WithContext(ctx)
		req.URL = parse(t, server.URL)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 1, conns)
		cancel()
	}
}

// TestDialIsNoProof: an error of a dial says nothing of a request that has been
// sent before it.
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
	t.Run("of the reader of the body", func(t *testing.T) {
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
	t.Run("of net/http, which sends again by itself", func(t *testing.T) {
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

// TestNoConnection: a POST is repeated when a proxy or a slow network kept it
// from being sent.
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

// TestBufferEnds: a body that does not come does not outlast the context.
func TestBufferEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	silent, writer := io.Pipe()
	req := request(t, "PUT", "").WithContext(ctx)
	req.Body = silent
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		time.AfterFunc(time.Millisecond, func() { cancel(errHung) })
		<-req.Context().Done()
		return nil, errors.Join(req.Context().Err(), req.Body.Close())
	})
	_, err := (&retryhttp.Transport{Base: base, MaxBuffer: 10}).RoundTrip(req)
	assert.ErrorIs(t, err, errHung)
	_, err = writer.Write([]byte("x"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// TestPanics: a panic in a function of the policy leaves nothing open.
func TestPanics(t *testing.T) {
	boom := func(context.Context, retry.Attempt, time.Duration) { panic("boom") }
	for name, p := range map[string]retry.Policy{
		"OnRetry":    {Hooks: retry.Hooks{OnRetry: boom}},
		"Classifier": {Classifier: retry.ClassifierFunc(func(error) retry.Class { panic("boom") })},
		"OnGiveUp":   {Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) { panic("boom") }}, MaxAttempts: 1},
	} {
		base := &script{replies: []reply{{status: 503}}}
		p.Clock = &retrytest.Clock{}
		assert.Panics(t, func() { _, _ = (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", "")) }, name)
		assert.Positive(t, base.answers[0].closed, name)
	}
	t.Run("before the first attempt", func(t *testing.T) {
		sent := &body{Reader: strings.NewReader("content")}
		req := request(t, "PUT", "")
		req.Body = sent
		p := retry.Policy{Hooks: retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { panic("boom") }}}
		assert.Panics(t, func() { _, _ = (&retryhttp.Transport{Policy: p}).RoundTrip(req) })
		assert.Equal(t, 1, sent.closed)
	})
}

// TestForeignStatusError: an answer that stands in an error of the Base is the
// Base's.
func TestForeignStatusError(t *testing.T) {
	foreign := &body{Reader: strings.NewReader("content")}
	for _, resp := range []*http.Response{{StatusCode: 503}, {StatusCode: 503, Body: foreign}} {
		base := roundTripper(func(*http.Request) (*http.Response, error) { return nil, retryhttp.CheckStatus(resp) })
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	}
	assert.Zero(t, foreign.closed)
	assert.Equal(t, 7, foreign.Len())
}

// TestCheckStatusBelow: within an attempt, the answer of another client is not one
// of the Transport's.
func TestCheckStatusBelow(t *testing.T) {
	server := flaky(503, 503)
	defer server.Close()
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: http.NoBody}, retry.Do(req.Context(), quick(), func(ctx context.Context) error {
			token, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
			require.NoError(t, err)
			resp, err := http.DefaultTransport.RoundTrip(token)
			require.NoError(t, err)
			defer resp.Body.Close()
			return retryhttp.CheckStatus(resp)
		})
	})
	for _, method := range []string{"GET", "POST"} {
		resp, err := (&retryhttp.Transport{Base: base}).RoundTrip(request(t, method, ""))
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
	}
}
