package retryhttp

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retryhttp/internal/gaveup"
)

// An attempt is one of a call, and the context of its response's request. Its other fields may be
// read when the response has been returned.
type attempt struct {
	context.Context
	request   http.Request // that of the response
	number    int
	ambiguous bool    // an earlier request of the call may have been executed
	ending    *ending // nil if there is nothing to say of the response
}

// An ending says why a call returns a response that is a failure.
type ending struct {
	found  error         // by Check in the response
	after  time.Duration // the wait that the response asks for
	gaveUp *retry.Error  // nil if the response would not have been retried; Err is what a repetition lacked
}

// end returns what there is to say of the response.
func (a *attempt) end() ending {
	if a.ending == nil {
		return ending{}
	}
	return *a.ending
}

// madeOne reports whether the call would have retried the request, but made its only attempt.
func (e ending) madeOne() bool {
	return e.gaveUp != nil && e.gaveUp.Attempts == 1 && e.gaveUp.Reason == retry.ErrMaxAttempts
}

type attemptKey struct{}

// Value implements context.Context.
func (a *attempt) Value(key any) any {
	switch key {
	case attemptKey{}:
		return a
	case gaveup.Key{}:
		return a.end().gaveUp
	}
	return a.Context.Value(key)
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

// Unsent returns err, marked so that a Transport knows that nothing of the request was sent: it
// may be retried whatever its method. It is for a RoundTripper below a Transport, as its Base,
// that fails before it sends the request, such as one that could not get a token. It keeps
// the text of err and what errors.Is and errors.As find. Unsent(nil) is nil.
func Unsent(err error) error {
	if err == nil {
		return nil
	}
	return &errfacts.NotSent{Err: err}
}
