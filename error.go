package retry

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Error is what [Do] returns when it gives up. It matches, with errors.Is and
// errors.As, both the last failure of the operation and the reason for giving
// up. It keeps no history: hooks see every failure as it happens.
type Error struct {
	// Err is the last failure of the operation; nil if it never ran.
	Err error

	// Reason is why there was no further attempt: one of [ErrMaxAttempts],
	// [ErrMaxElapsed], [ErrBudget], [ErrHint] and [ErrUnrepeatable]; what the Limiter returned;
	// an error that matches context.DeadlineExceeded if the next wait would
	// have outlasted the context's deadline; or, once the context has ended, an error that
	// matches both its error and its cause.
	Reason error

	// Attempts is how many times the operation was called.
	Attempts int

	// Elapsed is the time from the end of the first attempt to the end of the
	// call; from its start if the policy has a MaxElapsed. The start is not
	// taken otherwise, so that calls that succeed read no clock.
	Elapsed time.Duration

	// Next is the wait that was not begun; 0 if the end came before one was due.
	Next time.Duration
}

// Error returns one line.
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
	fmt.Fprintf(&b, " (%v", e.Reason)
	if e.Next > 0 {
		fmt.Fprintf(&b, ", next wait %v", e.Next.Round(time.Microsecond))
	}
	b.WriteByte(')')
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return strings.ReplaceAll(b.String(), "\n", "; ")
}

// Unwrap returns the last failure, if there was one, and the reason.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Err, e.Reason}
}

// Timeout reports whether the last failure or the reason is a timeout by its own
// account, as the end of a context's deadline is. Callers of net/http and
// os.IsTimeout ask for it.
func (e *Error) Timeout() bool { return isTimeout(e.Err) || isTimeout(e.Reason) }

func isTimeout(err error) bool {
	t, ok := errors.AsType[interface {
		error
		timeouter
	}](err)
	return ok && says(t.Timeout)
}

// LogValue returns a group with the keys reason and attempts, and where they
// are set elapsed, next and error.
func (e *Error) LogValue() slog.Value {
	attrs := make([]slog.Attr, 2, 5)
	attrs[0] = slog.String("reason", fmt.Sprint(e.Reason))
	attrs[1] = slog.Int("attempts", e.Attempts)
	if e.Elapsed > 0 {
		attrs = append(attrs, slog.Duration("elapsed", e.Elapsed))
	}
	if e.Next > 0 {
		attrs = append(attrs, slog.Duration("next", e.Next))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	return slog.GroupValue(attrs...)
}

// policyPanic replaces the value of a panic in one of the policy's own functions
// after the operation has failed, so that the failure is not lost.
type policyPanic struct {
	value any   // what the function panicked with
	err   error // the operation's last failure
}

func (e *policyPanic) Error() string {
	return fmt.Sprintf("panic in a function of the retry policy: %v (while dealing with: %v)", e.value, e.err)
}

func (e *policyPanic) Unwrap() []error {
	if err, ok := e.value.(error); ok {
		return []error{e.err, err}
	}
	return []error{e.err}
}

// invalid makes one error of a list of faults, nil if there are none.
func invalid(what string, faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w retry %s: %s", ErrInvalid, what, strings.Join(faults, "; "))
}
