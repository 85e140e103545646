package retryhttp_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhttp"
)

// A given is a request that a Transport is given, and how.
type given struct {
	method, content string
	key             bool
	wrapper         string // "", or the field that has it: "Base" or "Wrap"
	mayRepeat       func(*http.Request) bool
}

func eachGiven(t *testing.T, run func(t *testing.T, g given)) {
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE", "POST", "PATCH", "PURGE"} {
		for _, content := range []string{"", "content"} {
			for _, key := range []bool{false, true} {
				for _, wrapper := range []string{"", "Base", "Wrap"} {
					for name, mayRepeat := range map[string]func(*http.Request) bool{
						"": nil, "never": func(*http.Request) bool { return false }, "always": func(*http.Request) bool { return true },
					} {
						t.Run(fmt.Sprintf("%s %q key=%v %s %s", method, content, key, wrapper, name), func(t *testing.T) {
							run(t, given{method, content, key, wrapper, mayRepeat})
						})
					}
				}
			}
		}
	}
}

func (g given) send(t *testing.T, target string, rt http.RoundTripper) error {
	var body io.Reader
	if g.content != "" {
		body = strings.NewReader(g.content)
	}
	req, err := http.NewRequestWithContext(t.Context(), g.method, target, body)
	require.NoError(t, err)
	if g.key {
		req.Header.Set("Idempotency-Key", "k1")
	}
	resp, err := rt.RoundTrip(req)
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		require.NoError(t, resp.Body.Close())
	}
	return err
}

func (g given) transport(base *http.Transport) *retryhttp.Transport {
	transport := &retryhttp.Transport{Base: base, Policy: quick(), MayRepeat: g.mayRepeat}
	switch g.wrapper {
	case "Base":
		transport.Base = through(base)
	case "Wrap":
		transport.Wrap = through
	}
	return transport
}

// TestSentAsGivenOverHTTP2: the first header block on a connection is, byte for byte, that of
// net/http, and ends the request if there is no body; also when the host is known to use
// HTTP/2, and when the request is sent again after a GOAWAY.
func TestSentAsGivenOverHTTP2(t *testing.T) {
	eachGiven(t, func(t *testing.T, g given) {
		bare, s := newFrameServer(t, false, respondOK), newFrameServer(t, false, respondOK, goAwayBelow, respondOK)
		bareURL := strings.Replace(bare.url, "127.0.0.1", "host", 1)
		bareURL = bareURL[:strings.LastIndexByte(bareURL, ':')]
		for _, server := range []*frameServer{bare, s} {
			address := strings.TrimPrefix(server.url, "http://")
			server.base.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, address)
			}
		}
		require.NoError(t, g.send(t, bareURL, bare.base))
		transport := g.transport(s.base)
		t.Cleanup(transport.CloseIdleConnections)
		require.NoError(t, g.send(t, bareURL, transport), "first contact")
		eventually(t, "a connection is open", func() bool {
			transport.CloseIdleConnections()
			s.base.CloseIdleConnections()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.ended == len(s.conns)
		})
		err := g.send(t, bareURL, transport)
		sent := 3
		if g.wrapper == "Base" && g.content == "" && !(g.mayRepeat == nil && retryhttp.IsIdempotent(&http.Request{Method: g.method, Header: key(g.key)}) || g.mayRepeat != nil && g.mayRepeat(nil)) {
			assert.ErrorIs(t, err, retry.ErrUnrepeatable, "the reason is unknown")
			sent = 2
		} else {
			require.NoError(t, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Len(t, s.blocks, sent)
		for i, block := range s.blocks {
			assert.Equal(t, bare.blocks[0], block, "request %d", i+1)
		}
	})
}

func key(given bool) http.Header {
	if given {
		return http.Header{"Idempotency-Key": {"k1"}}
	}
	return http.Header{}
}

// TestSentAsGivenOverHTTP1: the request is, byte for byte, that of net/http, also if its host
// used HTTP/2 before.
func TestSentAsGivenOverHTTP1(t *testing.T) {
	var mu sync.Mutex
	var texts []string
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				var text strings.Builder
				for !strings.HasSuffix(text.String(), "\r\n\r\n") {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					text.WriteString(line)
				}
				if strings.Contains(text.String(), "Content-Length: 7") {
					_, _ = io.CopyN(&text, r, 7)
				}
				mu.Lock()
				texts = append(texts, text.String())
				mu.Unlock()
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			})
		}
	})
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	eachGiven(t, func(t *testing.T, g given) {
		base := &http.Transport{}
		transport := g.transport(base)
		texts = nil
		require.NoError(t, g.send(t, "http://"+listener.Addr().String()+"/path", base))
		require.NoError(t, g.send(t, "http://"+listener.Addr().String()+"/path", transport), "first contact")
		require.NoError(t, g.send(t, "http://"+listener.Addr().String()+"/path", transport))
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, texts, 3)
		assert.Equal(t, texts[0], texts[1])
		assert.Equal(t, texts[0], texts[2])
	})
}

// TestPoolConnections: how many connections stay after POSTs without a body, sent eight at a time.
func TestPoolConnections(t *testing.T) {
	for _, tt := range []struct {
		name     string
		streams  int // that the server allows; 0: its default
		most     int // Transport.MaxConnsPerHost
		min, max int64
	}{
		{"one is enough", 0, 0, 1, 1},
		{"one stream each", 1, 0, 2, 16}, // a sender that takes another's leaves its own
		{"one stream each, MaxConnsPerHost", 1, 1, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var open atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) }))
			server.EnableHTTP2 = true
			server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: tt.streams}
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				switch s {
				case http.StateNew:
					open.Add(1)
				case http.StateClosed:
					open.Add(-1)
				}
			}
			server.StartTLS()
			t.Cleanup(server.Close)
			base := server.Client().Transport.(*http.Transport)
			base.MaxConnsPerHost = tt.most
			client := &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: quick(), TrustRefusedStream: true}} // before its settings arrive
			t.Cleanup(client.CloseIdleConnections)
			var senders sync.WaitGroup
			var early atomic.Int64
			for range 8 {
				senders.Go(func() {
					for range 5 {
						resp, err := client.Post(server.URL, "", nil)
						if tt.streams == 1 && errors.Is(err, retry.ErrUnrepeatable) {
							early.Add(1)
							continue // net/http's server ends a stream that came before its settings, by PROTOCOL_ERROR
						}
						if assert.NoError(t, err) {
							assert.Equal(t, 2, resp.ProtoMajor)
							assert.NoError(t, resp.Body.Close())
						}
					}
				})
			}
			senders.Wait()
			assert.LessOrEqual(t, early.Load(), int64(8), "only a first burst comes before the settings")
			eventually(t, "so many connections stay", func() bool { return tt.min <= open.Load() && open.Load() <= tt.max })
		})
	}
}

// TestPoolHTTP1: a host that turns out to use HTTP/1 gets its connections from the
// http.Transport from then on.
func TestPoolHTTP1(t *testing.T) {
	var states sync.Map
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(c net.Conn, s http.ConnState) { states.Store(c, s) }
	server.StartTLS()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &retryhttp.Transport{Base: server.Client().Transport, Policy: quick()}}
	t.Cleanup(client.CloseIdleConnections)
	for range 5 {
		resp, err := client.Post(server.URL, "", nil)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	eventually(t, "the first connection is open", func() bool {
		open, closed := 0, 0
		states.Range(func(_, s any) bool {
			if s == http.StateClosed {
				closed++
			} else {
				open++
			}
			return true
		})
		return open == 1 && closed == 1
	})
}

// TestPoolKeepsNoHTTP1: over HTTP/1, a request that net/http must not resend has a connection
// of its own, which is closed afterwards, also if the http.Transport limits connections: there,
// net/http panics when such a connection ends (Go 1.26 and 1.27).
func TestPoolKeepsNoHTTP1(t *testing.T) {
	for _, most := range []int{0, 5, 100} {
		for _, method := range []string{"GET", "POST"} {
			const many = 20
			s := newServer(t, http1, ok)
			secured := httptest.NewUnstartedServer(s.Config.Handler)
			var open atomic.Int64
			secured.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					open.Add(1)
				case http.StateClosed:
					open.Add(-1)
				}
			}
			secured.StartTLS()
			t.Cleanup(secured.Close)
			base := secured.Client().Transport.(*http.Transport)
			base.MaxConnsPerHost = most
			transport := &retryhttp.Transport{Base: base, Policy: quick(), MayRepeat: func(*http.Request) bool { return false }}
			var senders sync.WaitGroup
			for range many {
				senders.Go(func() {
					req := request(t, method, "")
					req.URL = parse(t, secured.URL)
					resp, err := transport.RoundTrip(req)
					if assert.NoError(t, err) {
						assert.Equal(t, 1, resp.ProtoMajor)
						_, err = io.Copy(io.Discard, resp.Body)
						assert.NoError(t, err)
						assert.NoError(t, resp.Body.Close())
					}
				})
			}
			senders.Wait()
			secured.CloseClientConnections()
			eventually(t, "connections are closed", func() bool { return open.Load() == 0 })
			_, executed := s.seen()
			assert.Len(t, executed, many)
		}
	}
}

// TestPoolLimit: over HTTP/1, too, no more connections are open at a time than MaxConnsPerHost.
func TestPoolLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, most = 20, 2
		var open, peak atomic.Int64
		network := memnet.New()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			if r.Header.Get("Number") == "7" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, content)
		})}
		go server.Serve(network)
		defer time.Sleep(time.Hour)
		defer server.Close()
		base := &http.Transport{MaxConnsPerHost: most, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := network.Dial(ctx, "", "")
			peak.Store(max(peak.Load(), open.Add(1)))
			return &openConn{Conn: conn, closed: sync.OnceFunc(func() { open.Add(-1) })}, err
		}}
		transport := &retryhttp.Transport{Base: base, MayRepeat: func(*http.Request) bool { return false }}
		start := time.Now()
		var senders sync.WaitGroup
		for i := range many {
			senders.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				req := request(t, "GET", "").WithContext(ctx)
				req.Header.Set("Number", strconv.Itoa(i))
				if i == 5 {
					time.AfterFunc(100*time.Millisecond, cancel) // while it waits, or has a connection
				}
				resp, err := transport.RoundTrip(req)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					assert.NoError(t, resp.Body.Close())
				}
			})
		}
		senders.Wait()
		assert.EqualValues(t, most, peak.Load())
		assert.InDelta(t, many/most, time.Since(start).Seconds(), 1.5)
		synctest.Wait()
		assert.Zero(t, open.Load())
	})
}

type openConn struct {
	net.Conn
	closed func()
}

func (c *openConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// TestPoolDialsAtOnce: a connection that hangs while it is opened, in its handshake or at a
// proxy, delays only the request that opened it, and requests open theirs at the same time.
func TestPoolDialsAtOnce(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.EnableHTTP2 = http2
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		base := server.Client().Transport.(*http.Transport)
		const many = 8
		var dials, arrived atomic.Int64
		together := make(chan struct{})
		base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) == 1 {
				<-ctx.Done() // net/http gives up the dial of a request that has left only in the end
				return nil, ctx.Err()
			}
			if arrived.Add(1) == many {
				close(together)
			}
			<-together
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		transport := &retryhttp.Transport{Base: base, Policy: retry.Policy{MaxAttempts: 1}}
		t.Cleanup(transport.CloseIdleConnections)
		post := func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, "POST", server.URL, nil)
			require.NoError(t, err)
			resp, err := transport.RoundTrip(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}
		hung, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- post(hung) }()
		eventually(t, "the first dial hangs", func() bool { return dials.Load() == 1 })
		var senders sync.WaitGroup
		for range many {
			senders.Go(func() { assert.NoError(t, post(t.Context())) })
		}
		senders.Wait()
		if http2 {
			assert.NoError(t, <-first, "it takes the connection of another request")
		}
		cancel()
		if !http2 {
			assert.ErrorIs(t, <-first, context.Canceled)
		}
	}
}

// TestPoolIsClosed: CloseIdleConnections closes the pool's connections, but not those in use.
func TestPoolIsClosed(t *testing.T) {
	s := newServer(t, http2, ok)
	transport := s.transport()
	req := request(t, "POST", "")
	req.URL = parse(t, s.URL)
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	transport.CloseIdleConnections()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, content, string(data))
	require.NoError(t, resp.Body.Close())
	eventually(t, "the connection is open", func() bool {
		transport.CloseIdleConnections()
		return len(s.connections()) == 0
	})
}

// TestPoolDials: no connection means that nothing was sent, also through a proxy, and a
// request does not wait for a connection longer than its context.
func TestPoolDials(t *testing.T) {
	for name, base := range map[string]*http.Transport{
		"dial":  {},
		"proxy": {Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: closedPort(t)})},
	} {
		base.ForceAttemptHTTP2 = true
		req := request(t, "POST", "")
		req.URL = parse(t, "https://"+closedPort(t))
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts, name)
		op, ok := err.(*retry.Error).Err.(interface{ Unwrap() error }).Unwrap().(*net.OpError)
		require.True(t, ok, name)
		assert.Equal(t, map[string]string{"dial": "dial", "proxy": "proxyconnect"}[name], op.Op)
	}
	hanging := make(chan struct{})
	defer close(hanging)
	base := &http.Transport{ForceAttemptHTTP2: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		<-hanging
		return nil, errDial
	}}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	req := request(t, "POST", "").WithContext(ctx)
	req.URL = parse(t, "https://host/")
	_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestPoolUpgrades: a request for an upgrade is sent over HTTP/1, as net/http does it.
func TestPoolUpgrades(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+r.Header.Get("Upgrade"))
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := &retryhttp.Transport{Base: server.Client().Transport, MayRepeat: func(*http.Request) bool { return false }}
	t.Cleanup(transport.CloseIdleConnections)
	for upgrade, want := range map[string]string{"": "HTTP/2.0 ", "websocket": "HTTP/1.1 websocket"} {
		req := request(t, "GET", "")
		req.URL = parse(t, server.URL)
		if upgrade != "" {
			req.Header.Set("Connection", "Upgrade")
			req.Header.Set("Upgrade", upgrade)
		}
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, string(data))
	}
}

// connectProxy is a proxy whose tunnels lead to a server.
func connectProxy(t *testing.T, s *server, seen func(*http.Request)) *url.URL {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodConnect, r.Method)
		seen(r)
		target, err := net.Dial("tcp", s.Listener.Addr().String())
		if !assert.NoError(t, err) {
			return
		}
		defer target.Close()
		w.WriteHeader(http.StatusOK)
		client, buffered, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer client.Close()
		go func() {
			_, _ = io.Copy(target, buffered) // which may have the start of the handshake
			_ = target.Close()
		}()
		_, _ = io.Copy(client, target)
	}))
	t.Cleanup(proxy.Close)
	return parse(t, proxy.URL)
}

// TestPoolThroughProxy: the pool's connections go through the http.Transport's proxy, too.
func TestPoolThroughProxy(t *testing.T) {
	s := newServer(t, http2, ok)
	var connects atomic.Int32
	target := connectProxy(t, s, func(r *http.Request) {
		connects.Add(1)
		assert.Equal(t, "Basic dXNlcjpzZWNyZXQ=", r.Header.Get("Proxy-Authorization"))
	})
	target.User = url.UserPassword("user", "secret")
	s.base.Proxy = http.ProxyURL(target)
	req := request(t, "POST", "")
	req.URL = parse(t, s.URL)
	req.URL.Host = "example.com:443" // no proxy is used for 127.0.0.1
	resp, err := s.transport().RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Positive(t, connects.Load()) // a busy machine may make net/http open another one
	arrived, _ := s.seen()
	assert.Len(t, arrived, 1)
}

// TestPoolThroughItsProxy: a Proxy may depend on the headers of the request, and fail.
func TestPoolThroughItsProxy(t *testing.T) {
	s := newServer(t, http2, ok)
	var connects atomic.Int32
	target := connectProxy(t, s, func(*http.Request) { connects.Add(1) })
	refused := errors.New("no proxy")
	s.base.Proxy = func(req *http.Request) (*url.URL, error) {
		if req.Header.Get("Through") == "" || req.URL.Path == "" {
			return nil, refused
		}
		return target, nil
	}
	transport := s.transport()
	post := func(through string) error {
		req := request(t, "POST", "")
		req.URL = parse(t, "https://example.com/path")
		req.Header.Set("Through", through)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	assert.ErrorIs(t, post(""), refused)
	assert.NoError(t, post("it"))
	assert.Positive(t, connects.Load())
	arrived, _ := s.seen()
	assert.Len(t, arrived, 1)
}

// TestPoolUnsupported: an http.Transport whose HTTP/2 cannot open a connection for the pool,
// like that of an old golang.org/x/net, sends the requests itself.
func TestPoolUnsupported(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	var dials atomic.Int32
	sent := 0
	base := &http.Transport{TLSClientConfig: server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()}
	base.TLSClientConfig.NextProtos = []string{"h2"}
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	base.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{"h2": func(_ string, c *tls.Conn) http.RoundTripper {
		t.Cleanup(func() { _ = c.Close() })
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			sent++
			assert.Nil(t, req.Body)
			return &http.Response{StatusCode: 200, ProtoMajor: 2, Body: http.NoBody, Request: req}, nil
		})
	}}
	transport := &retryhttp.Transport{Base: base, Policy: quick()}
	for range 3 {
		req := request(t, "POST", "")
		req.URL = parse(t, server.URL)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, 3, sent)
	assert.LessOrEqual(t, dials.Load(), int32(1+3), "the pool tries only once")
}

// TestPoolOfForgottenHost: when a Transport forgets a host for a newer one, the host's
// connection is closed as soon as it is idle.
func TestPoolOfForgottenHost(t *testing.T) {
	for _, busy := range []bool{false, true} {
		respond := make(chan struct{})
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-respond
		}))
		server.EnableHTTP2 = true
		var closed atomic.Bool
		server.Config.ConnState = func(_ net.Conn, s http.ConnState) { closed.Store(s == http.StateClosed) }
		server.StartTLS()
		t.Cleanup(server.Close)
		base := server.Client().Transport.(*http.Transport)
		transport := &retryhttp.Transport{Base: base, Policy: quick()}
		post := func(host string) (*http.Response, error) {
			req := request(t, "POST", "")
			req.URL = parse(t, "https://"+host)
			return transport.RoundTrip(req)
		}
		resp, err := post(server.Listener.Addr().String())
		require.NoError(t, err)
		end := sync.OnceFunc(func() { close(respond); assert.NoError(t, resp.Body.Close()) })
		t.Cleanup(end)
		if !busy {
			end()
		}
		base.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errDial }
		for i := range 1024 {
			assert.False(t, closed.Load())
			_, err := post(fmt.Sprint("host", i))
			require.ErrorIs(t, err, errDial)
		}
		if busy {
			assert.False(t, closed.Load())
			end()
		}
		eventually(t, "the connection is open", closed.Load)
	}
}

// TestPoolOfForgottenHostOpens: a connection that is being opened when the host is forgotten is
// closed, too, whether its request still wants it or not.
func TestPoolOfForgottenHostOpens(t *testing.T) {
	for _, left := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.EnableHTTP2 = true
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		var opened, closed atomic.Bool
		server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			opened.Store(true)
			closed.Store(s == http.StateClosed)
		}
		server.StartTLS()
		t.Cleanup(server.Close)
		base := server.Client().Transport.(*http.Transport)
		begun, goOn := make(chan struct{}), make(chan struct{})
		base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != server.Listener.Addr().String() {
				return nil, errDial
			}
			close(begun)
			<-goOn
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		transport := &retryhttp.Transport{Base: base, Policy: quick()}
		post := func(ctx context.Context, host string) error {
			req := request(t, "POST", "").WithContext(ctx)
			req.URL = parse(t, "https://"+host)
			resp, err := transport.RoundTrip(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- post(ctx, server.Listener.Addr().String()) }()
		<-begun
		if left {
			cancel()
			assert.ErrorIs(t, <-first, context.Canceled)
		}
		for i := range 1025 { // the first host is forgotten before the last of them begins
			require.ErrorIs(t, post(t.Context(), fmt.Sprint("host", i)), errDial)
		}
		close(goOn)
		if !left {
			assert.NoError(t, <-first)
		}
		cancel()
		eventually(t, "the connection is open", func() bool { return opened.Load() && closed.Load() })
	}
}

// turningServer uses HTTP/2 or only HTTP/1.1 for a new connection, and ends connections: of
// ten requests, one gets a response that is the last on its connection, and one none.
type turningServer struct {
	*httptest.Server
	old atomic.Bool // only HTTP/1.1

	mu       sync.Mutex
	requests int
	executed map[string]int  // by path
	headers  map[string]bool // of requests, with what they depend on
}

func newTurningServer(t *testing.T) *turningServer {
	s := &turningServer{executed: map[string]int{}, headers: map[string]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if !s.old.Load() {
			return nil, nil
		}
		c := s.TLS.Clone()
		c.NextProtos = []string{"http/1.1"}
		return c, nil
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *turningServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	s.mu.Lock()
	s.executed[r.URL.Path]++
	s.headers[fmt.Sprint(r.Proto, r.Method, r.Header, r.ContentLength, r.TransferEncoding)] = true
	s.requests++
	n := s.requests
	s.mu.Unlock()
	switch n % 10 {
	case 3:
		w.Header().Set("Connection", "close")
	case 7:
		panic(http.ErrAbortHandler)
	}
}

// TestTurningHost: a host turns from HTTP/2 to HTTP/1.1 and back while requests are sent. What
// must not be executed twice is not, and each request has the headers that net/http gives it.
func TestTurningHost(t *testing.T) {
	for _, method := range []string{"GET", "DELETE", "POST"} {
		for _, content := range []string{"", "content"} {
			for name, mayRepeat := range map[string]func(*http.Request) bool{"": nil, "never": func(*http.Request) bool { return false }} {
				for _, wrapper := range []string{"", "Base", "Wrap"} {
					if wrapper == "Base" && name == "never" && method == "GET" && content == "" {
						continue // over HTTP/1, nothing keeps net/http from resending it
					}
					t.Run(fmt.Sprintf("%s %q %s %s", method, content, wrapper, name), func(t *testing.T) {
						given{method, content, false, wrapper, mayRepeat}.toTurningHost(t)
					})
				}
			}
		}
	}
}

func (g given) toTurningHost(t *testing.T) {
	s := newTurningServer(t)
	base := s.Client().Transport.(*http.Transport)
	transport := g.transport(base)
	transport.Policy.MaxAttempts = 10
	t.Cleanup(transport.CloseIdleConnections)
	turn := func(n int) {
		s.old.Store(n%2 == 1)
		transport.CloseIdleConnections()
		base.CloseIdleConnections()
	}
	for n := range 2 {
		turn(n)
		bare := base.Clone()
		require.NoError(t, g.send(t, s.URL+"/bare", bare))
		bare.CloseIdleConnections()
	}
	want := maps.Clone(s.headers)
	var senders sync.WaitGroup
	var failed atomic.Int32
	for sender := range 4 {
		senders.Go(func() {
			for n := range 20 {
				if sender == 0 && n%5 == 0 {
					turn(n / 5)
				}
				if err := g.send(t, fmt.Sprintf("%s/%d/%d", s.URL, sender, n), transport); err != nil {
					failed.Add(1)
					assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				}
			}
		})
	}
	senders.Wait()
	assert.Equal(t, want, s.headers)
	if g.mayRepeat == nil && g.method != "POST" {
		assert.Zero(t, failed.Load())
		return
	}
	delete(s.executed, "/bare")
	for path, n := range s.executed {
		assert.Equal(t, 1, n, path)
	}
}
