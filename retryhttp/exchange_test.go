package retryhttp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"go/build"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"slices"
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
			assert.Equal(t, tt.want != nil, strings.Contains(err.Error(), "set Transport.Wrap instead"), err)
			assert.ErrorContains(t, err, "(no Idempotency-Key: see Transport.IdempotencyKey and MayRepeat)")
		}
	}
}

const (
	resetProtocol = iota
	resetRefused
	goAwayBelow // does not accept the stream
	goAwayBusy  // the same, with an error code
	respondOK
)

// frameServer implements enough of HTTP/2 to refuse requests in every way that net/http
// distinguishes.
type frameServer struct {
	url     string
	base    *http.Transport
	wg      sync.WaitGroup
	mu      sync.Mutex
	replies []int    // the last one repeats
	blocks  []string // of HEADERS frames: END_STREAM and the compressed fields
	headers int      // HEADERS frames
	bodies  int      // DATA frames
	conns   []net.Conn
	ended   int // connections
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
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		s.ended++
		s.mu.Unlock()
	}()
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
		payload := make([]byte, binary.BigEndian.Uint32(head[:4])>>8)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return
		}
		switch kind, ended := head[3], head[4]&1 != 0; kind {
		case frameSettings:
			if !ended { // not an acknowledgment
				s.write(conn, frameSettings, 1, 0)
			}
		case frameHeaders, frameData:
			s.arrived(kind, fmt.Sprint(ended, string(payload)))
			if ended {
				s.reply(conn, stream)
			}
		}
	}
}

func (s *frameServer) arrived(kind byte, block string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == frameHeaders {
		s.blocks = append(s.blocks, block)
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
	case goAwayBusy:
		s.write(conn, frameGoAway, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11) // ENHANCE_YOUR_CALM
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
		{name: "GET, PROTOCOL_ERROR", method: "GET", replies: []int{resetProtocol}, attempts: 3, headers: 2 + sends, resends: sends - 1, err: retry.ErrMaxAttempts},
		{name: "GET, REFUSED_STREAM", method: "GET", replies: []int{resetRefused}, attempts: 3, headers: 4, resends: 1, err: retry.ErrMaxAttempts},
		{name: "GET, GOAWAY", method: "GET", replies: []int{goAwayBelow, respondOK}, attempts: 1, headers: 2, resends: 1},
		{name: "GET, GOAWAY throughout", method: "GET", replies: []int{goAwayBelow}, attempts: 3, headers: 4, resends: 1, err: retry.ErrMaxAttempts},
		{name: "POST, PROTOCOL_ERROR", method: "POST", replies: []int{resetProtocol, respondOK}, attempts: 1, headers: 1, err: retry.ErrUnrepeatable},
		{name: "POST, REFUSED_STREAM", method: "POST", replies: []int{resetRefused, respondOK}, attempts: 1, headers: 1, err: retry.ErrUnrepeatable},
		{name: "POST, GOAWAY", method: "POST", replies: []int{goAwayBelow, respondOK}, attempts: 1, headers: 2, resends: 1},
		{name: "POST, GOAWAY throughout", method: "POST", replies: []int{goAwayBelow}, attempts: 3, headers: 4, resends: 1, err: retry.ErrMaxAttempts},
	} {
		for _, secure := range []bool{false, true} {
			for _, wrapper := range []string{"", "Base", "Wrap"} {
				t.Run(tt.name+map[bool]string{false: "", true: ", TLS"}[secure]+", "+wrapper, func(t *testing.T) {
					tt, s := tt, newFrameServer(t, secure, tt.replies...)
					attempts, resends, wrapped := int32(0), 0, wrapper == "Base"
					transport := given{wrapper: wrapper}.transport(s.base)
					t.Cleanup(transport.CloseIdleConnections)
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
					transport.Policy, transport.PerHost = p, unbudgeted()
					resp, err := transport.RoundTrip(req)
					headers, _ := s.seen()
					switch reasonHidden := wrapped && strings.Contains(tt.name, "GOAWAY"); {
					case reasonHidden && tt.method == "POST":
						assert.ErrorIs(t, err, retry.ErrUnrepeatable)
						assert.ErrorContains(t, err, "Idempotency-Key")
						assert.Equal(t, 1, headers)
						return
					case wrapped && tt.err == retry.ErrMaxAttempts && headers > 3: // the reason is hidden, and so are the connections
						assert.ErrorIs(t, err, tt.err)
						assert.Equal(t, 3+8, headers)
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

// TestResentAtOnce: the first resend does not wait.
func TestResentAtOnce(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		s, p, clock := newFrameServer(t, true, goAwayBelow, respondOK), quick(), &sleepless{}
		p.Clock = clock
		transport := &retryhttp.Transport{Base: s.base, Policy: p}
		if wrapped {
			transport.Base = through(s.base)
		}
		req := request(t, map[bool]string{false: "POST", true: "GET"}[wrapped], "")
		req.URL = parse(t, s.url)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		headers, _ := s.seen()
		assert.Equal(t, 2, headers)
		assert.Zero(t, clock.waits, "wrapped: %v", wrapped)
	}
}

// TestResentAtMost: however often a server refuses a request without processing it, a call sends one
// request more than it makes attempts, and the budget pays for the retries.
func TestResentAtMost(t *testing.T) {
	for attempts, tokens := range map[int]float64{retry.NoRetry: 5, 2: 4, 3: 3, 20: 0} {
		for method, fault := range map[string]int{"GET": resetRefused, "POST": goAwayBelow} {
			s := newFrameServer(t, true, fault)
			budget := &retry.SharedBudget{}
			transport := &retryhttp.Transport{Base: s.base, Policy: retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: attempts, Budget: budget}}
			t.Cleanup(transport.CloseIdleConnections)
			send := func() {
				req := request(t, method, "")
				req.URL = parse(t, s.url)
				_, err := transport.RoundTrip(req)
				assert.Error(t, err)
			}
			send()
			headers, _ := s.seen()
			assert.Equal(t, min(attempts, 6)+1, headers, "%s, %d attempts", method, attempts)
			assert.Equal(t, tokens, budget.Balance())
			if attempts == 20 {
				send() // without a token, there is only the first resend
				again, _ := s.seen()
				assert.Equal(t, headers+2, again)
			}
		}
	}
}

// TestTurnedAway: a GOAWAY with an error code instead of the first response of a connection is a
// failure of the attempt, as in net/http, and proves that any request may be repeated.
func TestTurnedAway(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PUT"} {
		for _, attempts := range []int{retry.NoRetry, 3} {
			s := newFrameServer(t, true, goAwayBusy)
			transport := &retryhttp.Transport{Base: s.base, Policy: quick()}
			transport.Policy.MaxAttempts = attempts
			t.Cleanup(transport.CloseIdleConnections)
			req := request(t, method, strings.Repeat("content", len(method)-3)) // none for a GET
			req.URL = parse(t, s.url)
			_, err := transport.RoundTrip(req)
			assert.ErrorContains(t, err, "GOAWAY")
			headers, _ := s.seen()
			assert.Equal(t, attempts, headers, method)
		}
	}
}

// TestResentOverHTTP1: if a reused connection closes without a response, net/http
// itself resends a GET, unless the GET must not be executed twice. It resends that, too, if
// Base is wrapped, or the host's name is not ASCII. It does not resend a body. Each resend is counted.
func TestResentOverHTTP1(t *testing.T) {
	for _, tt := range []struct {
		name               string
		mayRepeat, wrapped bool
		host               string
		resends            int
	}{
		{"may be repeated", true, false, "", 1},
		{"must not be repeated", false, false, "", 0},
		{"must not be repeated, wrapped", false, true, "", 1},
		{"must not be repeated, not ASCII", false, false, "bücher.example", 1},
		{"must not be repeated, with a key of Sign", false, false, "", 0},
		{"may be repeated, with a key and a body", true, false, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, http1, processed(closed))
			address := s.Listener.Addr().String()
			s.base.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, address)
			}
			if tt.host != "" {
				s.URL = "http://" + tt.host
			}
			transport := s.transport()
			if tt.wrapped {
				transport.Base = through(s.base)
			}
			transport.MayRepeat = func(*http.Request) bool { return tt.mayRepeat }
			s.warm(t, transport)
			s.warm(t, s.base)
			transport.Policy.MaxAttempts = 1
			var info retryhttp.Info
			transport.Policy.OnGiveUp = func(ctx context.Context, _ *retry.Error) { info, _ = retryhttp.InfoFrom(ctx) }
			req := request(t, "GET", "")
			switch {
			case strings.HasSuffix(tt.name, "of Sign"):
				req.Method = "POST"
				transport.Sign = func(req *http.Request) (retryhttp.Refused, error) {
					req.Header.Set("Idempotency-Key", "k1")
					return nil, nil
				}
			case strings.HasSuffix(tt.name, "and a body"):
				req = request(t, "POST", "content")
				req.Header.Set("Idempotency-Key", "k1")
			}
			req.URL = parse(t, s.URL)
			_, err := transport.RoundTrip(req)
			require.Error(t, err)
			_, executed := s.seen()
			assert.Len(t, executed, 1+info.Resends)
			assert.Equal(t, tt.resends, info.Resends)
		})
	}
}

// TestResentIsAmbiguous: a response may result from a request whose response was lost before
// net/http resent it, even if it is that to a later attempt.
func TestResentIsAmbiguous(t *testing.T) {
	s := newServer(t, http1, processed(closed), respond(http.StatusTooManyRequests, ""), respond(http.StatusConflict, ""))
	transport := s.transport()
	s.warm(t, transport)
	req := request(t, "POST", "")
	req.URL = parse(t, s.URL)
	req.Header.Set("Idempotency-Key", "k1")
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusConflict, resp.StatusCode)
	arrived, _ := s.seen()
	assert.Equal(t, []string{"1", "1", "2"}, arrived)
	assert.True(t, retryhttp.Ambiguous(resp))
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
			trace.WroteHeaderField(":method", nil)
			trace.WroteHeaders()
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: conn})
			return nil, req.Context().Err()
		})
		_, err := (&retryhttp.Transport{Base: base, Policy: quick(), PerHost: unbudgeted()}).RoundTrip(request(t, "GET", ""))
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.NotErrorIs(t, err, context.Canceled)
		info, _ := retryhttp.InfoOf(err)
		assert.Equal(t, 3+info.Resends, sent)
		assert.Equal(t, 8, info.Resends)
	}
}

// TestDistrustGoAway: a request that may not be executed twice is not sent again after a GOAWAY.
func TestDistrustGoAway(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		for _, content := range []string{"", "content"} {
			s := newFrameServer(t, false, goAwayBelow, respondOK)
			transport := &retryhttp.Transport{Base: s.base, Policy: quick(), DistrustGoAway: true}
			t.Cleanup(transport.CloseIdleConnections)
			req := request(t, method, content)
			req.URL = parse(t, s.url)
			resp, err := transport.RoundTrip(req)
			headers, _ := s.seen()
			if method == "POST" {
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				assert.Equal(t, 1, headers)
				continue
			}
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, 2, headers)
		}
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

// TestContinued: a 100 Continue, which a trace reports like a response, does not end the proof
// that the request was not processed.
func TestContinued(t *testing.T) {
	sent := 0
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(req.Context())
		trace.GetConn("host:443")
		trace.GotConn(httptrace.GotConnInfo{Conn: secureConn{}})
		trace.WroteHeaders()
		if trace.GotFirstResponseByte != nil {
			trace.GotFirstResponseByte()
		}
		if sent++; sent == 1 {
			return nil, errGoAway
		}
		return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
	})
	req := request(t, "POST", "content")
	req.Header.Set("Expect", "100-continue")
	resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 2, sent)
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

// TestDowngradedServer: while net/http resends a request whose stream was refused, the server
// turns to HTTP/1, where nothing can stop that. The response is used.
func TestDowngradedServer(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		for _, wrapped := range []bool{false, true} {
			old, now := newFrameServer(t, true, goAwayBelow), newServer(t, http1, ok)
			secured := httptest.NewTLSServer(now.Config.Handler)
			t.Cleanup(secured.Close)
			addresses := []string{strings.TrimPrefix(old.url, "https://"), secured.Listener.Addr().String()}
			base := &http.Transport{ForceAttemptHTTP2: true}
			var dials atomic.Int64 // net/http dials in goroutines of its own
			base.DialTLSContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				address := addresses[min(dials.Add(1)-1, 1)]
				return (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}}).DialContext(ctx, network, address)
			}
			transport := &retryhttp.Transport{Base: base, Policy: quick()}
			if wrapped {
				transport.Base = through(base)
			}
			t.Cleanup(transport.CloseIdleConnections)
			t.Cleanup(base.CloseIdleConnections)
			req := request(t, method, "")
			req.URL = parse(t, "https://host/")
			resp, err := transport.RoundTrip(req)
			if wrapped && method == "POST" {
				assert.ErrorIs(t, err, retry.ErrUnrepeatable)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, 1, resp.ProtoMajor)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, method == "GET", retryhttp.Ambiguous(resp))
			_, executed := now.seen()
			assert.Len(t, executed, 1)
		}
	}
}

// TestUnsentByBase: a POST is retried if Base says that nothing was sent, until the token that it
// needs is there. An error that Base joins with another says nothing.
func TestUnsentByBase(t *testing.T) {
	busy := errors.New("503 Service Unavailable")
	for _, tt := range []struct {
		name     string
		failure  error
		attempts int
		want     error
	}{
		{"marked", retryhttp.Unsent(busy), 3, nil},
		{"wrapped", fmt.Errorf("get a token: %w", retryhttp.Unsent(busy)), 3, nil},
		{"not marked", busy, 1, retry.ErrUnrepeatable},
		{"beside another", errors.Join(retryhttp.Unsent(busy), errReset), 1, retry.ErrUnrepeatable},
		{"permanent", retryhttp.Unsent(retry.Permanent(errors.New("invalid_client"))), 1, retry.ErrPermanent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			attempts := 0
			base := roundTripper(func(req *http.Request) (*http.Response, error) {
				attempts++
				if attempts < 3 {
					return nil, tt.failure
				}
				return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
			})
			resp, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(request(t, "POST", "content"))
			assert.Equal(t, tt.attempts, attempts)
			switch tt.want {
			case nil:
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			case retry.ErrPermanent:
				assert.EqualError(t, err, "invalid_client")
			default:
				assert.ErrorIs(t, err, tt.want)
			}
		})
	}
	assert.NoError(t, retryhttp.Unsent(nil))
}

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
				_, err := (&retryhttp.Transport{Base: base, Policy: quick(), PerHost: unbudgeted()}).RoundTrip(request(t, "POST", content))
				assert.ErrorIs(t, err, tt.err)
				assert.Equal(t, tt.err == refused, strings.Contains(err.Error(), "TrustRefusedStream"), err)
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
			if dials++; dials > 2 { // the request has a connection of its own
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
		transport := client.Transport.(*retryhttp.Transport)
		transport.Base, transport.PerHost = &script{replies: []reply{{err: tt.err}}}, unbudgeted()
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
	_, err := (&retryhttp.Transport{Base: base, Policy: quick(), PerHost: unbudgeted()}).RoundTrip(request(t, "GET", ""))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 3+8, sent)
}
