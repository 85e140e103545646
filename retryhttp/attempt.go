package retryhttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// attempt is one attempt of a call: the request that it sends, and the context of
// that request. Through the context it also observes what net/http does below (see
// resend.go).
type attempt struct {
	context.Context // the policy loop's, with the time limit of the attempt
	number          int
	request         http.Request // has the attempt as its context
	ambiguous       bool         // an earlier attempt may have been executed

	watched   bool            // net/http may send the request again, or its errors must prove what was sent
	mayRepeat bool            // the request may be executed more than once
	empty     bool            // the request has no body
	direct    *http.Transport // makes the attempt; nil: another kind of Base

	once   sync.Once
	inner  context.Context
	cancel context.CancelCauseFunc // cancels inner; nil if not needed
	trace  httptrace.ClientTrace

	mu      sync.Mutex
	asked   bool     // net/http has asked for a connection
	conns   int      // connections obtained
	sent    int      // how many times the headers have been sent without a response
	conn    net.Conn // the latest connection
	http2   bool     // the latest send was over HTTP/2
	stopped bool     // net/http was prevented from sending the request again
	over    bool     // the attempt has ended
}

type attemptKey struct{}

// look returns the context that net/http sees. It is created on first use,
// because a Base that responds without a network never uses it.
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

// end disables the trace hooks of the attempt, because its context may be used
// for other requests.
func (a *attempt) end() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
}

// release frees the resources of the context.
func (a *attempt) release() {
	if a.cancel != nil {
		a.cancel(nil)
	}
}

// AttemptNumber returns the number of the attempt that ctx belongs to, 1 for the
// first, or 0 if it belongs to none. Below a [Transport], ctx is the context of the
// request; above it, the context of the response's Request. The hooks of the Policy
// get the number in their Attempt.
func AttemptNumber(ctx context.Context) int {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a.number
	}
	return 0
}

// attemptBehind returns the attempt that produced a response, or nil if the
// response is not from a Transport.
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
// executed although its response was lost. The final response may then report the
// success of that earlier attempt: a 412 Precondition Failed for a PUT with If-Match
// or If-None-Match, a 404 for a DELETE, or a 409 for an object that this call
// created. Read the resource to find out. Ambiguous returns false if resp is not
// from a [Transport].
func Ambiguous(resp *http.Response) bool {
	a := attemptBehind(resp)
	return a != nil && a.ambiguous
}
