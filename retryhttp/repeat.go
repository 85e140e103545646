package retryhttp

import "net/http"

// IsIdempotent reports whether HTTP allows a request to be executed more than once: its
// method is GET, HEAD, OPTIONS, TRACE, PUT, DELETE or QUERY, or it has a header
// Idempotency-Key or X-Idempotency-Key, by which the server recognizes a retry. As in
// net/http, a header with no values is sufficient, although it is not sent; a header
// whose value is the empty string is not.
func IsIdempotent(req *http.Request) bool {
	if isSafe(req.Method) || req.Method == http.MethodPut || req.Method == http.MethodDelete {
		return true
	}
	return carriesKey(req)
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

// isUnprocessed reports whether the server did not process the request: it responded
// with 421 Misdirected Request (RFC 9110), 425 Too Early (RFC 8470) or, by convention,
// 429 Too Many Requests or an equivalent.
func isUnprocessed(resp *http.Response) bool {
	return resp.StatusCode == http.StatusMisdirectedRequest || resp.StatusCode == http.StatusTooEarly || isThrottling(resp)
}
