package retryaws_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type fault func(*proxy, http.ResponseWriter, *http.Request)

// proxy executes a plan of faults, one per request, and then forwards requests
// unchanged.
type proxy struct {
	*httptest.Server
	forward http.Handler

	mu       sync.Mutex
	plan     []fault
	requests int
	lines    []net.Conn // the client's connections
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	p := &proxy{forward: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) expect(plan ...fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.requests = plan, 0
}

func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

func (p *proxy) next() fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if p.requests > len(p.plan) {
		return func(p *proxy, w http.ResponseWriter, r *http.Request) { p.forward.ServeHTTP(w, r) }
	}
	return p.plan[p.requests-1]
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.next()(p, w, r) }

// client returns an HTTP client that times out as soon as the proxy hangs. It makes a
// connection for each request, because net/http silently retries some requests on a
// reused connection.
func (p *proxy) client() *http.Client {
	return &http.Client{Transport: ownBody{&http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.lines = append(p.lines, conn)
			}
			return conn, err
		},
	}}}
}

// ownBody sends a copy of a request's body. The SDK closes the body when a response
// arrives, and net/http then breaks the connection if it is still using the body.
type ownBody struct{ next http.RoundTripper }

func (o ownBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return o.next.RoundTrip(r)
}

func (p *proxy) timeOutReads() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.lines {
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // fails on closed connections
	}
}

func refuse(status int, body string) fault {
	return func(_ *proxy, w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// reset breaks the connection before the request reaches the server.
func reset(_ *proxy, w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// lose breaks the connection after the server has executed the request.
func lose(p *proxy, w http.ResponseWriter, r *http.Request) {
	p.forward.ServeHTTP(httptest.NewRecorder(), r)
	reset(p, w, r)
}

func truncate(p *proxy, w http.ResponseWriter, r *http.Request) {
	whole := httptest.NewRecorder()
	p.forward.ServeHTTP(whole, r)
	maps.Copy(w.Header(), whole.Header())
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func garble(p *proxy, w http.ResponseWriter, r *http.Request) {
	whole := httptest.NewRecorder()
	p.forward.ServeHTTP(whole, r)
	w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
	w.WriteHeader(whole.Code)
	fmt.Fprint(w, "<html>")
}

func hang(p *proxy, _ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	p.timeOutReads()
	<-r.Context().Done()
}
