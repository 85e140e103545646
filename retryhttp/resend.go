package retryhttp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
)

// This file limits net/http's silent retries within one attempt. They cannot be
// switched off, so trace hooks count the sends and stop an unwanted send when net/http
// has a connection but has not used it yet. Without a GetBody, net/http cannot resend a
// body.

// errLost is the error of a stopped attempt. It replaces net/http's error, which reports
// a canceled request.
var errLost error = lostError{}

type lostError struct{}

func (lostError) Error() string {
	return "no response: the connection was lost or the HTTP/2 stream was reset"
}

// ConnectionError makes the error transient for retry.DefaultClassifier.
func (lostError) ConnectionError() bool { return true }

// watch creates the context that net/http sees. If Base is an http.Transport, a send is
// stopped through CancelRequest and the request's Cancel, because a cancelable context
// costs six allocations per request. Other RoundTrippers may send requests of their
// own, which can be stopped only through their context.
func (a *attempt) watch() {
	a.inner = a.Context
	a.trace.GotConn, a.trace.WroteHeaders = a.gotConn, a.wroteHeaders
	if !a.mayRepeat {
		a.trace.GetConn = a.getConn
	}
	if a.direct == nil {
		a.trace.GetConn = a.getConn
		a.trace.GotFirstResponseByte = a.responded
		if a.empty {
			a.inner, a.cancel = context.WithCancelCause(a.Context)
			a.trace.WroteHeaderField = a.wroteHeaderField
		}
	}
	a.inner = httptrace.WithClientTrace(a.inner, &a.trace)
}

func (a *attempt) getConn(string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = true
	// Avoid a needless dial. Over HTTP/1 the dial may be needed.
	if a.direct == nil && !a.over && a.sent > 0 && a.http2 && !a.mayRepeat {
		a.stop()
	}
}

func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.conns++
	last := a.conn
	a.conn = info.Conn
	if !a.empty || a.mayRepeat && a.sent == 0 {
		return
	}
	http2 := a.overHTTP2(info.Conn)
	if a.sent > 0 && !a.mayResend(http2, info.Conn == last) {
		a.stop()
		if !http2 {
			abandonConn(info.Conn)
		}
	}
	// After the context ends, the request must not be changed, because net/http may
	// still be writing it to an earlier connection.
	if a.direct != nil && !a.mayRepeat && http2 && !a.stopped && a.Context.Err() == nil {
		a.request.Body, a.request.GetBody = emptyBody{}, a.takeBack
	}
}

// abandonConn closes an HTTP/1 connection: net/http would write to it without checking
// the context again. Closing a fake connection, such as one for QUIC, may panic.
func abandonConn(conn net.Conn) {
	defer func() { _ = recover() }()
	_ = conn.Close()
}

func (a *attempt) overHTTP2(conn net.Conn) bool {
	if c, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		return c.ConnectionState().NegotiatedProtocol == "h2"
	}
	if a.direct != nil {
		p := a.direct.Protocols
		return p != nil && p.UnencryptedHTTP2() && !p.HTTP1()
	}
	return a.http2
}

// mayResend reports whether net/http may resend a request without a body.
func (a *attempt) mayResend(http2, sameConn bool) bool {
	switch {
	case !http2:
		// net/http resends a request that must not be executed twice only if nothing
		// was written.
		return !a.mayRepeat
	case !a.mayRepeat:
		return false // net/http also resends after a stream reset, when the request may have been processed
	}
	// One resend is allowed, so that a graceful GOAWAY does not cost an attempt. The
	// same connection would refuse the stream again, and net/http waits for seconds
	// before a third send.
	return a.sent < 2 && !sameConn
}

func (a *attempt) stop() {
	a.stopped = true
	if a.cancel != nil {
		a.cancel(errLost)
	} else if a.direct != nil {
		//lint:ignore SA1019 net/http reads it when it sends a request over HTTP/2
		a.request.Cancel = closed
		//lint:ignore SA1019 for HTTP/1; the context cannot be canceled: see watch
		a.direct.CancelRequest(&a.request)
	}
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (a *attempt) wroteHeaders() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.sent++
	if a.request.GetBody != nil {
		a.request.GetBody = nil
	}
}

func (a *attempt) wroteHeaderField(name string, _ []string) {
	if strings.HasPrefix(name, ":") {
		a.mu.Lock()
		a.http2 = true
		a.mu.Unlock()
	}
}

// responded resets the count of sends: a RoundTripper may send another request after a
// response, for example for digest authentication.
func (a *attempt) responded() {
	a.mu.Lock()
	a.sent = 0
	a.mu.Unlock()
}

// emptyBody is given to a request that has no body and must not be executed twice, just
// before the request is sent over HTTP/2. With a body, net/http's error distinguishes a
// GOAWAY, which proves that the request was not processed, from a stream reset.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// takeBack is the GetBody for an emptyBody until the headers are written. net/http
// calls it if the connection becomes unusable before that. takeBack removes the
// emptyBody, because net/http recognizes only its own http.NoBody as empty.
func (a *attempt) takeBack() (io.ReadCloser, error) {
	a.request.Body, a.request.GetBody = nil, nil
	return http.NoBody, nil
}

func (a *attempt) lost() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// unsent reports whether it is certain that no server processed the request, which
// failed with err. If trust is set, a refused stream is proof.
func (a *attempt) unsent(err error, trust bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	proof := isGoAway(err) || trust && isRefused(err)
	switch {
	case !a.watched: // a retry is allowed anyway
		return proof || isDial(err)
	case a.conns == 0: // other RoundTrippers may never report connections
		return a.asked || proof || isDial(err)
	}
	// The absence of reported headers proves nothing: when the context ends, net/http
	// returns while it is still writing them. After several sends, err is about the
	// last send only.
	return proof && a.sent <= 1 && (a.direct != nil || a.conns == 1)
}
