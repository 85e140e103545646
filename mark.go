package retry

import (
	"context"
	"errors"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// Permanent marks err so that neither this call of [Do] nor an outer one retries it.
//
// A marker overrides every [Classifier]. It changes neither the text of the error nor what
// errors.Is and errors.As find. It also works if the marked error is wrapped in another one.
// If there are several markers, the outermost decides, in the order of errors.As. A nil err
// stays nil.
func Permanent(err error) error { return marked(err, Verdict{Class: ClassPermanent}, false) }

// Transient marks err so that it is retried, even if it is unrepeatable or the give-up
// of an inner call of [Do]. See [Permanent].
func Transient(err error) error { return marked(err, Verdict{Class: ClassTransient}, false) }

// Throttled marks err so that it is retried as throttling. See [Permanent].
func Throttled(err error) error { return marked(err, Verdict{Class: ClassThrottled}, false) }

// After marks err so that it is retried after about d: d is its hint, which the policy's
// [HintRule] combines with the delay. A permanent err, such as a 404, becomes transient. An
// unrepeatable err stays unrepeatable. A d of 0 or less means no hint. See [Permanent].
func After(err error, d time.Duration) error {
	return marked(err, Verdict{Hint: max(0, d)}, true)
}

// Unrepeatable marks err so that it is not retried, whatever its class. Use it if the
// operation may have taken effect, such as a commit whose connection was lost: a retry could
// apply it twice. [Do] gives up with [ErrUnrepeatable]. Limiters and hooks still receive the
// class and the hint. See [Permanent].
func Unrepeatable(err error) error { return marked(err, Verdict{Unrepeatable: true}, false) }

// Progress marks err as the end of a run that did useful work, such as a connection
// that lived for hours. A retry after it begins anew: err counts as the failure of attempt 1,
// delays and MaxElapsed start again, and the Budget receives the deposit for a success.
// Error.Attempts still counts all attempts. The class and the hint of err are kept, so an error
// that is not retried without Progress is not retried with it, such as a permanent one, or one
// with which an inner Do has given up. A nil err stays nil, so it means success and ends the
// call. See [Permanent].
func Progress(err error) error { return marked(err, Verdict{Progress: true}, false) }

// A mark is a wrapper that sets the non-zero fields of its Verdict.
type mark struct {
	err error
	Verdict
	after bool // of After: Hint is set, even if it is 0
}

func (m *mark) Error() string { return m.err.Error() }
func (m *mark) Unwrap() error { return m.err }

func marked(err error, v Verdict, after bool) error {
	if err == nil {
		return nil
	}
	return &mark{err, v, after}
}

// marks are what the markers in an error say together, and whether an inner loop gave up.
type marks struct {
	Verdict               // ClassUnknown: none has a class
	after   bool          // Hint is set, even if it is 0
	failure error         // the last failure of the inner loop, if Verdict.GaveUp; nil: it never ran
	own     time.Duration // the outermost hint of the error itself
}

// read collects the marks in err. If the attempt exceeded its time limit, an inner call
// that gave up for that reason does not end the outer one.
func (m *marks) read(err error) {
	var walk errfacts.Walk
	overtime := false
	for err != nil {
		switch e := err.(type) {
		case *mark:
			m.add(e)
		case *errfacts.Overtime:
			overtime = true
		case *Error:
			unrepeatable := errfacts.Is(e.Reason, ErrUnrepeatable) // for the Classifier of the inner call
			if overtime && (errors.Is(e.Reason, context.DeadlineExceeded) || errors.Is(e.Reason, context.Canceled)) {
				m.Unrepeatable = m.Unrepeatable || unrepeatable && m.Class == ClassUnknown
				err = walk.Instead(e.Err)
				continue
			}
			m.addGiveUp(e.Err)
			m.Unrepeatable = m.Unrepeatable || m.GaveUp && unrepeatable
			err = walk.Instead(e.Err)
			continue
		default:
			if err == ErrInvalid { // an inner call was refused and would be refused again
				m.add(&mark{Verdict: Verdict{Class: ClassPermanent}})
			}
			wait, gaveUp := errfacts.Advice(err)
			if gaveUp {
				m.addGiveUp(err)
			}
			if m.own == 0 {
				m.own = wait
			}
		}
		err = walk.Next(err)
	}
}

// addGiveUp records that a loop inside the operation has already retried, so that
// attempts do not multiply with each layer. Marks around it that have a class, or are of
// After, override it.
func (m *marks) addGiveUp(failure error) {
	if m.Class == ClassUnknown && !m.after && !m.GaveUp {
		m.GaveUp = true
		m.failure = failure
	}
}

// add merges a mark from deeper in the chain. Outer marks win; an outer After overrides an
// inner Permanent.
func (m *marks) add(inner *mark) {
	if m.Class == ClassUnknown {
		m.Unrepeatable = m.Unrepeatable || inner.Unrepeatable
		if !m.after || inner.Class != ClassPermanent {
			m.Class = inner.Class
		}
	}
	if !m.after {
		m.Hint, m.after = inner.Hint, inner.after
	}
	if !m.GaveUp { // otherwise the progress counted in the inner loop
		m.Progress = m.Progress || inner.Progress
	}
}
