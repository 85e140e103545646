package retry

import (
	"context"
	"errors"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// Permanent marks err so that neither this call of [Do] nor an outer one retries it.
// Markers override every [Classifier]. They change neither the text of an error nor
// what errors.Is and errors.As find in it, and they work inside other errors; the
// outermost decides, in the order of errors.As. A nil err stays nil.
func Permanent(err error) error { return marked(err, mark{class: ClassPermanent}) }

// Transient marks err so that it is retried, even if it is the give-up of an inner
// call of [Do]. See [Permanent].
func Transient(err error) error { return marked(err, mark{class: ClassTransient}) }

// Throttled marks err so that it is retried as throttling. See [Permanent].
func Throttled(err error) error { return marked(err, mark{class: ClassThrottled}) }

// After marks err so that it is retried with the hint d: see [HintRule]. It overrides
// the Classifier, so even a 404 is retried, as transient. A d of 0 or less means no
// hint. See [Permanent].
func After(err error, d time.Duration) error {
	return marked(err, mark{hint: max(0, d), hinted: true, after: true})
}

// Unrepeatable marks err so that it is not retried even if its class is retryable: the
// operation, such as a commit whose connection was lost, may have taken effect, and
// repeating it could apply it twice. [Do] gives up with [ErrUnrepeatable]; limiters
// and hooks still receive the class and hint. See [Permanent].
func Unrepeatable(err error) error { return marked(err, mark{unrepeatable: true}) }

// Progress marks err as the end of a run that did useful work, such as a connection
// that lived for hours. It counts as the first failure of a call: attempt numbers,
// delays and MaxElapsed restart, and the Budget receives the deposit for a success.
// Error.Attempts remains the total. The class and hint are kept. See [Permanent].
func Progress(err error) error { return marked(err, mark{progress: true}) }

type mark struct {
	err          error
	class        Class // ClassUnknown: none
	hint         time.Duration
	hinted       bool // hint is set, even if it is 0
	after        bool
	unrepeatable bool
	progress     bool
	gaveUp       bool // the class is that of an inner call that gave up
}

func (m *mark) Error() string { return m.err.Error() }
func (m *mark) Unwrap() error { return m.err }

func marked(err error, m mark) error {
	if err == nil {
		return nil
	}
	m.err = err
	return &m
}

// read collects the outermost markers and hint in err. If overtime is set, the attempt
// has exceeded its time limit, and an inner call that gave up for that reason does not
// end the outer one.
func (m *mark) read(err error, overtime bool) {
	var walk errfacts.Walk
	for err != nil {
		switch e := err.(type) {
		case *mark:
			m.add(*e)
		case *Error:
			if overtime && (errors.Is(e.Reason, context.DeadlineExceeded) || errors.Is(e.Reason, context.Canceled)) {
				err = walk.Instead(e.Err)
				continue
			}
			// The inner call has already retried: retrying it would multiply attempts
			// with each layer.
			m.add(mark{class: ClassPermanent, gaveUp: true})
			err = walk.Instead(nil)
			continue
		default:
			if err == ErrInvalid { // an inner call was refused and would be refused again
				m.add(mark{class: ClassPermanent})
			}
			if hint := errfacts.Hint(err); hint > 0 {
				m.add(mark{hint: hint, hinted: true})
			}
		}
		err = walk.Next(err)
	}
}

// add merges a mark from deeper in the chain. Outer marks win; an outer After
// overrides an inner Permanent.
func (m *mark) add(inner mark) {
	if m.class == ClassUnknown && !m.after {
		m.unrepeatable = m.unrepeatable || inner.unrepeatable
	}
	if m.class == ClassUnknown && !(m.after && inner.class == ClassPermanent) {
		m.class, m.gaveUp = inner.class, inner.gaveUp
	}
	if !m.hinted {
		m.hint, m.hinted = inner.hint, inner.hinted
	}
	m.after = m.after || inner.after
	m.progress = m.progress || inner.progress
}
