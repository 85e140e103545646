package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"strings"
)

// A state is what the trace of a request has shown. Events lead from state to state:
//
//	quiet ── GetConn ──▶ asking ── GotConn ──▶ connected ── WroteHeaders ──▶ written
//	written ── GetConn, GotConn, over HTTP/2 without a body ──▶ stopped
//	written ── GetConn, GotConn, WroteHeaders, otherwise ──▶ later
//	all but stopped ── GotFirstResponseByte, without a body ──▶ later
//
// and an error means:
//
//	quiet      Nothing is reported: Base does not use the network, or a connection of the
//	           pool was used. Only an error of dialing proves that nothing was sent.
//	asking     There was no connection: unsent.
//	connected  Nothing was written, unless net/http failed while it was writing.
//	written    The text of the error decides.
//	later      A Base of another type sent another request, after a response (digest
//	           authentication) or over another connection. Its error is about the last.
//	stopped    net/http was about to resend the request without telling why, so its context
//	           was canceled. The outcome is unknown.
type state uint8

const (
	quiet state = iota
	asking
	connected
	written
	later
	stopped
	over // Base has returned
)

// exchangeKey finds the Exchange to which a context belongs.
type exchangeKey struct{}

// look returns the context that net/http sees. It is created on first use, because a
// Base that does not use the network never needs it.
func (x *Exchange) look() context.Context {
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
func (x *Exchange) Done() <-chan struct{} {
	if x.halted.Load() {
		return closed
	}
	return x.look().Done()
}

// Err implements context.Context.
func (x *Exchange) Err() error {
	if x.halted.Load() {
		return context.Canceled
	}
	return x.look().Err()
}

// Value implements context.Context.
func (x *Exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return x
	}
	return x.look().Value(key)
}

// watch creates the context that net/http sees. Each hook costs an allocation, and a
// cancelable context six. Only a Base of another type needs one: it may derive contexts.
func (x *Exchange) watch() {
	x.inner = x.Context
	x.trace.GotConn = func(info httptrace.GotConnInfo) { x.saw(connected, info.Conn) }
	if x.empty || x.Direct == nil {
		x.trace.WroteHeaders = func() { x.saw(written, nil) }
	}
	if x.Direct == nil || !x.MayRepeat {
		x.trace.GetConn = func(string) { x.saw(asking, nil) }
	}
	if x.Direct == nil && x.empty {
		x.inner, x.cancel = context.WithCancel(x.Context)
		x.trace.GotFirstResponseByte = func() { x.saw(later, nil) }
		x.trace.WroteHeaderField = func(name string, _ []string) {
			x.mu.Lock()
			x.http2 = x.http2 || strings.HasPrefix(name, ":")
			x.mu.Unlock()
		}
	}
	x.inner = httptrace.WithClientTrace(x.inner, &x.trace)
}

// saw notes an event that leads to the state next. If it obtained a connection, conn is that.
func (x *Exchange) saw(next state, conn net.Conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if next == written {
		x.writes++
	}
	switch {
	case x.state >= stopped:
		return
	case x.state == written && x.empty && x.http2 && next < written: // to resend the request
		x.state = stopped
		x.halted.Store(true)
		if x.cancel != nil {
			x.cancel()
		}
	case x.state == written:
		x.state = later
	default:
		x.state = max(x.state, next)
	}
	if next == connected {
		x.http2 = x.overHTTP2(conn)
	}
}

func (x *Exchange) overHTTP2(conn net.Conn) bool {
	if c, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		return c.ConnectionState().NegotiatedProtocol == "h2"
	}
	if x.Direct != nil {
		p := x.Direct.Protocols
		return p != nil && p.UnencryptedHTTP2() && !p.HTTP1()
	}
	return x.http2
}
