package retryhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retryhttp/internal/gaveup"
)

// StatusError represents a response with a status of 400 or above, or one in which a
// Transport's Check has found an error. A [Transport] passes it to the Classifier and
// hooks of its Policy, and [CheckStatus] returns it. If the context ends during the
// wait after the response, RoundTrip returns an error that wraps the StatusError.
// [retry.DefaultClassifier] and a [retry.HintRule] use its methods.
type StatusError struct {
	// Response is the failed response. For the functions of a Transport's Policy, it is a copy
	// whose Body cannot be read, because the body belongs to the caller if no attempt follows.
	// In an error of [CheckStatus], it is the response itself.
	Response *http.Response

	after time.Duration
	body  io.ReadCloser // closed before a retry; nil: already closed, or not the Transport's to close
}

// CheckStatus returns an error for an operation of [retry.Do] to return if the status of resp
// is 400 or above, or if the Check of a [Transport] has found an error in resp. Otherwise, it
// returns nil.
//
// The error is a [*StatusError], or wraps one in these cases:
//
//   - resp is that of a [Transport], which has already retried, or does not retry it.
//   - Check has found an error.
//   - A header of the response, such as X-Should-Retry or Stripe-Should-Retry, says whether to
//     retry.
//   - The status is a 403 that means throttling, because the response has a Retry-After or a limit
//     of which nothing remains.
//
// The error for a [Transport]'s response ends a Do around it. If the Transport gave up, it is the
// [*retry.Error] with its reason, such as [retry.ErrBudget], and [retry.Verdict.GaveUp] is true, so
// that a queue can begin the job again. If the Transport's Policy allows only one attempt, a Do
// around it retries, unless the request must not be repeated. CheckStatus does not touch the Body.
func CheckStatus(resp *http.Response) error {
	a := attemptBehind(resp)
	var end ending
	if a != nil {
		end = a.end()
	}
	if resp.StatusCode < 400 && end.found == nil {
		return nil
	}
	e := &StatusError{Response: resp, after: end.after}
	if a == nil || a.ending == nil { // nobody has read it
		e.after = RetryAfter(resp, time.Now())
	}
	err := e.failure(end.found)
	switch {
	case a == nil, end.madeOne():
		return err // no Transport retries, so a Do around it may
	case end.gaveUp == nil:
		return retry.Permanent(err)
	}
	return gaveup.With(end.gaveUp, err)
}

// withoutBody returns a copy of a response for functions that must not read the body.
func withoutBody(resp *http.Response) *http.Response {
	c := *resp
	c.Body = callersBody{}
	return &c
}

type callersBody struct{}

func (callersBody) Read([]byte) (int, error) {
	return 0, errors.New("retryhttp: the body belongs to the caller: read it after the call, or look at its beginning in Transport.Check")
}

func (callersBody) Close() error { return nil }

// Error returns the status as text, such as "503 Service Unavailable".
func (e *StatusError) Error() string {
	text := strings.TrimSpace(fmt.Sprint(e.Response.StatusCode, " ", http.StatusText(e.Response.StatusCode)))
	if e.Response.StatusCode == http.StatusPreconditionFailed && Ambiguous(e.Response) {
		text += " (an earlier attempt may have succeeded)"
	}
	return text
}

// HTTPStatusCode returns the status.
func (e *StatusError) HTTPStatusCode() int { return e.Response.StatusCode }

// RetryAfter returns the wait that the server asked for (see the function
// [RetryAfter]), or 0 if there is none. If the response refused a value of a [Pool], it is the time
// until one of the values may be used.
func (e *StatusError) RetryAfter() time.Duration { return e.after }

// verdict returns e, wrapped if the response overrides its status.
func (e *StatusError) verdict() error {
	h := e.Response.Header
	for _, name := range [...]string{"X-Should-Retry", "Stripe-Should-Retry"} {
		switch said := errfacts.First(h, name); {
		case strings.EqualFold(said, "false"):
			return overridingError{e, false}
		case strings.EqualFold(said, "true") && !isThrottling(e.Response):
			return overridingError{e, true}
		}
	}
	switch status := e.Response.StatusCode; {
	case isThrottling(e.Response):
		return throttledError{e}
	case status == http.StatusMisdirectedRequest,
		status == http.StatusRequestEntityTooLarge && h.Get("Retry-After") != "", // RFC 9110, section 15.5.14
		isAtWork(e.Response):
		return overridingError{e, true}
	}
	return e
}

// failure returns the error of a response in which Check has found an error, or nil. What
// Check has found is classified first.
func (e *StatusError) failure(found error) error {
	if found == nil {
		return e.verdict()
	}
	return fmt.Errorf("%[2]w: %[1]w", found, e)
}

func isThrottling(resp *http.Response) bool {
	return errfacts.IsThrottling(resp.Header, resp.StatusCode)
}

// overridingError is a StatusError whose response states whether to retry. That is no verdict, as
// [retry.WithVerdict] marks it: a Classifier of the policy, such as [retry.Codes], precedes it.
type overridingError struct {
	*StatusError
	retryable bool
}

func (e overridingError) RetryableError() bool { return e.retryable }
func (e overridingError) Unwrap() error        { return e.StatusError }

// throttledError is a StatusError that reports status 429.
type throttledError struct{ *StatusError }

func (e throttledError) HTTPStatusCode() int { return http.StatusTooManyRequests }
func (e throttledError) Unwrap() error       { return e.StatusError }

// ErrorType returns the status of the response, for the attribute error.type of spans and metrics.
func (e throttledError) ErrorType() string { return strconv.Itoa(e.Response.StatusCode) }

// CheckConnect is for the Base of a Transport: assign it to the field OnProxyConnectResponse of
// the [http.Transport]. With it, the response of a proxy that refuses CONNECT becomes a
// [*StatusError], with its Retry-After. Without it, net/http's error has only the reason
// phrase, and the request is retried whatever the status.
func CheckConnect(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	return CheckStatus(resp)
}
