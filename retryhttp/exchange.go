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
)

// exchange is one request passed to Base, and its context, through which it observes
// what net/http does.
type exchange struct {
	context.Context // the attempt's, with its time limit
	number          int
	request         http.Request // its context is the exchange
	ambiguous       bool         // an earlier exchange may have been executed

	watched   bool // the trace matters
	mayRepeat bool
	single    bool            // net/http must not resend the request over HTTP/2
	empty     bool            // the request has no body
	given     bool            // except for an emptyBody from the beginning
	direct    *http.Transport // nil: Base is of another type

	once   sync.Once
	inner  context.Context
	cancel context.CancelCauseFunc // nil if not needed
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

// Done implements context.Context.
func (x *exchange) Done() <-chan struct{} { return x.look().Done() }

// Err implements context.Context.
func (x *exchange) Err() error { return x.look().Err() }

// Value implements context.Context.
func (x *exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return x
	}
	return x.look().Value(key)
}

// watch creates the context that net/http sees. Each hook costs an allocation, and a
// cancelable context six. Only a Base of another type needs one: the body of its request
// cannot be changed later.
func (x *exchange) watch() {
	x.inner = x.Context
	x.trace.GotConn = x.gotConn
	if x.empty || x.direct == nil {
		x.trace.WroteHeaders = x.wroteHeaders
	}
	if x.direct == nil || !x.mayRepeat {
		x.trace.GetConn = x.getConn
	}
	if x.direct == nil {
		x.trace.GotFirstResponseByte = x.gotResponse
		if x.empty && !x.given {
			x.inner, x.cancel = context.WithCancelCause(x.Context)
			x.trace.WroteHeaderField = x.wroteHeaderField
		}
	}
	x.inner = httptrace.WithClientTrace(x.inner, &x.trace)
}

func (x *exchange) getConn(string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stopResend()
	x.phase = transitions[x.phase][asked]
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stopResend()
	x.phase = transitions[x.phase][obtained]
	if x.http2 = x.overHTTP2(info.Conn); !x.http2 || !x.empty || x.given {
		return
	}
	switch {
	case x.cancel != nil && x.phase == connected && x.single:
		x.stop(held) // the next exchange has a body from the beginning
	// After the context ends, the request must not be changed, because net/http may
	// still be writing it to an earlier connection.
	case x.direct != nil && (x.single || x.writes > 0) && x.Context.Err() == nil:
		x.request.Body, x.request.GetBody = emptyBody{}, x.takeBack
	}
}

// stopResend prevents net/http from resending a request without a body over HTTP/2. It
// does not report why it would: the request may have been processed.
func (x *exchange) stopResend() {
	if x.cancel != nil && x.http2 && x.writes > 0 && (x.phase == written || x.phase == rewriting) {
		x.stop(stopped)
	}
}

func (x *exchange) stop(p phase) {
	x.phase = p
	x.cancel(errLost)
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

func (x *exchange) wroteHeaderField(name string, _ []string) {
	if strings.HasPrefix(name, ":") {
		x.mu.Lock()
		x.http2 = true
		x.mu.Unlock()
	}
}

func (x *exchange) wroteHeaders() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.phase = transitions[x.phase][wrote]; x.phase == over {
		return
	}
	x.writes++
	if x.direct != nil && !x.given && x.request.GetBody != nil {
		x.request.GetBody = nil
	}
}

func (x *exchange) gotResponse() {
	x.mu.Lock()
	x.phase = transitions[x.phase][heard]
	x.mu.Unlock()
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
		x.cancel(nil)
	}
}

// emptyBody is the body of a request that has none. With it, net/http does not resend
// the request, and its error distinguishes a GOAWAY, which proves that the request was
// not processed, from a stream reset.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// takeBack is the GetBody for an emptyBody set by gotConn. net/http calls it if the
// connection becomes unusable before the headers are written. It then either uses the
// result, or begins again with the request, in which it does not expect an emptyBody.
func (x *exchange) takeBack() (io.ReadCloser, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.request.GetBody == nil { // they were written, from a copy of the request
		return nil, errLost
	}
	x.request.Body, x.request.GetBody = nil, nil
	return emptyBody{}, nil
}

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
