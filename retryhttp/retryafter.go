package retryhttp

import (
	"net/http"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// RetryAfter returns how long the server asks to wait before a retry, or 0 if the
// response has no valid header for it. The first valid header decides:
//
//	X-Amz-Retry-After, Retry-After-Ms, X-Ms-Retry-After-Ms    milliseconds
//	Retry-After                        seconds, or a date in one of the three forms of HTTP
//
// The following headers are used only if a limit is used up: with a status of throttling (420, 429,
// 430, 529), with a 403 that means throttling, or if no requests remain.
//
//	RateLimit                          t, or the window of RateLimit-Policy; also in
//	                                   the older form limit=, remaining=, reset=
//	every other header whose name has ratelimit and reset, with or without dashes, such as
//	X-RateLimit-Reset-Tokens           seconds, seconds or milliseconds since 1970, a
//	                                   duration such as 6m0s, or a time as in RFC 3339 or
//	                                   as JavaScript writes it
//
// If there are several such headers, the longest wait for a limit of which nothing remains
// is used, or the shortest wait if all have something left. docs/apis.md lists APIs that
// send these headers.
//
// Numbers may have a decimal fraction, a dot at either end and a plus sign, but no
// minus sign or exponent. If a header has several values, the longest wait is used. A
// number that overflows a Duration is read as the longest Duration, and a number that
// means more than 31 years is read as a time since 1970, in the header's unit. The
// policy's [retry.HintRule] decides how much of a long wait is honored.
//
// A header whose values together have more than 8 KiB is ignored.
//
// Dates and times are relative to the Date of the response, so the clocks of client and
// server need not agree. Without a Date, they are relative to now. A time in the past
// means no wait.
func RetryAfter(resp *http.Response, now time.Time) time.Duration {
	return errfacts.RetryAfter(resp.Header, resp.StatusCode, now)
}
