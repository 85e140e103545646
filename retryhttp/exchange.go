package retryhttp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
)

// exchange is one request passed to Base, and its context, through which it observes
// what net/http does.
type exchange struct {
	context.Context // the attempt's, with its time limit
	*settings
	number    int
	request   http.Request // its context is the exchange
	ambiguous bool         // an earlier exchange may have been executed

	watched bool // the trace matters
	single  bool // the reason of a failure over HTTP/2 must be known
	empty   bool // the request has no body
	given   bool // except for an emptyBody

	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc // nil if not needed
	halted atomic.Bool        // net/http must not send the request (again)
	trace  httptrace.ClientTrace

	mu     sync.Mutex
	phase  phase
	writes int  // times the headers were written
	http2  bool // or HTTP/3: the latest connection carries concurrent requests
}

type exchangeKey struct{}

// look returns the context that net/http sees. It is created on first use, because a
// Base that does not use the network never needs it.
func (x *exchange) look() context.Context {
	if !x.watched {
		return x.Context
	}
	x.once.Do(x.watch)
	return x.inner
}

// closed is the Done channel of a halted exchange. For HTTP/2, net/http calls Done and Err of
// the exchange itself, so that no cancelable context is needed.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done implements context.Context.
func (x *exchange) Done() <-chan struct{} {
	if x.halted.Load() {
		return closed
	}
	return x.look().Done()
}

// Err implements context.Context.
func (x *exchange) Err() error {
	if x.halted.Load() {
		return context.Canceled
	}
	return x.look().Err()
}

// Value implements context.Context.
func (x *exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return x
	}
	return x.look().Value(key)
}

// watch creates the context that net/http sees. Each hook costs an allocation, and a
// cancelable context six. Only a Base of another type needs one: it may derive contexts.
func (x *exchange) watch() {
	x.inner = x.Context
	x.trace.GotConn = func(info httptrace.GotConnInfo) { x.saw(obtained, info.Conn) }
	if x.empty || x.direct == nil {
		x.trace.WroteHeaders = func() { x.saw(wrote, nil) }
	}
	if x.direct == nil || !x.mayRepeat {
		x.trace.GetConn = func(string) { x.saw(asked, nil) }
	}
	if x.direct == nil {
		x.trace.GotFirstResponseByte = func() { x.saw(heard, nil) }
		if x.empty && !x.given {
			x.inner, x.cancel = context.WithCancel(x.Context)
			x.trace.WroteHeaderField = func(name string, _ []string) {
				x.mu.Lock()
				x.http2 = x.http2 || strings.HasPrefix(name, ":")
				x.mu.Unlock()
			}
		}
	}
	x.inner = httptrace.WithClientTrace(x.inner, &x.trace)
}

// saw notes an event. If it obtained a connection, conn is that.
func (x *exchange) saw(e event, conn net.Conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.http2 && (e == asked || e == obtained) && (x.phase == written || x.phase == rewriting) {
		x.stop(stopped) // net/http would not say why it resends: the request may have been processed
	}
	x.phase = transitions[x.phase][e]
	switch {
	case e == wrote && x.phase != over:
		x.writes++
	case e == obtained:
		if x.http2 = x.overHTTP2(conn); x.http2 && x.single && x.phase == connected {
			x.stop(held) // the next exchange has a body
		}
	}
}

// stop prevents net/http from sending a request that has no body at all. It does not resend
// others over HTTP/2.
func (x *exchange) stop(p phase) {
	if x.empty && !x.given {
		x.phase = p
		x.halted.Store(true)
		x.release()
	}
}

func (x *exchange) overHTTP2(conn net.Conn) bool {
	if c, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		return c.ConnectionState().NegotiatedProtocol == "h2"
	}
	if x.direct != nil {
		p := x.direct.Protocols
		return p != nil && p.UnencryptedHTTP2() && !p.HTTP1()
	}
	return x.http2
}

// end stops observing, because the context may later be used for other requests. It
// returns the last phase and the number of resends by net/http.
func (x *exchange) end() (last phase, resends int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	last, x.phase = x.phase, over
	return last, max(0, x.writes-1)
}

func (x *exchange) release() {
	if x.cancel != nil {
		x.cancel()
	}
}

// emptyBody is the body of a request that has none. With it, net/http does not resend
// the request, and its error distinguishes a GOAWAY, which proves that the request was
// not processed, from a stream reset.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// rewind is the GetBody of a request that has a body and must not be executed twice.
// Over HTTP/1, net/http calls it only if nothing was written.
func (x *exchange) rewind(getBody func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.http2 || x.phase == over {
		return nil, errLost
	}
	return getBody()
}
