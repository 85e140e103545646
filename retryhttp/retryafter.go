package retryhttp

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// RetryAfter returns how long the server asks to wait before the request is
// repeated, or 0 if the answer says nothing of it that can be understood. The
// first of these headers that can be understood decides:
//
//	X-Amz-Retry-After  milliseconds
//	Retry-After-Ms     milliseconds
//	Retry-After        seconds, or a date in one of the three forms of HTTP
//	RateLimit-Reset    seconds; only with status 429 or RateLimit-Remaining: 0,
//	                   because otherwise it does not ask for a wait
//
// Numbers may have a decimal fraction; a sign or an exponent is not understood.
// A number that would be longer than 31 years is taken for what it must be, a time
// of day in the header's unit since 1970; a larger one than a Duration can hold
// counts as the largest. How much of a long wait is waited for is up to the
// [retry.HintRule] of the policy.
//
// Dates and times count from the Date of the answer, so that the clocks need not
// agree, and from now if it has none. What is past asks for no wait.
func RetryAfter(resp *http.Response, now time.Time) time.Duration {
	h := resp.Header
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	for _, field := range [...]struct {
		name string
		unit time.Duration
	}{
		{"X-Amz-Retry-After", time.Millisecond},
		{"Retry-After-Ms", time.Millisecond},
		{"Retry-After", time.Second},
		{"Ratelimit-Reset", time.Second},
	} {
		value := strings.TrimSpace(h.Get(field.name))
		if value == "" || field.name == "Ratelimit-Reset" && !isLimited(resp) {
			continue
		}
		if wait, ok := parseNumber(value, field.unit); ok {
			return sinceEpoch(wait, now)
		}
		if field.name == "Retry-After" {
			if at, err := http.ParseTime(value); err == nil {
				return max(0, at.Sub(now))
			}
		}
	}
	return 0
}

// isLimited reports whether the answer says that no requests are left.
func isLimited(resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests || strings.TrimSpace(resp.Header.Get("Ratelimit-Remaining")) == "0"
}

// epochLike is 10⁹ seconds, 31 years: no server means to ask for so long a
// wait, and the number of seconds since 1970 has been above it since 2001.
const epochLike = 1e9 * time.Second

func sinceEpoch(wait time.Duration, now time.Time) time.Duration {
	if wait < epochLike {
		return wait
	}
	return max(0, time.Unix(0, 0).Add(wait).Sub(now))
}

// parseNumber reads a number of units: digits, and perhaps a fraction. Others
// that strconv knows, such as 1e3 and 0x1p-2, have no place in a header.
func parseNumber(text string, unit time.Duration) (time.Duration, bool) {
	whole, fraction, found := strings.Cut(text, ".")
	if !isDigits(whole) || found && !isDigits(fraction) {
		return 0, false
	}
	n, _ := strconv.ParseUint(whole, 10, 64) // the largest if it is too large
	if n >= uint64(math.MaxInt64/unit) {
		return math.MaxInt64, true
	}
	// Apart, because a float64 does not hold the nanoseconds of large numbers.
	part, _ := strconv.ParseFloat("0."+fraction, 64)
	return time.Duration(n)*unit + time.Duration(part*float64(unit)), true
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// defaultHint is the rule of a Transport whose Policy has none. It is
// HintOrGiveUp, because a caller of an http.Client does not expect to wait for an
// hour, and can read the header in the answer; and it adds up to a tenth of the hint, so that
// clients that were given the same one do not come back together.
type defaultHint struct{ random func() float64 }

const maxHint = time.Minute

func (r defaultHint) Wait(delay, hint time.Duration) (time.Duration, bool) {
	random := r.random
	if random == nil {
		random = rand.Float64
	}
	if wait, ok := (retry.HintOrGiveUp{Max: maxHint}).Wait(delay, hint); !ok {
		return wait, false
	}
	return max(delay, hint+time.Duration(random()*float64(hint)/10)), true
}
