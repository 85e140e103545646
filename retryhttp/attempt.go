package retryhttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// attempt is one attempt of a call: the request that it sends, and the context
// of that request. Through the context it also sees what net/http does below,
// see resend.go.
type attempt struct {
	context.Context // that the policy's loop gave, with the time limit of the attempt
	number          int
	request         http.Request // that has this context
	ambiguous       bool         // an attempt before this one may have been executed

	watched   bool            // net/http may send the request again, or its errors have to be proofs
	mayRepeat bool            // the request may be executed more than once
	empty     bool            // it has no body
	direct    *http.Transport // that makes the attempt; nil: another Base

	once   sync.Once
	inner  context.Context
	cancel context.CancelCauseFunc // of inner; nil if there is no need
	trace  httptrace.ClientTrace

	mu      sync.Mutex
	asked   bool     // for a connection
	conns   int      // that it has got
	sent    int      // how often the headers have been sent without a response
	conn    net.Conn // the last one
	http2   bool     // what was sent was sent over HTTP/2
	stopped bool     // net/http was kept from sending it once more
	over    bool     // the attempt has ended
}

type attemptKey struct{}

// look returns the context that net/http sees. It is made when somebody looks
// at it, which a Base that responds without a network does not.
func (a *attempt) look() context.Context {
	if !a.watched {
		return a.Context
	}
	a.once.Do(a.watch)
	return a.inner
}

// Done implements context.Context.
func (a *attempt) Done() <-chan struct{} { return a.look().Done() }

// Err implements context.Context.
func (a *attempt) Err() error { return a.look().Err() }

// Value implements context.Context.
func (a *attempt) Value(key any) any {
	if key == (attemptKey{}) {
		return a
	}
	return a.look().Value(key)
}

// end makes the hooks of the attempt do nothing: its context may be used for
// other requests.
func (a *attempt) end() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
}

// release frees what the context holds.
func (a *attempt) release() {
	if a.cancel != nil {
		a.cancel(nil)
	}
}

// AttemptNumber returns the number of the attempt that ctx belongs to, 1 for
// the first, or 0 if it belongs to none. What sits below a [Transport] finds it in
// the context of the request, and what sits above in the context of the
// response's Request. The hooks of the Policy have it as the Number of the attempt.
func AttemptNumber(ctx context.Context) int {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a.number
	}
	return 0
}

// attemptBehind returns the attempt that brought a response, nil if that does
// not come from a Transport.
func attemptBehind(resp *http.Response) *attempt {
	if resp.Request == nil {
		return nil
	}
	if a, _ := resp.Request.Context().Value(attemptKey{}).(*attempt); a != nil && &a.request == resp.Request {
		return a
	}
	return nil
}

// Ambiguous reports whether an earlier attempt of the same call may have been
// executed although its response was lost. A 412 Precondition Failed in response
// to a PUT with If-Match or If-None-Match may then mean that this very write has
// succeeded, a 404 in response to a DELETE that this very DELETE has, and a 409 that
// the object was created by this call: read the resource to find out.
// resp must come from a [Transport]; otherwise Ambiguous returns false.
func Ambiguous(resp *http.Response) bool {
	a := attemptBehind(resp)
	return a != nil && a.ambiguous
}
