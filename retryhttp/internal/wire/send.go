// Package wire sends a request once and says how that ended.
//
// Send is its only way in. Whatever is known about net/http and quic-go stays in this package: the
// texts of their errors (texts.go), what a trace shows (trace.go), when net/http resends a
// request and how to prevent it (route), connections of our own (pool.go), and what happens
// below a wrapper (lower.go). The fate of a request is decided in one place, the method fate.
package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Fate is what is known about the server after a request.
type Fate = errfacts.Fate

// The fates.
const (
	Answered    = errfacts.Answered    // it responded
	Unsent      = errfacts.Unsent      // nothing of the request left
	Unprocessed = errfacts.Unprocessed // it received the request and did not act on it
	Unknown     = errfacts.Uncertain   // anything else: it may have executed the request
)

// Settings are shared by the requests of one call, and are not changed by Send.
type Settings struct {
	Base   http.RoundTripper
	Lower  *Lower          // below Base; nil: there is no wrapper
	Direct *http.Transport // Base; nil: Base is of another type
	Host   *Host           // of the request

	MayRepeat          bool // the request may be executed more than once
	TrustRefusedStream bool
	DistrustGoAway     bool
}

// An Exchange is one request that is sent, and the context through which net/http is observed:
// the context of its Request must be the Exchange, or one whose other methods are those of
// the Exchange. An Exchange is sent once.
type Exchange struct {
	context.Context // of the attempt, with its limits of time
	*Settings
	Request http.Request                  // without GetBody
	GetBody func() (io.ReadCloser, error) // nil: there is no body, or it can be sent only once

	// Alone asks for an HTTP/2 connection that no other request uses when this one is written. A
	// server that closes its connections often may refuse what comes later.
	Alone bool
	// Since, unless it is zero, asks for a connection that was opened after that time. An older one
	// may be dead.
	Since time.Time

	// What Send has found, besides its results.

	Again     bool // the request should be sent again at once
	Malformed bool // the request cannot be sent at all
	Refused   bool // its stream was refused, but that is no proof
	Resends   int  // the times it was sent besides the first: by net/http, or by a wrapper

	empty   bool  // the request has no body
	watched bool  // the trace matters
	pool    *pool // that it leaves over; nil: it is passed to Base

	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc // nil if not needed
	halted atomic.Bool        // net/http must not send the request again
	trace  httptrace.ClientTrace

	mu     sync.Mutex
	state  state
	http2  bool  // or HTTP/3: the latest connection carries concurrent requests
	writes int32 // times the headers were written
	lower  lowerings
	strays int64 // those of Lower at the beginning
	vain   bool  // a wrapper returned an error and had passed nothing on
}

// Send sends the request of x. The response is nil if and only if the error is not, and the
// fate is Answered if and only if there is a response.
func Send(x *Exchange) (*http.Response, Fate, error) {
	x.route()
	resp, err := x.pass()
	last := x.finish(err)
	switch {
	case err != nil:
		resp = nil
	case resp == nil:
		err = retry.Permanent(fmt.Errorf("retryhttp: %T returned neither a response nor an error", x.Base))
	default:
		if x.Lower == nil { // otherwise, the wrapper may have made it
			x.Host.protocol.Store(int32(resp.ProtoMajor))
		}
	}
	if last == stopped && err != nil { // resent over HTTP/1, it may have a response
		err = errUntold
		if x.MayRepeat {
			err = errLost
		}
	}
	if x.cancel != nil {
		x.releaseWith(resp)
	}
	err = legible(err)
	m := meaningOf(err)
	var fate Fate
	fate, x.Again = x.fate(err, m, last)
	x.Malformed = m == malformed
	x.Refused = m == refused && fate == Unknown
	return resp, fate, err
}

// releaseWith frees what the context of x holds, at the latest when the body of resp is closed. resp
// may be nil.
func (x *Exchange) releaseWith(resp *http.Response) {
	if resp == nil || resp.Body == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		x.cancel()
		return
	}
	resp.Body = &heldBody{resp.Body, x.cancel}
}

type heldBody struct {
	io.ReadCloser
	release context.CancelFunc
}

func (b *heldBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// fate returns the fate of the request that ended with err, whose text means m, in the last
// state. again reports whether it should be sent again at once: not if no connection could
// be established, because a server that is down needs a wait.
func (x *Exchange) fate(err error, m meaning, last state) (fate Fate, again bool) {
	switch {
	case err == nil:
		return Answered, false
	case errfacts.SaysUnsent(err):
		return Unsent, false
	case x.vain:
		return Unsent, false
	case x.lower.begun > 0:
		return x.lower.fate(x.MayRepeat)
	case last == stopped:
		return Unknown, x.MayRepeat
	case last == asking, (last == quiet || !x.watched) && isUnsent(err):
		return Unsent, false
	case !x.MayRepeat && x.Direct == nil && last == later:
		return Unknown, false
	case m == notSent:
		return Unsent, true
	case m == turnedAway && (x.MayRepeat || !x.DistrustGoAway):
		return Unprocessed, false
	case m == notTaken && (x.MayRepeat || !x.DistrustGoAway),
		m == refused && (x.MayRepeat || x.TrustRefusedStream):
		return Unprocessed, true
	}
	return Unknown, false // a POST whose response was lost
}

// route decides over which connection the request leaves, by the protocol that the host used
// last. If the host uses another one now, nothing is executed twice, but an error may say less.
//
// net/http resends some requests by itself: over HTTP/1, requests without a body that are
// idempotent in its view, if a reused connection broke; over HTTP/2, all requests without a
// body, after a GOAWAY and after REFUSED_STREAM, which HAProxy also sends when its server
// has executed the request. So a request that must not be executed twice leaves over a connection
// of the host's pool, where net/http resends nothing and returns the reason. So does one that
// needs a new connection. Other requests, and all if Base is not an http.Transport, are
// observed. If Base is a wrapper, the request is routed below it: see Lower.
func (x *Exchange) route() {
	x.empty = x.Request.Body == nil || x.Request.Body == http.NoBody
	protocol := x.Host.protocol.Load()
	if x.Direct != nil && x.Request.URL != nil && x.needsPool(protocol) {
		x.pool = x.Host.poolFor(&x.Request)
	}
	x.watched = x.pool == nil && (x.empty || !x.MayRepeat) && x.Lower == nil
	if protocol != 1 || x.pool != nil || x.empty || x.Direct == nil || x.GetBody == nil || isReplayable(&x.Request) {
		return
	}
	// Over HTTP/1, net/http sends such a request again only if nothing was written.
	x.Request.GetBody = x.GetBody
	if !x.MayRepeat {
		x.Request.GetBody = x.rewind
	}
}

// needsPool reports whether the request has to leave over a connection of the pool: because only
// there it can have one that is new, or because net/http must not send it again.
func (x *Exchange) needsPool(protocol int32) bool {
	http2 := protocol == 2 || protocol == 0 && (x.Request.URL.Scheme == "https" || x.overHTTP2(nil))
	switch {
	case !x.Since.IsZero(), http2 && (x.Alone || x.Host.hasLeft(x.Request.URL.Scheme)):
		return true
	case !x.empty || x.MayRepeat:
		return false
	}
	return http2 || isReplayable(&x.Request)
}

// isReplayable reports whether net/http resends the request over HTTP/1 although the
// server may have processed it, unless it has a body that cannot be rewound.
func isReplayable(req *http.Request) bool {
	_, key := req.Header["Idempotency-Key"]
	_, older := req.Header["X-Idempotency-Key"]
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return key || older
}

// rewind is the GetBody of a request that has a body and must not be executed twice.
// Over HTTP/1, net/http calls it only if nothing was written.
func (x *Exchange) rewind() (io.ReadCloser, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.http2 || x.state == over {
		return nil, errLost
	}
	return x.GetBody()
}

// pass passes the request on.
func (x *Exchange) pass() (*http.Response, error) {
	if x.Lower != nil {
		x.strays = x.Lower.strays.Load()
	}
	if x.pool == nil {
		return x.Base.RoundTrip(&x.Request)
	}
	report(x.Context, Queued)
	conn, held, err := x.pool.get(x)
	switch {
	case err == nil:
		return x.pool.roundTrip(conn, held, &x.Request)
	case meaningOf(err) != noPool:
		x.saw(asking, nil)
		if x.Request.Body != nil {
			_ = x.Request.Body.Close()
		}
		return nil, err
	}
	x.Host.noPool.Store(true)
	x.pool, x.watched = nil, true
	return x.pass()
}

// finish stops observing, because the context may later be used for other requests. It
// returns the last state.
func (x *Exchange) finish(err error) state {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.vain = err != nil && x.Lower != nil && x.lower.begun == 0 && x.strays == x.Lower.strays.Load()
	if x.http2 {
		x.Host.protocol.Store(2)
	}
	last := x.state
	x.state = over
	x.Resends = int(max(0, x.writes-1))
	return last
}
