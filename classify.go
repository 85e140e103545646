package retry

import (
	"slices"
	"strconv"
	"time"
)

// A Class says what an error means for retrying.
type Class uint8

const (
	ClassUnknown   Class = iota // no opinion: the next classifier is asked; in the end it means transient
	ClassPermanent              // the same call would fail again: no retry
	ClassTransient              // may pass by itself
	ClassTimeout                // no answer in time; what happened is not known
	ClassThrottled              // the server has too much to do and says so
)

var classNames = [...]string{"unknown", "permanent", "transient", "timeout", "throttled"}

// String returns the lower-case word for the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "class(" + strconv.Itoa(int(c)) + ")"
}

// A Classifier decides what an error means for retrying. It is called once for
// every failed attempt, with an error that is not nil, and answers
// [ClassUnknown] where it has no opinion. It must be safe for concurrent use.
//
// Markers decide before any Classifier is asked: see [Permanent].
type Classifier interface {
	Classify(err error) Class
}

// A ClassifierFunc is a function used as a [Classifier].
type ClassifierFunc func(err error) Class

// Classify calls f.
func (f ClassifierFunc) Classify(err error) Class { return f(err) }

// FirstOf asks classifiers in order and returns the first answer that is not
// [ClassUnknown]. To change what [DefaultClassifier] does for some errors, put
// a classifier for these in front of it:
//
//	retry.FirstOf(mine, retry.DefaultClassifier{})
func FirstOf(classifiers ...Classifier) Classifier { return firstOf(slices.Clone(classifiers)) }

type firstOf []Classifier

func (f firstOf) Classify(err error) Class {
	for _, c := range f {
		if c == nil {
			continue // Validate reports it
		}
		if class := c.Classify(err); class != ClassUnknown {
			return class
		}
	}
	return ClassUnknown
}

// Permanent marks err so that it is not retried, whatever a [Classifier] says,
// in this call of [Do] and in any that it is nested in. A nil err stays nil.
//
// The markers change neither the text of an error nor what errors.Is and
// errors.As find in it, and they work from inside other errors. Of several
// markers the outermost decides; errors that wrap more than one error are
// searched in the order of errors.As.
func Permanent(err error) error { return marked(err, mark{class: ClassPermanent}) }

// Transient marks err so that it is retried, whatever a [Classifier] says. It
// also makes an inner call's give-up worth a retry to an outer call of [Do].
// A nil err stays nil. See [Permanent].
func Transient(err error) error { return marked(err, mark{class: ClassTransient}) }

// Throttled marks err so that it is retried as the answer of a server that has
// too much to do, whatever a [Classifier] says. A nil err stays nil. See
// [Permanent].
func Throttled(err error) error { return marked(err, mark{class: ClassThrottled}) }

// After marks err so that it is retried, and hints that d should pass before:
// the policy's [HintRule] makes a wait of it. Use it for failures that are to
// be retried only: it retries a 404, too. The class is what the Classifier
// says, or transient if that is not to be retried. A d of 0 or less marks err
// for a retry without a hint. A nil err stays nil. See [Permanent].
func After(err error, d time.Duration) error {
	return marked(err, mark{hint: max(0, d), hinted: true, after: true})
}

// Unrepeatable marks err so that it is not retried, although it may be of a class
// that is: the operation may have taken effect, and nobody can tell whether a
// repetition would do so a second time. Think of a connection that is lost
// while a transaction commits, or while a payment is under way. The class and the
// hint are those without the mark, so that limiters and hooks learn what has
// happened. [Do] gives up with [ErrUnrepeatable]. A nil err stays nil. See
// [Permanent].
func Unrepeatable(err error) error { return marked(err, mark{final: true}) }

// mark is an error with the caller's word on it.
type mark struct {
	err    error
	class  Class // ClassUnknown: none
	hint   time.Duration
	hinted bool // hint is meant, also if it is 0
	after  bool // made by After
	final  bool // made by Unrepeatable
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

// classify sets what Err says of retrying. It applies the rules that hold for
// every policy: markers first, then an inner call's give-up, which is
// permanent, then the Classifier; and what nobody knows is transient.
func (a *Attempt) classify(c Classifier) {
	if c == nil && isMute(a.Err) {
		a.Class = ClassTransient // as the rules below would have it, 10 ns sooner
		return
	}
	var m mark
	m.read(a.Err)
	if m.class == ClassUnknown {
		if c == nil {
			m.class = DefaultClassifier{}.Classify(a.Err)
		} else {
			m.class = c.Classify(a.Err)
		}
		if m.class == ClassUnknown || m.class == ClassPermanent && m.after {
			m.class = ClassTransient
		}
	}
	a.Class, a.Unrepeatable, a.Hint = m.class, m.final, m.hint
}

// read collects the markers and the hint in err, the outermost of each.
func (m *mark) read(err error) {
	for err != nil {
		var next error
		switch e := err.(type) {
		case *mark:
			m.add(*e)
			next = e.err
		case *Error:
			// A give-up has been retried enough: if outer calls tried again,
			// attempts would multiply from layer to layer.
			m.add(mark{class: ClassPermanent})
			return
		case retryAfterer:
			if hint, _ := guarded(e.RetryAfter); hint > 0 {
				m.add(mark{hint: hint, hinted: true})
			}
			next = unwrap(err)
		case unwrapper:
			next, _ = guarded(e.Unwrap)
		case treeUnwrapper:
			branches, _ := guarded(e.Unwrap)
			for _, branch := range branches {
				m.read(branch)
			}
		}
		err = next
	}
}

// add adds what stands further in and does not contradict what stands further
// out, of which [After] says that there is to be a retry.
func (m *mark) add(inner mark) {
	if m.class == ClassUnknown && !m.after {
		m.final = m.final || inner.final
	}
	if m.class == ClassUnknown && !(m.after && inner.class == ClassPermanent) {
		m.class = inner.class
	}
	if !m.hinted {
		m.hint, m.hinted = inner.hint, inner.hinted
	}
	m.after = m.after || inner.after
}
