package errfacts

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Header is the header of an HTTP response, by canonical names.
type Header = map[string][]string

// A Head is what the status and the header of a response say about when to send another request.
type Head struct {
	Throttled bool          // see IsThrottling
	Limits    []Limit       // see Limits
	Wait      time.Duration // that the response asks for before a retry; 0: none
}

// ReadHead returns what a response says. now is the time at which it arrived; a valid Date in the
// header replaces it. The comment of retryhttp.RetryAfter says which headers decide about Wait.
func ReadHead(h Header, status int, now time.Time) Head {
	now = ServerTime(h, now)
	limits := Limits(h, now)
	head := Head{Throttled: throttles(h, status, limits), Limits: limits}
	wait, isNamed := namedWait(h, now)
	if !isNamed {
		wait = waitFor(limits, head.Throttled)
	}
	head.Wait = wait
	return head
}

// IsThrottling reports whether a response is equivalent to 429: its status is one of
// throttling, or it is a 403 with a used-up limit or a Retry-After, as some APIs send.
func IsThrottling(h Header, status int) bool {
	if status != 403 {
		return throttles(h, status, nil)
	}
	return throttles(h, status, Limits(h, time.Now()))
}

func throttles(h Header, status int, limits []Limit) bool {
	if status != 403 {
		return OfStatus(status) == Throttled
	}
	return First(h, "Retry-After") != "" || slices.ContainsFunc(limits, Limit.isUsedUp)
}

// namedWait returns the wait in a header that has no other meaning.
func namedWait(h Header, now time.Time) (wait time.Duration, found bool) {
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
			return wait, true
		}
	}
	return 0, false
}

// ServerTime returns the Date of a header, whose names may have any case, or now if it has none.
func ServerTime(h Header, now time.Time) time.Time {
	for name := range h {
		if strings.EqualFold(name, "Date") {
			date, err := parseTime(First(h, name))
			if err == nil {
				return date
			}
		}
	}
	return now
}

// maxField is the length of the longest header that is read.
const maxField = 8 << 10

// lines returns the values of a header, or nil if they are too long.
func lines(h Header, name string) []string {
	size := 0
	for _, line := range h[name] {
		if size += len(line) + len(","); size > maxField {
			return nil
		}
	}
	return h[name]
}

// First returns the first value of a header, without space around it, or "".
func First(h Header, name string) string {
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
	at, err := parseTime(value)
	return max(0, at.Sub(now)), err == nil
}

// parseTime reads a date in one of the three forms of HTTP.
func parseTime(value string) (t time.Time, err error) {
	for _, layout := range [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		t, err = time.Parse(layout, value)
		if err == nil {
			break
		}
	}
	return t, err
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
