package retryhttp_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"go/build"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestNotSentAgain: over HTTP/2, but not over HTTP/1, the attempt's context is canceled
// when a request without a body is about to be resent.
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
			assert.Equal(t, tt.want != nil, strings.Contains(err.Error(), "hides"), err)
		}
	}
}

const (
	resetProtocol = iota
	resetRefused
	goAwayBelow // does not accept the stream
	respondOK
)

// frameServer implements enough of HTTP/2 to refuse requests in every way that net/http
// distinguishes.
type frameServer struct {
	url     string
	base    *http.Transport
	wg      sync.WaitGroup
	mu      sync.Mutex
	replies []int // the last one repeats
	headers int   // HEADERS frames
	bodies  int   // DATA frames
	conns   []net.Conn
}

func newFrameServer(t *testing.T, secure bool, replies ...int) *frameServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &frameServer{url: "http://" + listener.Addr().String(), replies: replies}
	if secure {
		certified := httptest.NewUnstartedServer(nil)
		certified.EnableHTTP2 = true
		certified.StartTLS()
		certified.Close()
		listener = tls.NewListener(listener, certified.TLS)
		s.url = "https://" + listener.Addr().String()
		s.base = certified.Client().Transport.(*http.Transport)
	} else {
		s.base = &http.Transport{Protocols: new(http.Protocols)}
		s.base.Protocols.SetUnencryptedHTTP2(true)
	}
	s.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			s.wg.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		s.base.CloseIdleConnections()
		assert.NoError(t, listener.Close())
		s.mu.Lock()
		for _, conn := range s.conns {
			_ = conn.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

const (
	frameData     = 0
	frameHeaders  = 1
	frameReset    = 3
	frameSettings = 4
	frameGoAway   = 7
)

func (s *frameServer) serve(conn net.Conn) {
	defer conn.Close()
	if _, err := io.CopyN(io.Discard, conn, 24); err != nil { // preface
		return
	}
	s.write(conn, frameSettings, 0, 0)
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		stream := binary.BigEndian.Uint32(head[5:])
		if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[:4])>>8)); err != nil {
			return
		}
		switch kind, ended := head[3], head[4]&1 != 0; kind {
		case frameSettings:
			if !ended { // not an acknowledgment
				s.write(conn, frameSettings, 1, 0)
			}
		case frameHeaders, frameData:
			s.arrived(kind)
			if ended {
				s.reply(conn, stream)
			}
		}
	}
}

func (s *frameServer) arrived(kind byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == frameHeaders {
		s.headers++
	} else {
		s.bodies++
	}
}

func (s *frameServer) reply(conn net.Conn, stream uint32) {
	s.mu.Lock()
	reply := s.replies[min(s.headers, len(s.replies))-1]
	s.mu.Unlock()
	switch reply {
	case resetProtocol:
		s.write(conn, frameReset, 0, stream, 0, 0, 0, 1)
	case resetRefused:
		s.write(conn, frameReset, 0, stream, 0, 0, 0, 7)
	case goAwayBelow:
		s.write(conn, frameGoAway, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	case respondOK:
		s.write(conn, frameHeaders, 5, stream, 0x88) // :status: 200, from HPACK's static table
	}
}

// write ignores errors, because the next read fails then.
func (s *frameServer) write(conn net.Conn, kind, flags byte, stream uint32, payload ...byte) {
	frame := append([]byte{0, 0, byte(len(payload)), kind, flags}, binary.BigEndian.AppendUint32(nil, stream)...)
	_, _ = conn.Write(append(frame, payload...))
}

func (s *frameServer) seen() (headers, bodies int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.headers, s.bodies
}

// through hides that base is an http.Transport.
func through(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) { return base.RoundTrip(req.Clone(req.Context())) })
}

func TestResent(t *testing.T) {
	sends := 2 // Go 1.26 sends a GET again after PROTOCOL_ERROR
	if slices.Contains(build.Default.ReleaseTags, "go1.27") {
		sends = 1
	}
	for _, tt := range []struct {
		name     string
		method   string
		replies  []int
		attempts int32
		headers  int
		resends  int
		err      error
	}{
		{name: "GET, PROTOCOL_ERROR", method: "GET", replies: []int{resetProtocol}, attempts: 3, headers: 3 * sends, resends: 3 * (sends - 1), err: retry.ErrMaxAttempts},
		{name: "GET, REFUSED_STREAM", method: "GET", replies: []int{resetRefused}, attempts: 3, headers: 11, resends: 8, err: retry.ErrMaxAttempts},
		{name: "GET, GOAWAY", method: "GET", replies: []int{goAwayBelow, respondOK}, attempts: 1, headers: 2, resends: 1},
		{name: "GET, GOAWAY throughout", method: "GET", replies: []int{goAwayBelow}, attempts: 3, headers: 11, resends: 8, err: retry.ErrMaxAttempts},
		{name: "POST, PROTOCOL_ERROR", method: "POST", replies: []int{resetProtocol, respondOK}, attempts: 1, headers: 1, err: retry.ErrUnrepeatable},
		{name: "POST, REFUSED_STREAM", method: "POST", replies: []int{resetRefused, respondOK}, attempts: 1, headers: 1, err: retry.ErrUnrepeatable},
		{name: "POST, GOAWAY", method: "POST", replies: []int{goAwayBelow, respondOK}, attempts: 1, headers: 2, resends: 1},
		{name: "POST, GOAWAY throughout", method: "POST", replies: []int{goAwayBelow}, attempts: 3, headers: 11, resends: 8, err: retry.ErrMaxAttempts},
	} {
		for _, secure := range []bool{false, true} {
			for _, wrapped := range []bool{false, true} {
				t.Run(tt.name+map[bool]string{false: "", true: ", TLS"}[secure]+map[bool]string{false: "", true: ", wrapped"}[wrapped], func(t *testing.T) {
					s := newFrameServer(t, secure, tt.replies...)
					attempts, resends, base := int32(0), 0, http.RoundTripper(s.base)
					if wrapped {
						base = through(s.base)
					}
					p := quick()
					p.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
						attempts++
						return nil, func(retry.Attempt) {
							info, _ := retryhttp.InfoFrom(ctx)
							resends = info.Resends
						}
					}
					req := request(t, tt.method, "")
					req.URL = parse(t, s.url)
					resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(req)
					headers, _ := s.seen()
					if wrapped && !secure && strings.HasPrefix(tt.name, "POST, GOAWAY") {
						// Without TLS, the protocol is known only once the headers are written.
						assert.ErrorIs(t, err, retry.ErrUnrepeatable)
						assert.Equal(t, 1, headers)
						return
					}
					assert.Equal(t, tt.attempts, attempts)
					assert.Equal(t, tt.headers, headers)
					assert.Equal(t, tt.resends, resends)
					if tt.err == nil {
						require.NoError(t, err)
						require.NoError(t, resp.Body.Close())
					} else {
						assert.ErrorIs(t, err, tt.err)
						assert.NotErrorIs(t, err, context.Canceled, "no context was canceled")
						assert.Equal(t, strings.Contains(tt.name, "GOAWAY"), strings.Contains(err.Error(), "GOAWAY"), "the last error: %v", err)
					}
				})
			}
		}
	}
}

// sleepless is a Clock that records waits.
type sleepless struct {
	retry.SystemClock
	waits int
}

func (s *sleepless) Sleep(context.Context, time.Duration) error { s.waits++; return nil }

// TestResentAtOnce: the first resend does not wait, also if it goes to a host whose protocol
// was unknown.
func TestResentAtOnce(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		s, p, clock := newFrameServer(t, true, goAwayBelow, respondOK), quick(), &sleepless{}
		p.Clock = clock
		transport := &retryhttp.Transport{Base: s.base, Policy: p}
		if wrapped {
			transport.Base = through(s.base)
		}
		req := request(t, "POST", "")
		req.URL = parse(t, s.url)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		headers, _ := s.seen()
		assert.Equal(t, 2, headers)
		assert.Zero(t, clock.waits, "wrapped: %v", wrapped)
	}
}

// TestResentWhileOthersSucceed: a host that responds to other requests ends its connections
// often. A call may then be sent again 8 times in each attempt, not only once.
func TestResentWhileOthersSucceed(t *testing.T) {
	for _, tt := range []struct {
		other string // host of the other requests; "": none are sent
		sends int
	}{
		{"", 3 + 8},
		{"elsewhere", 3 + 8},
		{"host", 3 + 3*8},
	} {
		var transport *retryhttp.Transport
		sends := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.Method == "GET" {
				return &http.Response{StatusCode: 200, ProtoMajor: 2}, nil
			}
			if sends++; tt.other != "" {
				_, err := transport.RoundTrip(httptest.NewRequest("GET", "https://"+tt.other, nil))
				require.NoError(t, err)
			}
			return nil, errGoAway
		})
		transport = &retryhttp.Transport{Base: base, Policy: quick()}
		req := request(t, "POST", "content")
		req.URL = parse(t, "https://host")
		_, err := transport.RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, tt.sends, sends, tt.other)
	}
}

// TestResentOverHTTP1: if a reused connection closes without a response, net/http
// itself resends a GET, unless the GET must not be executed twice.
func TestResentOverHTTP1(t *testing.T) {
	for _, mayRepeat := range []bool{false, true} {
		s := newServer(t, http1, processed(closed))
		transport := s.transport()
		transport.MayRepeat = func(*http.Request) bool { return mayRepeat }
		s.warm(t, transport)
		transport.Policy.MaxAttempts = 1
		req := request(t, "GET", "")
		req.URL = parse(t, s.URL)
		_, err := transport.RoundTrip(req)
		require.Error(t, err)
		assert.True(t, retry.Policy{}.Classify(err).Class == retry.ClassPermanent, "the inner call gave up")
		info, _ := retryhttp.InfoOf(err)
		_, executed := s.seen()
		assert.Len(t, executed, 1+info.Resends)
		assert.Equal(t, mayRepeat, info.Resends == 1)
	}
}

type prohibited struct{ net.Conn }

func (prohibited) Close() error { panic("prohibited") }

func TestStandInConnection(t *testing.T) {
	for _, conn := range []net.Conn{nil, prohibited{}} {
		sent := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			sent++
			trace := httptrace.ContextClientTrace(req.Context())
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: conn})
			if trace.WroteHeaderField == nil { // the request has an empty body
				return nil, errReset
			}
			trace.WroteHeaderField(":method", nil)
			trace.WroteHeaders()
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: conn})
			return nil, req.Context().Err()
		})
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.NotErrorIs(t, err, context.Canceled)
		info, _ := retryhttp.InfoOf(err)
		assert.Equal(t, 3+info.Resends, sent)
		assert.Equal(t, 3, info.Resends)
	}
}

func TestTrustRefusedStream(t *testing.T) {
	s := newFrameServer(t, false, resetRefused, respondOK)
	for _, content := range []string{"", "content"} {
		s.mu.Lock()
		s.headers = 0
		s.mu.Unlock()
		req := request(t, "POST", content)
		req.URL = parse(t, s.url)
		resp, err := (&retryhttp.Transport{Base: s.base, Policy: quick(), TrustRefusedStream: true}).RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		headers, _ := s.seen()
		assert.Equal(t, 2, headers)
	}
}

// TestSecondRequestWithinAttempt: a second request that a Base sends after a response,
// as for digest authentication, does not count as a resend.
func TestSecondRequestWithinAttempt(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			return resp, err
		}
		_ = resp.Body.Close()
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Digest")
		return http.DefaultTransport.RoundTrip(req)
	})
	req := request(t, "GET", "")
	req.URL = parse(t, server.URL)
	resp, err := (&retryhttp.Transport{Base: base, Policy: retry.Policy{MaxAttempts: 1}}).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, 2, asked)
}

// TestContextAfterwards: after a response's body is closed, the context of its Request
// may be used for other requests, which do not belong to the attempt.
func TestContextAfterwards(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "content")
	}))
	defer server.Close()
	base := server.Client().Transport
	for name, rt := range map[string]http.RoundTripper{"http.Transport": base, "wrapped": through(base)} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				transport := &retryhttp.Transport{Base: rt}
				ctx := t.Context()
				for range 4 {
					req, err := http.NewRequestWithContext(ctx, method, server.URL, nil)
					require.NoError(t, err)
					resp, err := transport.RoundTrip(req)
					require.NoError(t, err)
					data, err := io.ReadAll(resp.Body)
					require.NoError(t, err)
					assert.Equal(t, "content", string(data))
					require.NoError(t, resp.Body.Close())
					ctx = resp.Request.Context()
					require.NoError(t, ctx.Err())
					assert.Equal(t, 1, retryhttp.AttemptNumber(ctx))
				}
				plain, err := http.NewRequestWithContext(ctx, method, server.URL, strings.NewReader("x"))
				require.NoError(t, err)
				resp, err := base.RoundTrip(plain)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			})
		}
	}
}

// slowConn is a connection whose Write, after it has written HTTP/2 headers, does not
// return until release is closed.
type slowConn struct {
	net.Conn
	release <-chan struct{}
}

func (c slowConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if len(p) > 3 && p[3] == frameHeaders {
		<-c.release
	}
	return n, err
}

// TestTimeoutWhileWriting: when an attempt times out, the headers may have been sent
// although net/http has not reported this.
func TestTimeoutWhileWriting(t *testing.T) {
	for _, content := range []string{"", "content"} {
		s := newFrameServer(t, false, respondOK)
		release := make(chan struct{})
		s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return slowConn{conn, release}, err
		}
		req := request(t, "POST", content)
		req.URL = parse(t, s.url)
		p := quick()
		// On a busy machine several attempts may end before they write.
		p.AttemptTimeout, p.MaxAttempts = 50*time.Millisecond, math.MaxInt
		_, err := (&retryhttp.Transport{Base: s.base, Policy: p}).RoundTrip(req)
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		eventually(t, "the headers have not arrived", func() bool { headers, _ := s.seen(); return headers == 1 })
		close(release)
	}
}

// secureConn is a connection over which a trace sees HTTP/2.
type secureConn struct{ net.Conn }

func (secureConn) ConnectionState() tls.ConnectionState {
	return tls.ConnectionState{NegotiatedProtocol: "h2"}
}

// TestAnotherConnection: over HTTP/2, another connection does not end a request that was not
// written, or that has a response.
func TestAnotherConnection(t *testing.T) {
	for _, answered := range []bool{false, true} {
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(req.Context())
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: secureConn{}})
			if answered {
				trace.WroteHeaders()
				trace.GotFirstResponseByte()
			}
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: secureConn{}})
			assert.NoError(t, req.Context().Err(), answered)
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
		})
		resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
}

// TestUpgradedServer: a server that now speaks HTTP/2 may refuse the stream of a POST, whose
// GetBody is meant for HTTP/1. The POST is not sent again.
func TestUpgradedServer(t *testing.T) {
	old, now := httptest.NewTLSServer(http.NotFoundHandler()), newFrameServer(t, true, resetRefused)
	t.Cleanup(old.Close)
	address := old.Listener.Addr().String()
	base := &http.Transport{ForceAttemptHTTP2: true}
	base.DialTLSContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}}).DialContext(ctx, network, address)
	}
	t.Cleanup(base.CloseIdleConnections)
	transport := &retryhttp.Transport{Base: base, Policy: quick()}
	for _, method := range []string{"GET", "POST"} {
		req := request(t, method, map[string]string{"POST": "content"}[method])
		req.URL = parse(t, "https://host/")
		resp, err := transport.RoundTrip(req)
		if method == "POST" {
			assert.ErrorIs(t, err, retry.ErrUnrepeatable)
			break
		}
		require.NoError(t, err)
		assert.Equal(t, 1, resp.ProtoMajor)
		require.NoError(t, resp.Body.Close())
		base.CloseIdleConnections()
		address = strings.TrimPrefix(now.url, "https://")
	}
	headers, _ := now.seen()
	assert.Equal(t, 1, headers)
}
