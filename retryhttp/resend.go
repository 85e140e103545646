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

// This file limits the silent retries of net/http within one attempt.
//
// They cannot be switched off, so trace hooks count the sends. An unwanted send is
// stopped when net/http has the connection and has not used it yet. Requests with a
// body need none of this: without a GetBody, net/http cannot send them twice.

// errLost is the error of an attempt that was stopped. It replaces net/http's error,
// which would be that of a canceled request.
var errLost error = lostError{}

type lostError struct{}

func (lostError) Error() string {
	return "no response: the connection was lost or the HTTP/2 stream was reset"
}

// ConnectionError makes it transient for retry.DefaultClassifier.
func (lostError) ConnectionError() bool { return true }

// watch creates the context that net/http sees.
//
// An http.Transport is stopped through its own CancelRequest and the request's
// Cancel, because a context that can be canceled costs six allocations per request.
// Other RoundTrippers pass on their own requests, which can only be reached through
// their context.
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
	// Avoid dialing a connection that is not needed. Over HTTP/1 it is not known
	// yet whether it is needed.
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
	// When its context ends, net/http does not wait for the goroutine that still
	// writes the request to an earlier connection.
	if a.direct != nil && !a.mayRepeat && http2 && !a.stopped && a.Context.Err() == nil {
		a.request.Body, a.request.GetBody = emptyBody{}, a.takeBack
	}
}

// abandonConn closes an HTTP/1 connection, which belongs to one request: net/http
// would write to it without checking the context again. Fake connections, such as
// those of QUIC, may panic.
func abandonConn(conn net.Conn) {
	defer func() { _ = recover() }()
	_ = conn.Close()
}

// overHTTP2 reports whether a connection uses HTTP/2.
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

// mayResend reports whether net/http may send a request without a body again.
func (a *attempt) mayResend(http2, sameConn bool) bool {
	switch {
	case !http2:
		// net/http resends a request that must not be repeated only if nothing was
		// written.
		return !a.mayRepeat
	case !a.mayRepeat:
		return false // net/http also resends after a stream reset, although the request may have been processed
	}
	// Once, so that a graceful GOAWAY does not cost an attempt. But not over the
	// same connection, where the stream was refused: it would be refused again,
	// and net/http waits for seconds before it sends a third time.
	return a.sent < 2 && !sameConn
}

// stop prevents net/http from sending the request.
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

// responded records a response. A RoundTripper may send another request
// after it, for example for digest authentication; that request counts
// separately.
func (a *attempt) responded() {
	a.mu.Lock()
	a.sent = 0
	a.mu.Unlock()
}

// emptyBody is given to a request without a body that must not be executed twice,
// when it is about to be sent over HTTP/2. With a body, the error of net/http
// distinguishes a GOAWAY, which proves that the request was not processed, from a
// stream reset, which does not.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// takeBack is the GetBody of a request with an emptyBody until its headers are
// written. net/http calls it if the connection became unusable before that. It
// removes the body again, because net/http expects a body of its own type.
func (a *attempt) takeBack() (io.ReadCloser, error) {
	a.request.Body, a.request.GetBody = nil, nil
	return http.NoBody, nil
}

// lost reports whether the attempt was stopped.
func (a *attempt) lost() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// unsent reports whether it is certain that no server has processed the request of
// the attempt, which failed with err. If trust is set, a refused stream is proof.
func (a *attempt) unsent(err error, trust bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	proof := isGoAway(err) || trust && isRefused(err)
	switch {
	case !a.watched: // the request may be repeated anyway
		return proof || isDial(err)
	case a.conns == 0: // RoundTrippers other than http.Transport may never report connections
		return a.asked || proof || isDial(err)
	}
	// Unreported headers prove nothing: when its context ends, net/http returns
	// while they are being written. If the request was sent more than once, err is
	// about the last time only.
	return proof && a.sent <= 1 && (a.direct != nil || a.conns == 1)
}
