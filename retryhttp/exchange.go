package retryhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gobackoff/retry"
)

// An exchange is one request passed to Base, and its context, through which it observes
// what net/http does.
//
// net/http resends some requests by itself: over HTTP/1, requests without a body that are
// idempotent in its view, if a reused connection broke; over HTTP/2, all requests without a
// body, after a GOAWAY and after REFUSED_STREAM, which HAProxy also sends when its server
// has executed the request. So a request that must not be executed twice, and one that is
// sent again, leaves over a connection of the host's pool, where net/http resends nothing
// and returns the reason. Other requests, and all if Base is not an http.Transport, are
// observed. Their trace leads from state to state:
//
//	quiet ── GetConn ──▶ asking ── GotConn ──▶ connected ── WroteHeaders ──▶ written
//	written ── GetConn, GotConn, over HTTP/2 without a body ──▶ stopped
//	written ── GetConn, GotConn, WroteHeaders, otherwise ──▶ later
//	all but stopped ── GotFirstResponseByte, without a body ──▶ later
//
// and their error means:
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
type exchange struct {
	context.Context // the attempt's, with its time limit
	*settings
	number    int
	request   http.Request // its context is the exchange
	ambiguous bool         // an earlier exchange may have been executed
	gaveUp    *retry.Error // why the call returns the response, if it would have been retried

	empty   bool  // the request has no body
	single  bool  // net/http must not send it again, even if it may be repeated
	wrapped bool  // it is sent through what Transport.Wrap returned: see lower
	watched bool  // the trace matters
	pool    *pool // that it leaves over; nil: it is passed to Base

	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc // nil if not needed
	halted atomic.Bool        // net/http must not send the request again
	trace  httptrace.ClientTrace

	mu     sync.Mutex
	state  state
	writes int  // times the headers were written
	http2  bool // or HTTP/3: the latest connection carries concurrent requests
	lower  lowerings
}

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
	x.trace.GotConn = func(info httptrace.GotConnInfo) { x.saw(connected, info.Conn) }
	if x.empty || x.direct == nil {
		x.trace.WroteHeaders = func() { x.saw(written, nil) }
	}
	if x.direct == nil || !x.mayRepeat {
		x.trace.GetConn = func(string) { x.saw(asking, nil) }
	}
	if x.direct == nil && x.empty {
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
func (x *exchange) saw(next state, conn net.Conn) {
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
		x.release()
	case x.state == written:
		x.state = later
	default:
		x.state = max(x.state, next)
	}
	if next == connected {
		x.http2 = x.overHTTP2(conn)
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

// An outcome is what became of an exchange.
type outcome struct {
	response *http.Response // nil if and only if err is not
	err      error
	meaning  meaning // of err
	end      ending
	again    bool // the request should be sent again at once
	resends  int  // by net/http, or by a RoundTripper below Transport.Wrap
}

// roundTrip sends the request to Base, or through what Transport.Wrap returned.
func (x *exchange) roundTrip() outcome {
	var o outcome
	o.response, o.err = x.send()
	last, resends := x.finish()
	o.resends = resends
	switch {
	case o.err != nil:
		o.response = nil
	case o.response == nil:
		o.err = retry.Permanent(fmt.Errorf("retryhttp: %T returned neither a response nor an error", x.transport.top()))
	default:
		x.host.responses.Add(1)
		if !x.wrapped { // the wrapper may have made it
			x.host.protocol.Store(int32(o.response.ProtoMajor))
		}
	}
	if last == stopped && o.err != nil { // resent over HTTP/1, it may have a response
		if o.err = errUntold; x.mayRepeat {
			o.err = errLost
		}
	}
	o.err = legible(o.err)
	o.meaning = meaningOf(o.err)
	o.end, o.again = x.ending(o.err, o.meaning, last)
	return o
}

// send passes the request on.
func (x *exchange) send() (*http.Response, error) {
	if x.wrapped {
		return x.transport.top().RoundTrip(&x.request)
	}
	if x.pool == nil {
		return x.transport.base().RoundTrip(&x.request)
	}
	conn, own, err := x.pool.get(x, x.direct, x.request.URL.Scheme, x.host.String())
	switch {
	case err == nil:
		return x.pool.roundTrip(conn, own, &x.request)
	case meaningOf(err) != noPool:
		x.saw(asking, nil)
		return nil, err
	}
	x.host.noPool.Store(true)
	x.pool, x.watched = nil, true
	return x.send()
}

// finish stops observing, because the context may later be used for other requests. It
// returns the last state and the number of resends by net/http.
func (x *exchange) finish() (last state, resends int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.http2 {
		x.host.protocol.Store(2)
	}
	last, x.state = x.state, over
	return last, max(0, x.writes-1)
}

func (x *exchange) release() {
	if x.cancel != nil {
		x.cancel()
	}
}

// An ending is what is known about the server when an exchange ends.
type ending uint8

const (
	answered    ending = iota // it responded
	unsent                    // nothing of the request left
	unprocessed               // it received the request and did not act on it
	unknown
)

// ending returns how the exchange ended with err, whose text means m, in the last state.
// again reports whether the request should be sent again at once: not if no connection
// could be established, because a server that is down needs a wait.
func (x *exchange) ending(err error, m meaning, last state) (end ending, again bool) {
	switch {
	case err == nil:
		return answered, false
	case isUnsent(err):
		return unsent, false
	case x.lower.begun > 0:
		return x.lower.ending(x.mayRepeat)
	case last == stopped:
		return unknown, x.mayRepeat
	case last == asking, (last == quiet || !x.watched) && isDial(err):
		return unsent, false
	case !x.mayRepeat && x.direct == nil && last == later:
		return unknown, false
	case m == notSent:
		return unsent, true
	case m == notTaken && (x.mayRepeat || !x.transport.DistrustGoAway),
		m == refused && (x.mayRepeat || x.transport.TrustRefusedStream):
		return unprocessed, true
	}
	return unknown, false
}

// Unsent returns err, marked so that a Transport knows that nothing of the request was sent: it
// may be retried whatever its method. It is for a RoundTripper below a Transport, as its Base,
// that fails before it sends the request, such as one that could not get a token. It keeps
// the text of err and what errors.Is and errors.As find. Unsent(nil) is nil.
func Unsent(err error) error {
	if err == nil {
		return nil
	}
	return &unsentError{err}
}

type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

// isUnsent reports whether a Base has marked err. Like isDial, it does not look into joined
// errors.
func isUnsent(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if _, ok := err.(*unsentError); ok {
			return true
		}
	}
	return false
}

// isDial reports whether err means that no connection could be established. It does not
// look into joined errors, because one of them may be about a request that was sent.
func isDial(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if op, ok := err.(*net.OpError); ok && slices.Contains([]string{"dial", "proxyconnect", "socks connect"}, op.Op) {
			return true
		}
	}
	return false
}

// errLost and errUntold are the errors of stopped exchanges. They replace net/http's
// error, which reports a canceled request.
const (
	errLost   lostError = "no response: the connection was lost or the stream was reset"
	errUntold lostError = errLost + " (net/http does not tell the reason for a request without a body: see Transport.Wrap)"
)

type lostError string

func (e lostError) Error() string { return string(e) }

// ConnectionError makes the error transient for retry.DefaultClassifier.
func (lostError) ConnectionError() bool { return true }

// A meaning is what the text of an error says about the request.
type meaning uint8

const (
	notKnown  meaning = iota
	malformed         // it cannot be sent at all
	notSent           // a connection ended before the request was written
	notTaken          // its stream is above the last that a GOAWAY accepts
	refused           // its stream was refused: see Transport.TrustRefusedStream
	noPool            // the http.Transport's HTTP/2 is an old golang.org/x/net/http2
)

// messages lists errors of net/http and quic-go that have no exported value or type. If
// a text changes, fewer requests are retried, which is safe.
var messages = [...]struct {
	meaning        meaning
	prefix, suffix string // of the text
}{
	{notTaken, "http2: Transport received Server's graceful shutdown GOAWAY", ""},
	{notTaken, "http2: Transport received GOAWAY from server ErrCode:", ""},
	{notSent, "http2: client conn not usable", ""},
	{notSent, "http2: client conn could not be established", ""},
	{notSent, "http2: no cached connection was available", ""},
	{notSent, "ClientConn closed", ""}, // before it took the request
	{notSent, noRewind, ""},
	{notSent, "http3: conn unusable: ", ""},
	{refused, "stream error: stream ID ", "; REFUSED_STREAM"},
	{refused, "stream error: stream ID ", "; REFUSED_STREAM; received from peer"},
	{refused, "H3_REQUEST_REJECTED", ""},
	{noPool, "http: HTTP/2 implementation does not support NewClientConn", ""},
	{malformed, "unsupported protocol scheme ", ""},
	{malformed, "http3: unsupported protocol scheme: ", ""},
	{malformed, "net/http: invalid ", ""}, // header, trailer, method
	{malformed, "http3: invalid ", ""},
	{malformed, "net/http: request canceled", ""}, // by the caller, through its Cancel
	{malformed, "http: no Host in request URL", ""},
	{malformed, "http3: no Host in request URL", ""},
	{malformed, "http: nil Request.", ""},
	{malformed, "http3: nil Request.", ""},
	{malformed, "http: ContentLength=", ""},
	{malformed, "http: Request.ContentLength=", ""},
	{malformed, "http: server gave HTTP response to HTTPS client", ""},
	{malformed, "http2: request body larger than specified content length", ""},
	{malformed, "http2: request header list larger than peer's advertised limit", ""},
}

// noRewind is the text of net/http's error if HTTP/2 had no usable connection for a
// request that has a body and no GetBody.
const noRewind = "net/http: cannot rewind body after connection loss"

// meaningOf returns the meaning of err or of the first error within it that has one.
func meaningOf(err error) meaning {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		for _, m := range messages {
			if strings.HasPrefix(text, m.prefix) && strings.HasSuffix(text, m.suffix) {
				return m.meaning
			}
		}
	}
	return notKnown
}

// legible removes from err what net/http and quic-go say about a missing GetBody,
// because the Transport itself removed it.
func legible(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if text == noRewind {
		return &clearerError{"http2: connection became unusable before the request was written", err}
	}
	if _, rest, ok := strings.Cut(text, ": Transport: cannot retry err ["); ok { // after http2 or http3
		if reason, _, ok := strings.Cut(rest, "] after Request.Body was written"); ok {
			return &clearerError{reason, err}
		}
	}
	return err
}

type clearerError struct {
	text string
	err  error
}

func (e *clearerError) Error() string { return e.text }
func (e *clearerError) Unwrap() error { return e.err }

// rewind is the GetBody of a request that has a body and must not be executed twice.
// Over HTTP/1, net/http calls it only if nothing was written.
func (x *exchange) rewind(getBody func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.http2 || x.state == over {
		return nil, errLost
	}
	return getBody()
}
