package retryhttp_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	cryptorand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"path"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var (
	soakRequests = flag.Int("soak.requests", 1000, "requests that TestSoak sends with each version of HTTP")
	soakInflight = flag.Int("soak.inflight", 64, "requests that TestSoak has under way at the same time")
)

const (
	soakSeed     = 20260908
	soakSamples  = 4
	soakHeap     = 16 << 10 // KiB of growth after the first sample, mostly for requests in flight
	soakAttempts = 5
	soakTimeout  = 250 * time.Millisecond // of an attempt
	soakNever    = 2 * time.Minute        // for goroutines and connections that should end
)

// TestSoak sends many concurrent requests to a server that makes a third of the attempts
// fail, in every known way. For a longer run:
//
//	go test -v -run TestSoak ./retryhttp -soak.requests 200000 -timeout 10m
func TestSoak(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP 1.1": false, "HTTP 2": true} {
		t.Run(name, func(t *testing.T) {
			goroutines := runtime.NumGoroutine()
			begin := time.Now()
			r := newSoakRun(t, *soakRequests, http2)
			r.sendAll(t)
			idle := settles(func() bool {
				r.transport.CloseIdleConnections() // a connection may have become idle meanwhile
				return r.server.open.Load() == 0
			})
			assert.True(t, idle, "open connections: %d", r.server.open.Load())
			r.server.Close()
			settled := settles(func() bool { return runtime.NumGoroutine() <= goroutines })
			assert.True(t, settled, "goroutines: %d, and %d at the start", runtime.NumGoroutine(), goroutines)
			assert.Zero(t, r.server.open.Load(), "open connections")

			sums := r.check(t)
			t.Logf("%s: %d requests, %v; outcomes %v; faults %v; %d connections; goroutines %d, then %d; heap %v KiB; %v", name,
				len(r.calls), sums, r.outcomes, r.server.faults(), r.server.accepted.Load(), goroutines, runtime.NumGoroutine(), r.heap,
				time.Since(begin).Round(time.Millisecond))
			for _, sample := range r.heap[1:] {
				assert.LessOrEqual(t, sample, r.heap[0]+soakHeap, "KiB of heap")
			}
		})
	}
}

type soakRun struct {
	server    *soakServer
	client    *http.Client
	transport *retryhttp.Transport

	next  atomic.Int64
	calls []soakCall // by request

	mu       sync.Mutex
	outcomes map[string]int
	heap     []int // KiB, by sample
}

// soakCall is the client's record of a request. It is small, so that it does not hide
// memory that the Transport keeps. Only the request's goroutine writes to it. The
// fields begun and responded contain a bit for each attempt.
type soakCall struct {
	begun, responded         uint8
	retries, gaveUp, results uint8
	failed                   bool // no response, or a status of 400 or above
	succeeded                bool
}

type soakKey struct{}

func soakCallOf(ctx context.Context) *soakCall { return ctx.Value(soakKey{}).(*soakCall) }

func newSoakRun(t *testing.T, requests int, http2 bool) *soakRun {
	r := &soakRun{server: newSoakServer(t, requests, http2), calls: make([]soakCall, requests), outcomes: map[string]int{}}
	base := r.server.Client().Transport.(*http.Transport)
	base.MaxIdleConnsPerHost = *soakInflight
	if http2 {
		// Without a limit, all requests in flight would dial when a connection ends.
		base.MaxConnsPerHost = 4
	}
	// Its 429s come at random, so a Limiter would slow the calls down for nothing.
	r.transport = &retryhttp.Transport{Base: base, Sign: numbered, PerScope: retryhttp.Unlimited(), Policy: retry.Policy{
		MaxAttempts:    soakAttempts,
		AttemptTimeout: soakTimeout,
		Backoff:        retry.Constant(time.Millisecond),
		Hooks: retry.Hooks{
			OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
				call := soakCallOf(ctx)
				call.begun |= 1 << a.Number
				return nil, func(a retry.Attempt) {
					if _, failed := errors.AsType[*retryhttp.StatusError](a.Err); failed || a.Err == nil {
						call.responded |= 1 << a.Number
					}
				}
			},
			OnRetry:  func(ctx context.Context, _ retry.Attempt, _ time.Duration) { soakCallOf(ctx).retries++ },
			OnGiveUp: func(ctx context.Context, _ *retry.Error) { soakCallOf(ctx).gaveUp++ },
		},
	}}
	r.client = &http.Client{Transport: r.transport}
	return r
}

func (r *soakRun) sendAll(t *testing.T) {
	var workers sync.WaitGroup
	for range *soakInflight {
		workers.Go(func() {
			for {
				id := int(r.next.Add(1) - 1)
				if id >= len(r.calls) {
					return
				}
				if id > 0 && id%max(1, len(r.calls)/soakSamples) == 0 {
					r.sample()
				}
				r.send(t, id)
			}
		})
	}
	workers.Wait()
	r.sample()
}

func (r *soakRun) sample() {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // only the second empties each sync.Pool
	runtime.ReadMemStats(&stats)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heap = append(r.heap, int(stats.HeapAlloc>>10))
}

func (r *soakRun) send(t *testing.T, id int) {
	call := &r.calls[id]
	ctx := context.WithValue(t.Context(), soakKey{}, call)
	kind := soakKindOf(id)
	req, err := http.NewRequestWithContext(ctx, kind.method, r.server.URL+"/"+strconv.Itoa(id), nil)
	if !assert.NoError(t, err) {
		return
	}
	if kind.body {
		req, err = http.NewRequestWithContext(ctx, kind.method, req.URL.String(), bytes.NewReader(soakContent(id, soakBodySize(id))))
		if !assert.NoError(t, err) {
			return
		}
	}
	if kind.key {
		req.Header.Set("Idempotency-Key", strconv.Itoa(id))
	}
	outcome := r.outcome(id, req)
	call.results++
	call.succeeded = outcome == "success"
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes[outcome]++
}

func (r *soakRun) outcome(id int, req *http.Request) string {
	resp, err := r.client.Do(req)
	r.calls[id].failed = err != nil || resp.StatusCode >= 400
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case err != nil:
		return "connection lost"
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout in the body"
	case err != nil:
		return "body cut"
	case !bytes.Equal(body, soakContent(id, len(body))) || resp.Header.Get("Size") != strconv.Itoa(len(body)):
		return "wrong body"
	case resp.Header.Get("Attempt") != strconv.Itoa(retryhttp.AttemptNumber(resp.Request.Context())):
		return "response to another attempt"
	case resp.StatusCode == http.StatusOK:
		return "success"
	}
	return strconv.Itoa(resp.StatusCode)
}

type soakSums struct {
	begun, retries, arrived, seen, unseen, resent int
}

func (s soakSums) String() string {
	return fmt.Sprintf("%d attempts (%d retries), %d of them arrived, %d requests resent by net/http",
		s.begun, s.retries, s.seen, s.resent)
}

func (r *soakRun) check(t *testing.T) soakSums {
	var sums soakSums
	for id := range r.calls {
		if !r.checkCall(t, id, &sums) {
			break
		}
	}
	requests := len(r.calls)
	assert.Equal(t, sums.begun, requests+sums.retries, "attempts")
	assert.Equal(t, sums.arrived, sums.begun-sums.unseen+sums.resent, "requests that arrived")
	assert.Zero(t, r.outcomes["wrong body"]+r.outcomes["response to another attempt"])
	// The number of timeouts depends on the machine's load.
	assert.Positive(t, r.outcomes["success"])
	assert.Greater(t, r.outcomes["success"]+r.outcomes["timeout"]+r.outcomes["timeout in the body"], requests/4)
	assert.Zero(t, r.server.garbled.Load(), "garbled bodies")
	assert.Zero(t, r.server.stuck.Load(), "attempts that exceeded their time limit")
	total := 0
	for _, n := range r.outcomes {
		total += n
	}
	assert.Equal(t, requests, total)
	for name, n := range r.server.faults() {
		assert.True(t, n > 0 || requests < 5000,
			"the fault %q did not occur", name)
	}
	return sums
}

func (r *soakRun) checkCall(t *testing.T, id int, sums *soakSums) bool {
	call, kind := r.calls[id], soakKindOf(id)
	log := r.server.logs[id].Load()
	seen, arrived, executed, refused := uint8(log), uint8(log>>8), uint8(log>>16), uint8(log>>24)
	begun, resent := bits.OnesCount8(call.begun), int(arrived)-bits.OnesCount8(seen)
	sums.begun += begun
	sums.retries += int(call.retries)
	sums.arrived += int(arrived)
	sums.seen += bits.OnesCount8(seen)
	sums.unseen += bits.OnesCount8(call.begun &^ seen)
	sums.resent += resent

	about := fmt.Sprintf("request %d, %+v, %+v, seen %b, arrived %d, executed %d, refused %d", id, kind, call, seen, arrived, executed, refused)
	ok := assert.Equal(t, uint8(1), call.results, about)
	ok = assert.Equal(t, begun, 1+int(call.retries), about) && ok
	ok = assert.Zero(t, seen&^call.begun, "attempt without a call to OnAttempt: %s", about) && ok
	ok = assert.Zero(t, call.responded&^seen, "response to an attempt that never arrived: %s", about) && ok
	ok = assert.Equal(t, call.failed, call.gaveUp == 1, about) && ok
	if call.succeeded {
		ok = assert.NotZero(t, executed, about) && ok
	}
	if kind.method == http.MethodPost && !kind.key {
		// An attempt that was not refused may have been executed.
		ok = assert.LessOrEqual(t, arrived-refused, uint8(1), about) && ok
		ok = assert.LessOrEqual(t, executed, uint8(1), about) && ok
	}
	if kind.method != http.MethodGet || r.server.http2 {
		ok = assert.Zero(t, resent, "net/http resent an attempt: %s", about) && ok
	}
	return ok
}

type soakKind struct {
	method    string
	body, key bool
}

func soakKindOf(id int) soakKind {
	return [...]soakKind{
		{http.MethodGet, false, false},
		{http.MethodPut, true, false},
		{http.MethodPost, true, true},
		{http.MethodPost, true, false},
	}[id%4]
}

const soakLongest = 100 << 10

var soakPattern = func() []byte {
	b := make([]byte, soakLongest+251)
	for i := range b {
		b[i] = byte(i % 251) // not a power of two, so that a shifted buffer is found
	}
	return b
}()

func soakContent(id, size int) []byte {
	if size > soakLongest {
		return nil
	}
	return soakPattern[id%251:][:size]
}

// soakBodySize makes every 50th body exceed the buffers on the way to the server.
func soakBodySize(id int) int {
	if id/4%50 == 0 {
		return soakLongest
	}
	return 1 + id*7919%(8<<10)
}

type soakServer struct {
	*httptest.Server
	http2 bool

	// Each element describes a request: a bit for each attempt, then eight bits each for
	// the numbers of arrivals, executions and refusals.
	logs []atomic.Uint32

	failed         []atomic.Int64 // by index in soakFaults
	garbled, stuck atomic.Int64
	open, accepted atomic.Int64 // connections
}

const (
	soakArrived  = 1 << 8
	soakExecuted = 1 << 16
	soakRefused  = 1 << 24
)

func newSoakServer(t *testing.T, requests int, http2 bool) *soakServer {
	s := &soakServer{logs: make([]atomic.Uint32, requests), failed: make([]atomic.Int64, len(soakFaults)), http2: http2}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // unfinished handshakes would be logged
	s.Listener = soakListener{s.Listener, s}
	if s.EnableHTTP2 = http2; http2 {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{soakCertificate(t)}}
		s.StartTLS()
	} else {
		s.Start()
	}
	return s
}

// soakCertificate returns a certificate that signs quickly: with the RSA key of
// httptest, handshakes take half of the test's time.
func soakCertificate(t *testing.T) tls.Certificate {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(time.Hour),
		DNSNames:              []string{"example.com"}, // for httptest's client
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(cryptorand.Reader, template, template, public, private)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

type soakListener struct {
	net.Listener
	server *soakServer
}

func (l soakListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.server.accepted.Add(1)
	l.server.open.Add(1)
	return &soakConn{TCPConn: conn.(*net.TCPConn), closed: sync.OnceFunc(func() { l.server.open.Add(-1) })}, nil
}

type soakConn struct {
	*net.TCPConn
	closed func()
}

func (c *soakConn) Close() error {
	c.closed()
	return c.TCPConn.Close()
}

// Of 32 failures, the numbers in the fields share (HTTP/1) and share2 (HTTP/2) are of
// this kind. Slow responses are rare because they take time. Closed HTTP/2 connections
// are rare because all requests in flight dial after one.
var soakFaults = [...]struct {
	name          string
	share, share2 int
	serve         func(*soakExchange)
}{
	{"503", 5, 5, func(e *soakExchange) { e.fail(http.StatusServiceUnavailable) }},
	{"500", 5, 6, func(e *soakExchange) { e.fail(http.StatusInternalServerError) }},
	{"429", 5, 5, (*soakExchange).refuse},
	{"reset before the response", 4, 4, (*soakExchange).reset},
	{"reset after processing", 4, 5, func(e *soakExchange) { e.execute(e.reset) }},
	{"truncated", 4, 5, func(e *soakExchange) { e.execute(e.truncate) }},
	{"closed after the response", 4, 1, func(e *soakExchange) { e.execute(e.respondAndClose) }},
	{"slow", 1, 1, func(e *soakExchange) { e.execute(e.hang) }},
}

func (s *soakServer) faults() map[string]int64 {
	counts := map[string]int64{}
	for i, f := range soakFaults {
		counts[f.name] = s.failed[i].Load()
	}
	return counts
}

type soakExchange struct {
	*soakServer
	id     int
	w      http.ResponseWriter
	r      *http.Request
	random *rand.Rand
}

func (s *soakServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(path.Base(r.URL.Path))
	attempt, err2 := strconv.Atoi(r.Header.Get("Attempt"))
	if err := errors.Join(err, err2); err != nil || id < 0 || id >= len(s.logs) || attempt > soakAttempts {
		s.garbled.Add(1)
		return
	}
	s.logs[id].Or(1 << attempt)
	arrival := s.logs[id].Add(soakArrived) >> 8 & 0xff
	e := &soakExchange{s, id, w, r, rand.New(rand.NewPCG(soakSeed, uint64(id)<<8|uint64(arrival)))}
	w.Header().Set("Attempt", r.Header.Get("Attempt"))
	if e.random.IntN(3) > 0 {
		e.execute(func() { e.respond(http.StatusOK, e.random.IntN(8<<10)) })
		return
	}
	way := e.random.IntN(32)
	for i, f := range soakFaults {
		share := f.share
		if s.http2 {
			share = f.share2
		}
		if way -= share; way < 0 {
			s.failed[i].Add(1)
			f.serve(e)
			return
		}
	}
}

func (e *soakExchange) execute(respond func()) {
	body, err := io.ReadAll(e.r.Body)
	if err != nil {
		e.reset()
		return
	}
	if size := len(body); !bytes.Equal(body, soakContent(e.id, size)) || soakKindOf(e.id).body && size != soakBodySize(e.id) {
		e.garbled.Add(1)
	}
	e.logs[e.id].Add(soakExecuted)
	respond()
}

func (e *soakExchange) respond(status, size int) {
	e.w.Header().Set("Size", strconv.Itoa(size))
	e.write(status, size)
}

func (e *soakExchange) write(status, size int) {
	e.w.WriteHeader(status)
	_, _ = e.w.Write(soakContent(e.id, size)) // the client may have gone
}

func (e *soakExchange) fail(status int) {
	size := e.random.IntN(4) * e.random.IntN(soakLongest/3+1) // a quarter of the bodies are empty
	if e.random.IntN(2) == 0 {
		e.respond(status, size)
		return
	}
	e.execute(func() { e.respond(status, size) })
}

func (e *soakExchange) refuse() {
	e.logs[e.id].Add(soakRefused)
	e.w.Header().Set("Retry-After", "0")
	e.respond(http.StatusTooManyRequests, e.random.IntN(1<<10))
}

func (e *soakExchange) reset() {
	if e.http2 {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.(*soakConn).SetLinger(0)
	_ = conn.Close()
}

func (e *soakExchange) begin() {
	size := 2 + e.random.IntN(8<<10)
	if e.random.IntN(2) == 0 { // otherwise chunked
		e.w.Header().Set("Content-Length", strconv.Itoa(size))
	}
	e.w.Header().Set("Size", strconv.Itoa(size))
	e.write(http.StatusOK, size/2)
	_ = http.NewResponseController(e.w).Flush()
}

func (e *soakExchange) truncate() {
	e.begin()
	panic(http.ErrAbortHandler)
}

func (e *soakExchange) hang() {
	if e.random.IntN(2) == 0 {
		e.begin()
	}
	patience := time.NewTimer(soakNever)
	defer patience.Stop()
	select {
	case <-e.r.Context().Done():
	case <-patience.C:
		e.stuck.Add(1)
	}
	panic(http.ErrAbortHandler)
}

// respondAndClose closes the connection after the response. Over HTTP/1 the close is
// not announced, so another request may already be on its way.
func (e *soakExchange) respondAndClose() {
	size := e.random.IntN(8 << 10)
	if e.http2 {
		e.w.Header().Set("Connection", "close") // GOAWAY
		e.respond(http.StatusOK, size)
		return
	}
	conn, buffered, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nAttempt: %s\r\nSize: %d\r\nContent-Length: %d\r\n\r\n", e.r.Header.Get("Attempt"), size, size)
	_, _ = buffered.Write(soakContent(e.id, size))
	_ = buffered.Flush()
	_ = conn.Close()
}

// TestSoakUnusableConnection: an HTTP/2 connection ends between its selection for a
// request and the first write. Without GetBody, net/http fails with "cannot rewind body
// after connection loss". No server has seen the request, so even a POST is retried.
func TestSoakUnusableConnection(t *testing.T) {
	s := newServer(t, http2, ok)
	closed := make(chan struct{}, 2) // two connections
	s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &soakConn{conn.(*net.TCPConn), sync.OnceFunc(func() { closed <- struct{}{} })}, nil
	}
	transport := s.transport()
	s.warm(t, transport)

	end := sync.OnceFunc(func() {
		s.hangUp()
		select {
		case <-closed: // net/http's last action on a connection
		case <-time.After(soakNever):
			t.Error("the connection is still open")
		}
	})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { end() }})
	req := request(t, "POST", "hello").WithContext(ctx)
	req.URL = parse(t, s.URL)
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 200, resp.StatusCode)
	arrived, executed := s.seen()
	assert.Equal(t, []string{"1"}, arrived)
	assert.Equal(t, []string{"hello"}, executed)
}
