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
// Without these headers, the wait is that for a limit. These headers tell of limits, together with
// those that say what remains, as [ratelimit.Read] reads them:
//
//	RateLimit                          t, or the window of RateLimit-Policy; also in
//	                                   the older form limit=, remaining=, reset=
//	every other header whose name has ratelimit and
//	reset or retry-after, such as
//	X-Rate-Limit-Reset-Tokens          seconds, seconds or milliseconds since 1970, a
//	                                   duration such as 6m0s, or a time as in RFC 3339 or
//	                                   as JavaScript writes it. Milliseconds if the name
//	                                   ends with Ms, such as X-Rate-Limit-Time-Reset-Ms
//	every other header whose name has ratelimit and remaining, such as
//	RateLimit-Remaining: 0;w=21600     w, the window in seconds, if there is no reset
//	every other header whose name has ratelimit and
//	window, interval or period         the window, in the same forms
//
// If nothing remains of a limit, the wait is its reset, or its window if it has no reset. If nothing
// remains of several limits, the longest of these waits is used. If no header says that nothing
// remains, but the response means throttling (status 420, 429, 430, 529, or a 403 that does), the
// shortest reset is used. docs/reference/apis.md lists APIs that send these headers.
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
	return errfacts.ReadHead(resp.Header, resp.StatusCode, now).Wait
}
