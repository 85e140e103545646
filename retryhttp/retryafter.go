package retryhttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long the server asks to wait before a retry, or 0 if the
// response has no valid header for it. The first valid header decides:
//
//	X-Amz-Retry-After, Retry-After-Ms, X-Ms-Retry-After-Ms    milliseconds
//	Retry-After                        seconds, or a date in one of the three forms of HTTP
//
// The following headers are used only if a limit is used up: with status 429, 430 or 529,
// with a 403 that means throttling, or if no requests remain.
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
	h := resp.Header
	if date, err := http.ParseTime(first(h, "Date")); err == nil {
		now = date
	}
	for _, field := range [...]struct {
		name string
		unit time.Duration
	}{
		{"X-Amz-Retry-After", time.Millisecond},
		{"Retry-After-Ms", time.Millisecond},
		{"X-Ms-Retry-After-Ms", time.Millisecond},
		{"Retry-After", time.Second},
	} {
		if wait, ok := longest(lines(h, field.name), field.unit, now); ok {
			return wait
		}
	}
	usedUp := isThrottling(resp)
	if wait, ok := rateLimit(h).wait(usedUp); ok {
		return wait
	}
	wait, _ := resetLimits(h, now).wait(usedUp)
	return wait
}

// maxField is the length of the longest header that is read.
const maxField = 8 << 10

// lines returns the values of a header, or nil if they are too long.
func lines(h http.Header, name string) []string {
	size := 0
	for _, line := range h[name] {
		if size += len(line) + len(","); size > maxField {
			return nil
		}
	}
	return h[name]
}

// first returns the first value of a header, without space around it, or "".
func first(h http.Header, name string) string {
	if lines := lines(h, name); len(lines) > 0 {
		return strings.TrimSpace(lines[0])
	}
	return ""
}

func longest(lines []string, unit time.Duration, now time.Time) (wait time.Duration, found bool) {
	for _, line := range lines {
		for _, value := range append(strings.Split(line, ","), line) { // a date contains a comma
			if w, ok := parseWait(strings.TrimSpace(value), unit, now); ok {
				wait, found = max(wait, w), true
			}
		}
	}
	return wait, found
}

// sinceEpoch is 10⁹ seconds, 31 years: no server asks for so long a wait, and the time
// since 1970 has exceeded it since 2001.
const sinceEpoch = 1e9 * time.Second

func parseWait(value string, unit time.Duration, now time.Time) (time.Duration, bool) {
	if wait, ok := parseNumber(value, unit); ok {
		if wait >= sinceEpoch {
			wait = max(0, time.Unix(0, 0).Add(wait).Sub(now))
		}
		return wait, true
	}
	if unit != time.Second || value == "" {
		return 0, false
	}
	at, err := http.ParseTime(value)
	return max(0, at.Sub(now)), err == nil
}

// parseNumber reads digits, with an optional dot and plus sign. Other forms that
// strconv accepts, such as 1e3 and 0x1p-2, are not valid in a header.
func parseNumber(text string, unit time.Duration) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "+"), ".")
	if !isDigits(whole + fraction) {
		return 0, false
	}
	n, _ := strconv.ParseUint(whole, 10, 64) // MaxUint64 on overflow
	if n >= uint64(math.MaxInt64/unit) {
		return math.MaxInt64, true
	}
	// A float64 cannot hold the nanoseconds of large numbers.
	part, _ := strconv.ParseFloat("0."+fraction, 64)
	return time.Duration(n)*unit + time.Duration(part*float64(unit)), true
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
