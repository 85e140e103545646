package retryhttp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// StatusError stands for an answer with a status of 400 or above where there
// has to be an error: in the Classifier and the hooks of a [Transport]'s Policy,
// and in what RoundTrip returns if the context ends during the wait after it.
//
// [retry.DefaultClassifier] reads its status; and the header x-should-retry,
// with which a server itself says true or false.
type StatusError struct {
	// Response is the answer. Its Body must not be read, closed or changed: it
	// is the caller's if this is the last attempt, and closed when there is a
	// retry.
	Response *http.Response

	after     time.Duration
	discarded bool
}

func newStatusError(resp *http.Response, now time.Time) *StatusError {
	return &StatusError{Response: resp, after: RetryAfter(resp, now)}
}

// Error returns the status as text, such as "503 Service Unavailable".
func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprint(e.Response.StatusCode, " ", http.StatusText(e.Response.StatusCode)))
}

// HTTPStatusCode returns the status.
func (e *StatusError) HTTPStatusCode() int { return e.Response.StatusCode }

// RetryAfter returns the wait that the server has asked for, as the function
// [RetryAfter] reads it; 0 if it has not.
func (e *StatusError) RetryAfter() time.Duration { return e.after }

// withWord returns e with what the answer says of being repeated.
func (e *StatusError) withWord() error {
	switch word := strings.TrimSpace(e.Response.Header.Get("X-Should-Retry")); {
	case strings.EqualFold(word, "false"):
		return wordedError{e, false}
	case strings.EqualFold(word, "true"), e.Response.StatusCode == http.StatusMisdirectedRequest:
		return wordedError{e, true}
	}
	return e
}

// wordedError is a StatusError whose answer says whether to repeat the request.
type wordedError struct {
	*StatusError
	retryable bool
}

func (e wordedError) RetryableError() bool { return e.retryable }
func (e wordedError) Unwrap() error        { return e.StatusError }

// statusErrorIn returns the StatusError in err, nil if there is none.
func statusErrorIn(err error) *StatusError {
	e, _ := errors.AsType[*StatusError](err)
	return e
}
