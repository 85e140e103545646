package retryaws

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// withHint returns err with the wait that the server asked for in the headers
// of its answer, where package retry finds it; err itself if there is none.
func withHint(err error) error {
	var answer *smithyhttp.ResponseError
	if !errors.As(err, &answer) || answer == nil || answer.Response == nil || answer.Response.Response == nil {
		return err
	}
	if after := hintIn(answer.Response.Header, time.Now()); after > 0 {
		return &hintError{err, after}
	}
	return err
}

// hintError is an error with a hint.
type hintError struct {
	err   error
	after time.Duration
}

func (e *hintError) Error() string             { return e.err.Error() }
func (e *hintError) Unwrap() error             { return e.err }
func (e *hintError) RetryAfter() time.Duration { return e.after }

// hintIn returns the hint in h, 0 if there is none. AWS's own header counts
// before the general one. What is not a number or a date is no hint, and a
// number that is too large is the largest Duration: how much of it is waited
// for is up to the policy's HintRule.
func hintIn(h http.Header, now time.Time) time.Duration {
	if after, ok := count(h.Get("X-Amz-Retry-After"), time.Millisecond); ok {
		return after
	}
	value := h.Get("Retry-After")
	if after, ok := count(value, time.Second); ok {
		return after
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	// By the server's clock, which need not be ours.
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now))
}

// count reads a number of units, saturating. It looks for what is not a digit
// itself: strconv takes what begins with too many of them for a number.
func count(digits string, unit time.Duration) (time.Duration, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.ParseUint(digits, 10, 64) // the largest if there is none
	return time.Duration(min(n, uint64(math.MaxInt64/unit))) * unit, true
}
