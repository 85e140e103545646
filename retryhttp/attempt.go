package retryhttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// attempt is one attempt's request and its context, which observes what net/http does
// (see resend.go).
type attempt struct {
	context.Context // retry.Do's, with the attempt's time limit
	number          int
	request         http.Request // its context is the attempt
	ambiguous       bool         // an earlier attempt may have been executed

	watched   bool // net/http may resend the request, or the safety of a retry depends on what was sent
	mayRepeat bool
	empty     bool            // no body
	direct    *http.Transport // nil: Base is of another type

	once   sync.Once
	inner  context.Context
	cancel context.CancelCauseFunc // nil if not needed
	trace  httptrace.ClientTrace

	mu      sync.Mutex
	asked   bool     // net/http has requested a connection
	conns   int      // number of connections obtained
	sent    int      // times the headers were sent since the last response
	conn    net.Conn // latest
	http2   bool     // used by the latest send
	stopped bool     // net/http must not resend the request
	over    bool
}

type attemptKey struct{}

// look returns the context that net/http sees. It is created on first use, because a
// Base that does not use the network never needs it.
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

// end disables the trace hooks, because the context may later be used for other
// requests.
func (a *attempt) end() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
}

func (a *attempt) release() {
	if a.cancel != nil {
		a.cancel(nil)
	}
}

// AttemptNumber returns the number of the attempt to which ctx belongs, 1 for the
// first, or 0 if ctx does not belong to an attempt. Below a [Transport], pass the
// context of the request; above it, pass the context of the response's Request. The
// Policy's hooks receive the number in their Attempt.
func AttemptNumber(ctx context.Context) int {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a.number
	}
	return 0
}

// attemptBehind returns the attempt that produced resp, or nil if resp is not from a
// Transport.
func attemptBehind(resp *http.Response) *attempt {
	if resp.Request == nil {
		return nil
	}
	if a, _ := resp.Request.Context().Value(attemptKey{}).(*attempt); a != nil && &a.request == resp.Request {
		return a
	}
	return nil
}

// Ambiguous reports whether an earlier attempt of the same call may have been executed
// although its response was lost. resp may then result from that attempt's success: a
// 412 Precondition Failed for a PUT with If-Match or If-None-Match, a 404 for a DELETE,
// or a 409 for an object that this call created. Read the resource to find out.
// Ambiguous returns false if resp is not from a [Transport].
func Ambiguous(resp *http.Response) bool {
	a := attemptBehind(resp)
	return a != nil && a.ambiguous
}
