package retry

import (
	"context"

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

// Transient marks err so that it is retried, even if it is unrepeatable, or if an inner call of
// [Do] has given up with it. See [Permanent].
func Transient(err error) error { return marked(err, Verdict{Class: ClassTransient}, false) }

// Throttled marks err so that it is retried as throttling, even if it is unrepeatable, or if an
// inner call of [Do] has given up with it. See [Permanent].
func Throttled(err error) error { return marked(err, Verdict{Class: ClassThrottled}, false) }

// After marks err so that it is retried after about d: d is its hint, which the policy's
// [HintRule] combines with the delay. It is retried even if it is permanent, such as a 404 or an
// error marked with Permanent, or if an inner call of [Do] has given up with it. An unrepeatable
// err stays unrepeatable. A d of 0 or less means no hint. See [Permanent].
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
// Error.Attempts still counts all attempts. The class and the hint of err are kept: a permanent
// error, or one with which an inner Do has given up, ends the call in spite of the marker. A nil
// err stays nil, so it means success and ends the call. See [Permanent].
func Progress(err error) error { return marked(err, Verdict{Progress: true}, false) }

// WithVerdict marks err with a verdict that the caller has reached. It is for authors of loops
// and clients, which know more about err than err says: v decides alone, even if err is a status
// 401, or says that the operation may have taken effect. No [Classifier] is asked. Markers
// within err do not count, nor does an inner loop that gave up. [ClassUnknown] means that the
// error is retried, and a Hint of 0 or less means that there is none. Markers around the
// returned error precede v. A nil err stays nil. See [Permanent].
//
// If the context of the call is done, err itself decides whether it is an answer or the result
// of the cancellation: see [Do].
func WithVerdict(err error, v Verdict) error {
	if err == nil {
		return nil
	}
	v.Hint = max(0, v.Hint)
	return &mark{err: err, Verdict: v, after: true, whole: true}
}

// A mark is a wrapper that sets the non-zero fields of its Verdict.
type mark struct {
	err error
	Verdict
	after bool // of After: Hint is set, even if it is 0
	whole bool // of WithVerdict: all fields are set, and nothing within err counts
}

func (m *mark) Error() string { return m.err.Error() }
func (m *mark) Unwrap() error { return m.err }

func marked(err error, v Verdict, after bool) error {
	if err == nil {
		return nil
	}
	return &mark{err: err, Verdict: v, after: after}
}

// marks are what the markers in an error say together, and whether an inner loop gave up.
type marks struct {
	Verdict       // ClassUnknown: none has a class
	after   bool  // Hint is set, even if it is 0
	judged  error // what WithVerdict has marked, unless a mark around it has a class; nil: none
	failure error // the last failure of the inner loop, if Verdict.GaveUp; nil: it never ran
}

// A reading is everything that an error says, collected in one walk over it and the errors that
// it wraps. What it means is decided afterwards, by decideVerdict.
type reading struct {
	err   error // that the Classifier is asked about: if an inner loop gave up, its last failure
	facts errfacts.Facts
	marks
}

// readError collects what err says. If the attempt exceeded its time limit, an inner call that
// gave up for that reason does not end the outer one. Behind a marker that has a class, only a
// wait that the error asks for still counts.
func (r *reading) readError(err error) {
	r.err, r.facts.Err = err, err
	var walk errfacts.Walk
	for err != nil {
		switch e := err.(type) {
		case *mark:
			r.addMark(e)
			if e.whole {
				err = nil
				continue
			}
			if r.Class != ClassUnknown && errfacts.IsPlain(e.err) { // it asks for no wait
				err = walk.Instead(nil)
				continue
			}
		case *Error:
			r.readInner(e)
			err = walk.Instead(e.Err)
			continue
		default:
			switch {
			case r.Class != ClassUnknown:
				r.facts.LearnHint(err)
			case err == ErrInvalid: // an inner call was refused and would be refused again
				r.addMark(&mark{Verdict: Verdict{Class: ClassPermanent}})
			case r.facts.Learn(err):
				r.addGiveUp(err)
			}
		}
		err = r.facts.Step(&walk, err)
	}
	r.facts.Conclude(&walk)
	if r.GaveUp {
		r.readFailure()
	}
}

// readFailure replaces the facts by those of the inner loop's last failure. The hint is that of
// the whole error.
func (r *reading) readFailure() {
	hint := r.facts.Hint
	r.err, r.facts = r.failure, errfacts.Read(r.failure)
	r.facts.Hint = hint
}

// readInner reads the error of an inner call that gave up.
func (r *reading) readInner(e *Error) {
	unrepeatable := errfacts.Is(e.Reason, ErrUnrepeatable) // for the Classifier of the inner call
	if r.facts.Overtime && (errfacts.Is(e.Reason, context.DeadlineExceeded) || errfacts.Is(e.Reason, context.Canceled)) {
		r.Unrepeatable = r.Unrepeatable || unrepeatable && r.Class == ClassUnknown
		return
	}
	r.addGiveUp(e.Err)
	r.Unrepeatable = r.Unrepeatable || r.GaveUp && unrepeatable
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

// addMark merges a mark from deeper in the chain. Outer marks win; an outer After overrides an
// inner Permanent.
func (m *marks) addMark(inner *mark) {
	gaveUp := inner.GaveUp && m.Class == ClassUnknown && !m.after
	if m.Class == ClassUnknown {
		m.Unrepeatable = m.Unrepeatable || inner.Unrepeatable
		if inner.whole {
			m.judged = inner.err
		}
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
	m.GaveUp = m.GaveUp || gaveUp
}
