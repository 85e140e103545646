package retryhttp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

func closedPort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if assert.NoError(t, err) {
		assert.NoError(t, listener.Close())
		return listener.Addr().String()
	}
	return ""
}

const (
	http1 = "HTTP/1.1"
	http2 = "HTTP/2"

	attemptHeader = "Attempt"
	content       = "the right response"
)

var errHung = errors.New("the test hangs")

func overBoth(t *testing.T, run func(t *testing.T, protocol string)) {
	for _, protocol := range []string{http1, http2} {
		t.Run(protocol, func(t *testing.T) {
			leaveNothing(t)
			run(t, protocol)
		})
	}
}

// unbudgeted has no Budget for any host.
func unbudgeted() *retryhttp.PerHost {
	return &retryhttp.PerHost{New: func(string) retry.Budget { return nil }}
}

func leaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	})
}

// settles calls the function holds for a minute or more, until it returns true: net/http and
// the kernel do some of their work after a call has returned.
func settles(holds func() bool) bool {
	for range 60_000 {
		if holds() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// eventually fails the test, and prints all stacks, if settles returns false.
func eventually(t *testing.T, failure string, holds func() bool) {
	t.Helper()
	if settles(holds) {
		return
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%s\n%s", failure, stacks[:runtime.Stack(stacks, true)])
}

// A server runs one step of its script per request. The last step repeats.
type server struct {
	*httptest.Server
	t    *testing.T
	base *http.Transport // not shared, so that its connections can be counted

	opened   atomic.Int64 // connections
	received atomic.Int64 // bytes, encrypted over HTTP/2

	mu       sync.Mutex
	open     map[*countedConn]bool
	script   []step
	closers  []interface{ CloseIdleConnections() } // of transports
	arrived  []string                              // attempt numbers
	executed []string                              // bodies of complete requests that were not refused
}

type step func(x *exchange)

type exchange struct {
	http.ResponseWriter
	request *http.Request
	server  *server
}

func newServer(t *testing.T, protocol string, script ...step) *server {
	s := &server{t: t, script: script, open: map[*countedConn]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Listener = countingListener{s.Listener, s}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if encrypted, ok := c.(*tls.Conn); ok {
			c = encrypted.NetConn()
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	s.base = &http.Transport{}
	if protocol == http2 {
		s.EnableHTTP2 = true
		s.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		s.base.TLSClientConfig = &tls.Config{RootCAs: roots}
		s.base.ForceAttemptHTTP2 = true
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		eventually(t, "connections are left", func() bool {
			for _, c := range append(s.closers, s.base) { // only idle connections may be left
				c.CloseIdleConnections()
			}
			return len(s.connections()) == 0
		})
		s.Close()
	})
	return s
}

func (s *server) transport() *retryhttp.Transport {
	transport := &retryhttp.Transport{Base: s.base, Sign: numbered, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	s.closers = append(s.closers, transport) // also of those that are being opened when the test ends
	return transport
}

func (s *server) warm(t *testing.T, transport http.RoundTripper) {
	resp, err := (&http.Client{Transport: transport}).Get(s.URL + "/warm")
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/warm" {
		_, _ = io.WriteString(w, content)
		return
	}
	s.mu.Lock()
	next := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	s.arrived = append(s.arrived, r.Header.Get(attemptHeader))
	s.mu.Unlock()
	next(&exchange{w, r, s})
}

func (s *server) seen() (arrived, executed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.arrived), slices.Clone(s.executed)
}

func (s *server) connections() []*countedConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.open))
}

func (s *server) hangUp() {
	for _, c := range s.connections() {
		_ = c.Close()
	}
}

func (x *exchange) process() bool {
	body, err := io.ReadAll(x.request.Body)
	if err != nil {
		return false
	}
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.server.executed = append(x.server.executed, string(body))
	return true
}

type connKey struct{}

// conn returns the connection below TLS.
func (x *exchange) conn() *countedConn { return x.request.Context().Value(connKey{}).(*countedConn) }

func ok(x *exchange) {
	if x.process() {
		_, _ = io.WriteString(x, content)
	}
}

func respond(status int, body string) step {
	return func(x *exchange) {
		_, _ = io.Copy(io.Discard, x.request.Body)
		x.Header().Set("Content-Length", strconv.Itoa(len(body)))
		x.WriteHeader(status)
		_, _ = io.WriteString(x, body)
	}
}

func processed(fault step) step {
	return func(x *exchange) {
		x.process()
		fault(x)
	}
}

// reset closes the connection with a TCP reset.
func reset(x *exchange) {
	_ = x.conn().SetLinger(0)
	closed(x)
}

func closed(x *exchange) {
	_ = x.conn().Close()
	abort(x)
}

// halfClosed closes the sending side and waits until the client disconnects.
func halfClosed(x *exchange) {
	_ = x.conn().CloseWrite()
	<-x.request.Context().Done()
	abort(x)
}

// abort resets the HTTP/2 stream or closes the HTTP/1.1 connection.
func abort(*exchange) { panic(http.ErrAbortHandler) }

func (x *exchange) begin(status, length int, body string) {
	x.Header().Set("Content-Length", strconv.Itoa(length))
	x.WriteHeader(status)
	_, _ = io.WriteString(x, body)
	_ = http.NewResponseController(x.ResponseWriter).Flush()
}

type countingListener struct {
	net.Listener
	server *server
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	counted := &countedConn{c.(*net.TCPConn), l.server}
	l.server.opened.Add(1)
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.server.open[counted] = true
	return counted, nil
}

type countedConn struct {
	*net.TCPConn
	server *server
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.server.received.Add(int64(n))
	return n, err
}

func (c *countedConn) Close() error {
	c.server.mu.Lock()
	delete(c.server.open, c)
	c.server.mu.Unlock()
	return c.TCPConn.Close()
}

type kind struct {
	name, method, key string
	repeatable        bool
}

var kinds = []kind{
	{"POST", http.MethodPost, "", false},
	{"POST with a key", http.MethodPost, "key-1", true},
	{"GET", http.MethodGet, "", true},
	{"PUT", http.MethodPut, "", true},
}

type watchedRequest struct {
	*http.Request
	made, open, read atomic.Int64
	before           *http.Request
}

// request returns a request whose context ends if the test hangs. The context has no
// deadline, because a deadline would affect a Transport.
func (k kind) request(t *testing.T, url, body string) *watchedRequest {
	ctx, cancel := context.WithCancelCause(t.Context())
	guard := time.AfterFunc(2*time.Minute, func() { cancel(errHung) })
	t.Cleanup(func() {
		guard.Stop()
		cancel(nil)
	})
	req, err := http.NewRequestWithContext(ctx, k.method, url, nil)
	require.NoError(t, err)
	if k.key != "" {
		req.Header.Set("Idempotency-Key", k.key)
	}
	w := &watchedRequest{Request: req}
	if k.method != http.MethodGet {
		w.carry(body)
	}
	w.before = req.Clone(ctx)
	return w
}

func (w *watchedRequest) withKey() *watchedRequest {
	w.Header.Set("Idempotency-Key", "key-2")
	w.before = w.Clone(w.Context())
	return w
}

func (w *watchedRequest) carry(body string) {
	w.ContentLength = int64(len(body))
	w.GetBody = func() (io.ReadCloser, error) {
		w.made.Add(1)
		w.open.Add(1)
		return &watchedBody{Reader: strings.NewReader(body), request: w}, nil
	}
	w.Body, _ = w.GetBody()
}

type watchedBody struct {
	io.Reader
	request *watchedRequest
	once    sync.Once
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.request.read.Add(int64(n))
	return n, err
}

func (b *watchedBody) Close() error {
	b.once.Do(func() { b.request.open.Add(-1) })
	return nil
}

type outcome struct {
	status  int
	body    string
	bodyErr error
	err     error
}

// send checks what holds for every call: the request is unchanged, and its bodies are
// closed.
func (w *watchedRequest) send(t *testing.T, rt http.RoundTripper) outcome {
	t.Helper()
	resp, err := rt.RoundTrip(w.Request)
	o := outcome{err: err}
	if err == nil {
		var body []byte
		body, o.bodyErr = io.ReadAll(resp.Body)
		o.status, o.body = resp.StatusCode, string(body)
		_ = resp.Body.Close()
	} else {
		assert.Nil(t, resp)
		assert.NotErrorIs(t, err, errHung)
	}
	eventually(t, "a body of the request is open", func() bool { return w.open.Load() == 0 })
	w.unchanged(t)
	return o
}

func (w *watchedRequest) unchanged(t *testing.T) {
	t.Helper()
	assert.Equal(t, w.before.Header, w.Header)
	assert.Equal(t, w.before.URL, w.URL)
	assert.Equal(t, w.before.Method, w.Method)
	assert.Equal(t, w.before.ContentLength, w.ContentLength)
	assert.True(t, w.before.Body == w.Body, "the Body was replaced")
	assert.Equal(t, w.before.GetBody == nil, w.GetBody == nil)
}

func (o outcome) isRight(t *testing.T) {
	t.Helper()
	require.NoError(t, o.err)
	assert.NoError(t, o.bodyErr)
	assert.Equal(t, http.StatusOK, o.status)
	assert.Equal(t, content, o.body)
}

func text(n int) string {
	const block = "0123456789abcdefghijklmnopqrstuvwxyz\n"
	return string(bytes.Repeat([]byte(block), n/len(block)+1)[:n])
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

var (
	post = kinds[0]
	get  = kinds[2]
	put  = kinds[3]
)

// early responds without reading the body.
func early(x *exchange) { x.begin(http.StatusServiceUnavailable, 0, "") }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type reply struct {
	status int
	header string // "name: value"
	err    error
}

// script is a Base that returns its replies in order, then repeats the last one.
type script struct {
	replies   []reply
	requests  []*http.Request
	bodies    []string
	responses []*body
}

type body struct {
	*strings.Reader
	closed int
}

func (b *body) Close() error { b.closed++; return nil }

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	o := s.replies[min(len(s.requests), len(s.replies)-1)]
	s.requests = append(s.requests, req)
	if req.Body != nil {
		sent, err := io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(sent))
	}
	if o.err != nil {
		return nil, o.err
	}
	b := &body{Reader: strings.NewReader(fmt.Sprint("response ", len(s.requests)))}
	s.responses = append(s.responses, b)
	resp := &http.Response{StatusCode: o.status, Header: http.Header{}, Body: b, ContentLength: int64(b.Len()), Request: req}
	if name, value, ok := strings.Cut(o.header, ": "); ok {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

func quick() retry.Policy {
	return retry.Policy{Clock: &retrytest.Clock{}, Rand: retrytest.Fixed(0.5)}
}

func request(t *testing.T, method, sent string) *http.Request {
	t.Helper()
	var r io.Reader
	if sent != "" {
		r = strings.NewReader(sent)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://host/path", r)
	require.NoError(t, err)
	return req
}

var (
	errDial  = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errReset = &net.OpError{Op: "read", Err: syscall.ECONNRESET}

	errGoAway = errors.New("http2: Transport received Server's graceful shutdown GOAWAY") // for a stream that was not processed
)

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// numbered sends the number of the attempt.
func numbered(req *http.Request) (retryhttp.Refused, error) {
	req.Header.Set(attemptHeader, strconv.Itoa(retryhttp.AttemptNumber(req.Context())))
	return nil, nil
}
