package retryhttp

import (
	"net/http"
	"strings"

	"github.com/gobackoff/retry/internal/errfacts"
)

// IsIdempotent reports whether HTTP allows a request to be executed more than once: its
// method is GET, HEAD, OPTIONS, TRACE, PUT, DELETE or QUERY, or it has a header
// Idempotency-Key or X-Idempotency-Key, by which the server recognizes a retry. As in
// net/http, a header with no values is sufficient, although it is not sent; a header
// whose value is the empty string is not.
//
// A PUT with a Content-Range is not idempotent: it adds a part to what the server has. Ask the
// server how much it has, as package transfer does. The question itself, a PUT whose Content-Range
// begins with "bytes */", may be repeated.
func IsIdempotent(req *http.Request) bool {
	switch {
	case carriesKey(req), isSafe(req.Method), req.Method == http.MethodDelete:
		return true
	case req.Method == http.MethodPut:
		part := req.Header.Get("Content-Range")
		return part == "" || strings.HasPrefix(part, "bytes */")
	}
	return false
}

func carriesKey(req *http.Request) bool {
	return hasKey(req.Header, "Idempotency-Key") || hasKey(req.Header, "X-Idempotency-Key")
}

// isSafe reports whether a method changes nothing.
func isSafe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "QUERY":
		return true
	}
	return false
}

func hasKey(h http.Header, name string) bool {
	values, ok := h[name]
	return ok && (len(values) == 0 || values[0] != "")
}

// isUnprocessed reports whether the server did not process the request: its status says so or,
// by convention, is 429 Too Many Requests or an equivalent.
func isUnprocessed(resp *http.Response) bool {
	return errfacts.IsUnprocessed(resp.StatusCode) || isThrottling(resp)
}
