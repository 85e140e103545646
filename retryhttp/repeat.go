package retryhttp

import (
	"errors"
	"net/http"
	"strings"
)

// IsIdempotent reports whether HTTP allows a request to be executed more than once: its
// method is GET, HEAD, OPTIONS, TRACE, PUT, DELETE or QUERY, or it has a header
// Idempotency-Key or X-Idempotency-Key, by which the server recognizes a retry. As in
// net/http, a header with no values is sufficient, although it is not sent; a header
// whose value is the empty string is not.
func IsIdempotent(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete, "QUERY":
		return true
	}
	return hasKey(req.Header, "Idempotency-Key") || hasKey(req.Header, "X-Idempotency-Key")
}

func hasKey(h http.Header, name string) bool {
	values, ok := h[name]
	return ok && (len(values) == 0 || values[0] != "")
}

// isUnprocessed reports whether the server did not process the request: it responded
// with 421 Misdirected Request (RFC 9110), 425 Too Early (RFC 8470) or, by convention,
// 429 Too Many Requests or an equivalent.
func isUnprocessed(e *StatusError) bool {
	switch e.Response.StatusCode {
	case http.StatusMisdirectedRequest, http.StatusTooEarly:
		return true
	}
	return isThrottling(e.Response)
}

// isMalformed reports whether the request cannot be sent at all.
func isMalformed(err error) bool {
	return hasText(err, func(text string) bool {
		for _, prefix := range [...]string{
			"unsupported protocol scheme",
			"net/http: invalid ", // header, trailer, method
			"net/http: request canceled",
			"http: no Host in request URL",
			"http: nil Request.",
			"http: ContentLength=",
			"http: Request.ContentLength=",
			"http: server gave HTTP response to HTTPS client",
			"http2: request body larger than specified content length",
			"http2: request header list larger than peer's advertised limit",
		} {
			if strings.HasPrefix(text, prefix) {
				return true
			}
		}
		return false
	})
}

// hasText reports whether match holds for the text of err or of an error that it wraps.
func hasText(err error, match func(text string) bool) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if match(err.Error()) {
			return true
		}
	}
	return false
}
