package retryhttp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// StatusError stands for an answer with a status of 400 or above where there
// has to be an error: in the Classifier and the hooks of a [Transport]'s Policy,
// in what RoundTrip returns if the context ends during the wait after it, and
// in an operation of [retry.Do] that calls [CheckStatus]. Its methods are what
// [retry.DefaultClassifier] and a [retry.HintRule] go by.
type StatusError struct {
	// Response is the answer. In the functions of a Transport's Policy its Body
	// must not be read or closed: it is the caller's if there is no further
	// attempt.
	Response *http.Response

	after time.Duration
	body  io.ReadCloser // to be closed before a retry; nil: it has been, or is not ours
}

// CheckStatus returns nil if the status of resp is below 400, and otherwise an
// error for an operation of [retry.Do] to return. It is a [*StatusError], or
// wraps one where the answer's header x-should-retry says true or false, which
// [retry.DefaultClassifier] goes by. The answer of a [Transport] makes a
// permanent error: there have been attempts enough. CheckStatus does not touch
// the Body.
func CheckStatus(resp *http.Response) error {
	if resp.StatusCode < 400 {
		return nil
	}
	err := newStatusError(resp, time.Now()).withWord()
	if attemptBehind(resp) != nil {
		return retry.Permanent(err)
	}
	return err
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
