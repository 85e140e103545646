package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhttp"
)

// maxAttempts is how many attempts may be made of one request.
const maxAttempts = 100

var errStopped = errors.New("faults: attempts do not end and are stopped")

// Transport is the RoundTripper that sends the requests of a test. It is safe for concurrent
// use.
type Transport struct {
	// Base sends the requests that are not for a server of NewServer. nil means the network,
	// which needs RealTime. Set Base before the first request.
	Base http.RoundTripper

	*outcome
	*suite
	cancel func() // of t.Context
	own    http.Transport
	pipes  map[string]*pipe // by address
	seen   int              // attempts of the request of the fault
}

// NewServer starts a server that works in a bubble of testing/synctest. Pipes connect it to rt,
// so only requests that rt sends reach it. The Client of the server uses rt. The server is
// closed at the end of the run.
func (rt *Transport) NewServer(handler http.Handler) *httptest.Server {
	p := &pipe{Network: memnet.New()}
	p.life, p.end = context.WithCancel(context.Background())
	rt.record(func() {
		p.addr = net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: len(rt.pipes) + 1}
		rt.pipes[p.addr.String()] = p
	})
	p.server = &httptest.Server{Listener: p, Config: &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return p.life }}}
	p.server.Start()
	p.server.Client().Transport = rt
	return p.server
}

// CloseIdleConnections closes the idle connections to servers of NewServer and the network.
func (rt *Transport) CloseIdleConnections() { rt.own.CloseIdleConnections() }

// send is a request that was sent.
type send struct {
	key        string // method and path
	n          int    // counts those of the same key, from 1 on
	goroutine  string
	beside     bool   // another goroutine sent one of the same key
	line       string // of the test
	header     http.Header
	number     int // of the attempt of a Transport of retryhttp; 0: there is none
	idempotent bool
	id         string // Idempotency-Key
	fault      string
	at, end    time.Time
	dead       bool      // its context was done
	hash       hash.Hash // of query and body
	size       int       // of the body
	read       bool      // to its end
	status     int       // from the server, 0 if none
	cut        bool      // the response was cut
	noticed    bool      // by the code
	endless    bool      // neither its context nor t.Context ended it
}

func (s *send) String() string { return fmt.Sprintf("%s#%d", s.key, s.n) }

var odd = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (s *send) name() string {
	return fmt.Sprintf("%s#%d", strings.TrimSuffix(odd.ReplaceAllString(s.key, "_"), "_"), s.n)
}

// RoundTrip sends the request. If the run has a fault for the request, RoundTrip causes it.
func (rt *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	s, err := rt.begin(req)
	defer func() { rt.record(func() { s.end = time.Now() }) }()
	sent := *req
	if req.Body != nil && req.Body != http.NoBody {
		sent.Body, sent.GetBody = &sentBody{req.Body, rt, s}, nil
	}
	status := answers[s.fault]
	switch {
	case err != nil:
	case s.fault == "refused":
		err = netError("dial", req.URL.Host, "connect", errRefused)
	case status == 0:
		return rt.send(s, &sent)
	}
	if sent.Body != nil {
		if err == nil { // but a body may wait for the response
			timer := time.AfterFunc(time.Second, func() { _ = sent.Body.Close() })
			_, _ = io.Copy(io.Discard, sent.Body)
			timer.Stop()
		}
		_ = sent.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	response := httptest.NewRecorder()
	if status == http.StatusTooManyRequests {
		response.Header().Set("Retry-After", "2")
	}
	http.Error(response, http.StatusText(status), status)
	resp := response.Result()
	resp.Request = req
	return resp, nil
}

// answers has the faults that are responses.
var answers = map[string]int{"429": http.StatusTooManyRequests, "503": http.StatusServiceUnavailable}

func netError(op, addr, call string, errno error) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: &net.UnixAddr{Name: addr, Net: "tcp"}, Err: os.NewSyscallError(call, errno)}
}

// begin records the request and its fault. Attempts without end are stopped by an error,
// and if they ignore that, by the end of their goroutine.
func (rt *Transport) begin(req *http.Request) (*send, error) {
	s := &send{key: cmp.Or(req.Method, http.MethodGet) + " " + req.URL.Path, n: 1, line: line(), header: req.Header, number: retryhttp.AttemptNumber(req.Context()), at: time.Now(), hash: sha256.New(),
		id: req.Header.Get("Idempotency-Key") + req.Header.Get("X-Idempotency-Key"), idempotent: retryhttp.IsIdempotent(req)}
	s.read = req.Body == nil || req.Body == http.NoBody
	stack := make([]byte, 32)
	s.goroutine, _, _ = strings.Cut(string(stack[:runtime.Stack(stack, false)]), " [")
	_, _ = s.hash.Write([]byte(req.URL.RawQuery))
	err, ignored := errStopped, false // if the run is over
	rt.record(func() {
		err = req.Context().Err()
		s.dead = err != nil
		for _, earlier := range rt.sends {
			if earlier.key == s.key {
				s.n++
				both := earlier.goroutine != s.goroutine
				s.beside, earlier.beside = s.beside || both, earlier.beside || both
			}
		}
		rt.sends = append(rt.sends, s)
		if rt.request == nil || rt.request.key != s.key || rt.request.n > s.n {
			return
		}
		s.fault = rt.kinds[min(rt.seen, len(rt.kinds)-1)]
		if rt.seen++; rt.seen > maxAttempts {
			rt.unbounded, err = fmt.Sprintf("there are more than %d", maxAttempts), errStopped
			ignored = rt.seen > maxAttempts+10
		} else if time.Since(rt.of(rt.request)[0].at) > rt.patience {
			if err = errStopped; rt.virtual {
				rt.unbounded = fmt.Sprintf("they go on for %v", rt.patience)
			}
		}
	})
	if err == errStopped {
		rt.cancel()
		if ignored {
			runtime.Goexit()
		}
	}
	return s, err
}

// send sends the request to its server, and does what the fault is to the response.
func (rt *Transport) send(s *send, req *http.Request) (*http.Response, error) {
	base, piped := rt.Base, rt.pipe(req.URL.Host) != nil
	if base == nil || piped {
		base = &rt.own
	}
	if _, network := base.(*http.Transport); network && !piped && rt.virtual {
		rt.fail(req.URL.Host + " is on the network, which stops the clock of a bubble: use rt.NewServer or faults.RealTime")
		runtime.Goexit()
	}
	if rt.request == nil && rt.virtual {
		time.Sleep(time.Nanosecond) // so that the others begin that are sent at the same time
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.Body == nil { // of a Base that is a fake
		resp.Body = http.NoBody
	}
	rt.record(func() { s.status = resp.StatusCode })
	switch s.fault {
	case "lost", "silent":
		_ = resp.Body.Close()
		if s.fault == "lost" {
			return nil, netError("read", req.URL.Host, "read", errReset)
		}
		return nil, rt.silence(s, req.Context())
	case "cut":
		if resp.StatusCode/100 == 2 {
			resp.Body = &cutBody{ReadCloser: resp.Body, rt: rt, s: s}
		}
	}
	return resp, nil
}

// silence waits until the context ends; if it does not, t.Context ends first.
func (rt *Transport) silence(s *send, ctx context.Context) error {
	wait := rt.quiet
	if deadline, ok := ctx.Deadline(); ok {
		wait += time.Until(deadline)
	}
	for range 2 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			rt.cancel()
			wait = rt.quiet
		}
	}
	rt.record(func() { s.endless = true })
	return os.ErrDeadlineExceeded
}

// sentBody hashes the body while it is read.
type sentBody struct {
	io.ReadCloser
	rt *Transport
	s  *send
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.rt.record(func() {
		_, _ = b.s.hash.Write(p[:n])
		b.s.size += n
		b.s.read = b.s.read || err == io.EOF
	})
	return n, err
}

// cutBody ends within the bytes that are read first.
type cutBody struct {
	io.ReadCloser
	rt *Transport
	s  *send
}

func (b *cutBody) Read(p []byte) (n int, err error) {
	if !b.s.cut {
		if n, err = b.ReadCloser.Read(p); n == 0 {
			return n, err
		}
		b.rt.record(func() { b.s.cut = true })
		if n /= 2; n > 0 {
			return n, nil
		}
	}
	if _, discarded := caller(func(f runtime.Frame) bool { return f.Function == "io.discard.ReadFrom" }); !discarded {
		b.rt.record(func() { b.s.noticed = true })
	}
	return 0, io.ErrUnexpectedEOF
}

// line returns the innermost line of a test file that leads to the request.
func line() string {
	f, ok := caller(func(f runtime.Frame) bool { return strings.HasSuffix(f.File, "_test.go") })
	if !ok {
		return "a line unknown"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

func caller(wanted func(runtime.Frame) bool) (runtime.Frame, bool) {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if wanted(f) || !more {
			return f, wanted(f)
		}
	}
}

// pipe returns the server of NewServer with the address, or nil.
func (rt *Transport) pipe(addr string) (p *pipe) {
	rt.record(func() { p = rt.pipes[addr] })
	return p
}

func (rt *Transport) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	p := rt.pipe(addr)
	if p == nil {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	conn, err := p.Dial(ctx, network, addr)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, netError("dial", addr, "connect", errRefused)
	}
	return conn, nil
}

// pipe is the network of a server of NewServer.
type pipe struct {
	*memnet.Network
	server *httptest.Server
	addr   net.TCPAddr
	life   context.Context // of the server
	end    func()
}

func (p *pipe) Close() error   { p.end(); return p.Network.Close() }
func (p *pipe) Addr() net.Addr { return &p.addr }
