package retryhttp

import (
	"context"
	"net/http"
)

// AttemptNumber returns the number of the attempt to which ctx belongs, 1 for the
// first, or 0 if ctx does not belong to an attempt. Below a [Transport], pass the
// context of the request; above it, pass the context of the response's Request. The
// Policy's hooks receive the number in their Attempt.
func AttemptNumber(ctx context.Context) int {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x.number
	}
	return 0
}

// exchangeBehind returns the exchange that produced resp, or nil if resp is not from a
// Transport.
func exchangeBehind(resp *http.Response) *exchange {
	if resp.Request == nil {
		return nil
	}
	if x, _ := resp.Request.Context().Value(exchangeKey{}).(*exchange); x != nil && &x.request == resp.Request {
		return x
	}
	return nil
}

// Ambiguous reports whether an earlier attempt of the same call may have been executed
// although its response was lost. resp may then result from that attempt's success: a
// 412 Precondition Failed for a PUT with If-Match or If-None-Match, a 404 for a DELETE,
// or a 409 for an object that this call created. Read the resource to find out.
// Ambiguous returns false if resp is not from a [Transport].
func Ambiguous(resp *http.Response) bool {
	x := exchangeBehind(resp)
	return x != nil && x.ambiguous
}
