package retry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/gobackoff/retry/internal/errfacts"
)

// ErrInvalid is matched by the errors of [Policy.Validate] and package retryconfig, and by
// those of calls that [Do] refuses.
var ErrInvalid = errors.New("invalid")

// Reasons for giving up: see [Error].
var (
	// ErrMaxAttempts means the operation failed MaxAttempts times.
	ErrMaxAttempts = errors.New("all attempts used")
	// ErrBackoff means that the Backoff allows no further attempt: it returned a negative delay.
	ErrBackoff = errors.New("backoff allows no further attempt")
	// ErrMaxElapsed means that the next wait would have ended after MaxElapsed.
	ErrMaxElapsed = errors.New("time limit of the policy")
	// ErrBudget means the client's own Budget, not the server, refused the retry.
	ErrBudget = errors.New("client-side retry budget used up")
	// ErrHint means the server asked for a longer wait than the HintRule allows.
	ErrHint = errors.New("server asks for too long a wait")
	// ErrUnrepeatable means the operation must not be repeated: see [Unrepeatable].
	ErrUnrepeatable = errors.New("not safe to repeat")
	// ErrPermanent is the reason passed to OnGiveUp, and returned by [Call.Failed], after
	// a permanent failure. Do returns the operation's own error, which does not match it.
	ErrPermanent = errors.New("permanent failure")
)

var errDeadline = fmt.Errorf("wait would outlast the context: %w", context.DeadlineExceeded)

// ErrNoReturn is passed to the callback of an attempt whose operation panicked or
// called [runtime.Goexit]: see [Hooks].
var ErrNoReturn = errors.New("operation did not return")

// Error is the error that [Do] returns when it gives up. With errors.Is and errors.As,
// it matches both the last failure and the reason.
type Error struct {
	// Err is the last failure. It is nil if the operation never ran. If the context ended
	// during the last attempt, Err also matches the failure of the attempt before, and its
	// text contains both failures.
	Err error

	// Reason is why Do gave up. It is one of these:
	//
	//   - [ErrMaxAttempts] or another of the errors declared with it
	//   - the error of the Limiter or the Clock
	//   - an error that matches context.DeadlineExceeded, if the next wait would have ended
	//     at or after the context's deadline
	//   - an error that matches the context's error and its cause, if the context is done. It
	//     also matches ErrUnrepeatable if the last failure is unrepeatable
	Reason error

	// Attempts is the number of attempts made.
	Attempts int

	// SinceFailure is the time from the first failure to the end of the call. It is 0 if
	// there was no retry.
	SinceFailure time.Duration

	// Next is the wait that Do would have needed for another attempt. It is 0 if no wait was
	// due. If the Limiter has ended the call, it is the wait that the Limiter's error names,
	// or 0.
	Next time.Duration

	deadline time.Time // of the context of the call, if it is the Reason
}

// Text returns the text of err for a log or a span: without the user, the query and the
// fragment of the URL of each [net/url.Error] that err is or wraps, because these often have
// credentials. The path stays. A program's own logs need Text for errors that [Do] returns
// unchanged, such as permanent ones. A nil err has the text "<nil>", as fmt prints it.
func Text(err error) string { return errfacts.Text(err) }

// Error returns one line of text. What it says about Err is the [Text] of Err.
func (e *Error) Error() string {
	var b strings.Builder
	switch e.Attempts {
	case 0:
		b.WriteString("gave up before the first attempt")
	case 1:
		b.WriteString("gave up after 1 attempt")
	default:
		fmt.Fprintf(&b, "gave up after %d attempts", e.Attempts)
	}
	fmt.Fprintf(&b, " (%s", Text(e.Reason))
	if e.Reason == ErrUnrepeatable && isUnrepeatableByText(e.Err) {
		b.WriteString("; retry.Transient overrides this") // the text may be of another program's error
	}
	if e.Next > 0 {
		fmt.Fprintf(&b, ", next wait %v", e.Next.Round(time.Microsecond))
	}
	b.WriteByte(')')
	if e.Err != nil {
		fmt.Fprintf(&b, ": %s", Text(e.Err))
	}
	return oneLine(b.String())
}

// oneLine returns a text, which may be a server's, without what ends a line or controls a terminal.
func oneLine(text string) string { return strings.Map(printable, strings.ReplaceAll(text, "\n", "; ")) }

// isUnrepeatableByText reports whether an error variable that is recognized by its text makes
// err unrepeatable. Another program may use the text for something else.
func isUnrepeatableByText(err error) bool {
	for e := range errfacts.All(err) {
		if errfacts.IsPlain(e) && errfacts.OfVariable(e).Unrepeatable {
			return true
		}
	}
	return false
}

// printable replaces what ends a line or controls a terminal: the text may be a server's.
func printable(r rune) rune {
	if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

// Unwrap returns the last failure, if any, and the reason.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Err, e.Reason}
}

// ReasonLabel returns the Reason as one word for metrics and spans: attempts, backoff, elapsed,
// budget, hint, unrepeatable, permanent, canceled, deadline, or wait if the Limiter or the
// Clock failed.
func (e *Error) ReasonLabel() string {
	switch e.Reason { // not errors.Is: a Limiter's error may wrap any of them
	case ErrMaxAttempts:
		return "attempts"
	case ErrBackoff:
		return "backoff"
	case ErrMaxElapsed:
		return "elapsed"
	case ErrBudget:
		return "budget"
	case ErrHint:
		return "hint"
	case ErrUnrepeatable:
		return "unrepeatable"
	case ErrPermanent:
		return "permanent"
	}
	switch {
	// Checked first, because the cause of a cancellation may itself be a deadline.
	case errfacts.Is(e.Reason, context.Canceled):
		return "canceled"
	case errfacts.Is(e.Reason, context.DeadlineExceeded):
		return "deadline"
	}
	return "wait"
}

// Timeout reports whether the last failure or the reason is a timeout. url.Error and
// os.IsTimeout call it.
func (e *Error) Timeout() bool { return isTimeout(e.Err) || isTimeout(e.Reason) }

func isTimeout(err error) bool {
	var walk errfacts.Walk // not errors.AsType: an error may wrap itself
	for ; err != nil; err = walk.Next(err) {
		if _, inner := err.(*Error); inner { // the walk visits what it consists of
			continue
		}
		if t, ok := err.(errfacts.Timeouter); ok && errfacts.Reports(t.Timeout) {
			return true
		}
	}
	return false
}

// isEndOf reports whether err is or wraps end, the error of a context. Unlike errors.Is, it
// ends if err wraps itself.
func isEndOf(end, err error) bool {
	var walk errfacts.Walk
	for ; err != nil; err = walk.Next(err) {
		if m, ok := err.(interface{ Is(error) bool }); err == end || ok && m.Is(end) {
			return true
		}
	}
	return false
}

// outlasting returns the error of an inner call that gave up because its next wait would
// have outlasted its context, or nil.
func outlasting(err error) *Error {
	var walk errfacts.Walk
	for ; err != nil; err = walk.Next(err) {
		if e, ok := err.(*Error); ok && e.Reason == errDeadline {
			return e
		}
	}
	return nil
}

// policyPanic replaces the value of a panic in one of the policy's own functions
// after the operation has failed, so that the failure is not lost.
type policyPanic struct {
	value any
	err   error
}

func (e *policyPanic) Error() string {
	return fmt.Sprintf("panic in a function of the retry policy: %v (while handling: %v)", e.value, e.err)
}

func (e *policyPanic) Unwrap() []error {
	if err, ok := e.value.(error); ok {
		return []error{e.err, err}
	}
	return []error{e.err}
}
