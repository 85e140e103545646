package retryhttp

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
)

// A Transport is an [http.RoundTripper] that repeats requests that fail, as its
// Policy says, where a repetition can do no harm. The zero Transport sends
// through [http.DefaultTransport] under the zero [retry.Policy], and makes up to
// three attempts.
//
// It repeats a request if that may be executed more than once (see MayRepeat),
// or if it is certain that the server has not processed it, and in either case
// only if its body can be sent again. The package comment has the rules.
//
// A Transport may be shared by any number of clients and goroutines, and should
// be. Its fields must not be changed once it is in use.
type Transport struct {
	// Base makes the single attempts. nil: http.DefaultTransport. An http.Transport
	// is known in detail: over others, an attempt costs some allocations more, and a
	// POST without a body fails after a graceful GOAWAY. The bodies of its responses
	// should let Close be called during a Read, as those of net/http do.
	Base http.RoundTripper

	// Policy says when to try again. In its Classifier and hooks a response
	// with a status of 400 or above is a *StatusError; InfoOf and InfoFrom tell them
	// which request they deal with. WithPolicy sets another one for a request, and
	// WithoutRetry none. AttemptTimeout limits an
	// attempt until the response's body has been closed; it does not limit a
	// connection that has switched protocols. With a nil Hint, Retry-After and
	// its relatives are followed, up to a tenth later so that clients do not
	// come back together, if they ask for a minute or less; else the response is
	// returned at once. An attempt ends when the headers have arrived, so what
	// OnAttempt returns must not end a context that the body is read with.
	Policy retry.Policy

	// MayRepeat reports whether a request may be executed more than once. It
	// must be safe for concurrent use. nil: IsIdempotent.
	MayRepeat func(*http.Request) bool

	// Unprocessed are statuses, besides 421, 425, 429 and what means 429, that this
	// server sends only if it has done nothing, so that requests of every kind may
	// be repeated, if the Classifier finds the status worth a retry. 503 is not one
	// by default: proxies also send it when a server has vanished in the middle of
	// a request.
	Unprocessed []int

	// TrustRefusedStream lets a request that must not be executed twice be repeated
	// when its HTTP/2 stream was reset with REFUSED_STREAM. RFC 9113 promises that
	// such a request was not processed, but proxies break the promise: HAProxy
	// also resets so if a server closes the connection after it has executed the
	// request. Set it for servers that are known to keep it. A GOAWAY that does
	// not accept the stream is believed in any case.
	TrustRefusedStream bool

	// Check sees each response before it is returned, and each that is about to be
	// retried, and returns an error if it is a failure, whatever its status: one
	// such as a GraphQL server sends with 200, or a 403 whose body says that it
	// is throttling. The error is classified like that of an operation, so mark it
	// with retry.Permanent, retry.Transient or retry.Throttled; the last says, as
	// the status 429 does, that the request has not been processed. If no
	// retry follows, the response is returned, not the error. For nil, the status
	// decides.
	//
	// peek returns the beginning of the body, of at most n bytes, and waits for
	// that; the body is then read from its beginning as if nobody had looked. A
	// Check that does not call it leaves the body, which may be an endless
	// stream, alone. Its error is that of reading the body. Check must not
	// change the response or the bytes, and must be safe for concurrent use.
	Check func(resp *http.Response, peek func(n int) ([]byte, error)) error

	// MaxBuffer lets a request that has a body and no GetBody be repeated, too:
	// what is read of the body while it is sent is kept in memory, up to this
	// many bytes. A longer body is sent once. 0 or less: every such request is
	// sent once.
	MaxBuffer int64

	// AttemptHeader is the name of a header that tells the server the number of
	// the attempt, 1 for the first. "": none.
	AttemptHeader string

	// PerHost has a Budget for each host, in the place of the Policy's. nil:
	// the Policy's Budget is for all hosts together.
	PerHost *PerHost
}

// NewClient returns a client that sends through a [Transport] with that policy.
func NewClient(p retry.Policy) *http.Client {
	return &http.Client{Transport: &Transport{Policy: p}}
}

// RoundTrip sends req, if need be more than once, and returns the last response,
// whatever its status, as it came from Base: so the last of several failures is
// a response and not an error if the server gave one. The context of its Request
// knows the number of the attempt (see [AttemptNumber]), and lives as long as
// that of req.
//
// There is an error if the last attempt brought no response; if the context
// of req ended, also during a wait; if a body for the next attempt cannot be
// had; and if the Policy is invalid. It is a
// [*retry.Error] that says why there was no further attempt, or the attempt's
// own error if that is permanent.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	p, ok := t.policyFor(req)
	if !ok {
		return t.base().RoundTrip(req)
	}
	c := &call{Context: req.Context(), transport: t, request: req, mayRepeat: t.mayRepeat(req)}
	c.direct, _ = t.base().(*http.Transport)
	if c.limit = p.AttemptTimeout; c.limit > 0 {
		p.AttemptTimeout = 0 // it would end with the headers: see call.limited
	}
	c.takeBody()
	defer c.recording.finish()
	returned := false
	defer func() {
		if !returned {
			c.abandon()
		}
	}()
	err := retry.Do(c, p, c.send)
	returned = true
	return c.result(err)
}

// CloseIdleConnections passes on the call of the method of [http.Client].
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// policyFor returns the policy for a request, with what is special to HTTP; false if
// the request is to be sent as if there were no Transport.
func (t *Transport) policyFor(req *http.Request) (retry.Policy, bool) {
	p := t.Policy
	if own, ok := req.Context().Value(policyKey{}).(*retry.Policy); ok {
		if own == nil {
			return p, false
		}
		p = *own
	}
	if sdkRepeats(req.Header) {
		p.MaxAttempts = 1
	}
	if p.Hint == nil {
		p.Hint = defaultHint{p.Rand}
	}
	if t.PerHost != nil && req.URL != nil {
		p.Budget = t.PerHost.Budget(req.URL)
	}
	if next := p.OnRetry; next == nil {
		p.OnRetry = discardResponse
	} else {
		p.OnRetry = func(ctx context.Context, failed retry.Attempt, wait time.Duration) {
			discardResponse(ctx, failed, wait)
			next(ctx, failed, wait)
		}
	}
	return p, true
}

type policyKey struct{}

// WithPolicy returns a context for requests that are to be made under p in the
// place of the Transport's Policy. A PerHost of the Transport still replaces the Budget.
func WithPolicy(ctx context.Context, p retry.Policy) context.Context {
	return context.WithValue(ctx, policyKey{}, &p)
}

// WithoutRetry returns a context for requests that a Transport hands to its Base as
// they are: not repeated, not limited in time and not observed. What Base repeats by
// itself it then repeats, too.
func WithoutRetry(ctx context.Context) context.Context {
	return context.WithValue(ctx, policyKey{}, (*retry.Policy)(nil))
}

func (t *Transport) mayRepeat(req *http.Request) bool {
	if t.MayRepeat == nil {
		return IsIdempotent(req)
	}
	return t.MayRepeat(req)
}

func (t *Transport) now() time.Time {
	if t.Policy.Clock == nil {
		return time.Now()
	}
	return t.Policy.Clock.Now()
}
