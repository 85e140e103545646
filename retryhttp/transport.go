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
	// Base makes the single attempts. nil: http.DefaultTransport. It must not
	// change requests, as http.RoundTripper demands, and its answers' bodies
	// should let Close be called during a Read, as those of net/http do.
	Base http.RoundTripper

	// Policy says when to try again. In its Classifier and hooks an answer
	// with a status of 400 or above is a *StatusError. AttemptTimeout limits an
	// attempt until the answer's body has been closed; it does not limit a
	// connection that has switched protocols. With a nil Hint, Retry-After and
	// its relatives are followed, up to a tenth later so that clients do not
	// come back together, if they ask for a minute or less; else the answer is
	// returned at once. An attempt ends when the headers have arrived, so what
	// OnAttempt returns must not end a context that the body is read with.
	Policy retry.Policy

	// MayRepeat reports whether a request may be executed more than once. It
	// must be safe for concurrent use. nil: IsIdempotent.
	MayRepeat func(*http.Request) bool

	// Unprocessed are statuses, beside 421, 425 and 429, with which this server
	// answers only if it has done nothing, so that requests of every kind may
	// be repeated, if the Classifier finds the status worth a retry. 503 is not one
	// by itself: proxies say it, too, when a server has vanished in the midst of
	// a request.
	Unprocessed []int

	// MaxBuffer lets a request that has a body and no GetBody be repeated, too:
	// the body is read into memory before it is sent, if it has at most this
	// many bytes. 0 or less: such a request is sent once.
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

// RoundTrip sends req, if need be more than once, and returns the last answer,
// whatever its status, as it came from Base: so the last of several failures is
// an answer and not an error if the server gave one. The context of its Request
// knows the number of the attempt (see [AttemptNumber]).
//
// There is an error where the last attempt brought no answer; where the context
// of req ended, also during a wait; where a body for the next attempt cannot be
// had; and where the Policy is invalid. It is a
// [*retry.Error] that says why there was no further attempt, or the attempt's
// own error if that is permanent.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	p := t.policy(req)
	c := call{transport: t, request: req, limit: p.AttemptTimeout, mayRepeat: t.mayRepeat(req)}
	if c.limit > 0 {
		p.AttemptTimeout = 0 // it would end with the headers: see call.limited
	}
	if err := c.takeBody(); err != nil {
		return nil, err
	}
	returned := false
	defer func() {
		if !returned {
			c.abandon()
		}
	}()
	// A method value would move c to the heap.
	err := retry.Do(req.Context(), p, func(ctx context.Context) error { return c.attempt(ctx) })
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

// policy returns the Policy with what is special to HTTP.
func (t *Transport) policy(req *http.Request) retry.Policy {
	p := t.Policy
	if p.Hint == nil {
		p.Hint = defaultHint{p.Rand}
	}
	if t.PerHost != nil && req.URL != nil {
		p.Budget = t.PerHost.Budget(req.URL)
	}
	if next := p.OnRetry; next == nil {
		p.OnRetry = discardAnswer
	} else {
		p.OnRetry = func(ctx context.Context, failed retry.Attempt, wait time.Duration) {
			discardAnswer(ctx, failed, wait)
			next(ctx, failed, wait)
		}
	}
	return p
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
