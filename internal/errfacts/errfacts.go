// Package errfacts reads what errors report about themselves, through methods
// and well-known types, without importing the libraries that they come from.
package errfacts

import (
	"iter"
	"reflect"
	"slices"
	"time"
)

// Facts are what an error and the errors it wraps report. If several of them report a
// status, a code or the like, the outermost counts.
type Facts struct {
	Err      error   // what the facts are about
	Verdict  Verdict // what the error's methods report about retrying
	Status   int     // HTTP
	Code     string  // the error code of a service such as AWS
	Message  string
	Redis    string // an error reply
	Canceled bool   // by the caller; a cancellation beside another failure does not count
	Lost     bool   // no connection was made, or the error reports itself as temporary
	Kind     Kind

	// Only retry.DefaultClassifier uses the rest: the AWS SDKs have no such errors.
	Class        Class // the class that a library or server reports
	Fallback     Class // the class to use if nothing else is known
	Unrepeatable bool  // the operation may have taken effect
	Methods      bool  // an error in the chain has one of readMethods' methods
	Overtime     bool  // the attempt exceeded its time limit
	Renewed      bool  // the library renews the credentials that expired

	inTree         bool // the current error is in a tree
	canceledBranch bool // of a tree
}

// Overtime is the failure of an attempt that exceeded its time limit.
type Overtime struct {
	Err   error
	Limit time.Duration
}

func (e *Overtime) Error() string {
	return "attempt exceeded " + e.Limit.String() + ": " + e.Err.Error()
}

// Unwrap returns the operation's error.
func (e *Overtime) Unwrap() error { return e.Err }

// Timeout returns true.
func (*Overtime) Timeout() bool { return true }

// Verdict is what an error reports about retrying, with methods such as Retryable.
type Verdict uint8

// The verdicts. If an error reports both, No wins.
const (
	None Verdict = iota
	Yes
	No
)

// Kind is the kind of failure that a transport reports. Higher values are more
// specific, and the highest in an error's chain counts.
type Kind uint8

// The kinds.
const (
	NoKind     Kind = iota
	Request         // of package net/http, without further detail
	Connection      // refused, reset, unreachable
	Closed          // ended before a response: io.EOF
	Truncated       // ended within a response: io.ErrUnexpectedEOF
	Timeout
	NotFound // no such host name in DNS
	TLS      // certificate or handshake
	Invalid  // address or request
)

// Read returns the facts about err, which may be nil.
func Read(err error) Facts {
	f := Facts{Err: err}
	f.read(err, nil)
	return f
}

// Interfaces for methods of errors; other packages also use these interfaces.
type (
	Unwrapper     interface{ Unwrap() error }
	TreeUnwrapper interface{ Unwrap() []error }
	multiError    interface{ WrappedErrors() []error } // of hashicorp/go-multierror
	Timeouter     interface{ Timeout() bool }
)

// Guarded calls a method of a foreign error and reports whether it returned.
// Several such methods panic on half-built values, for example that of smithy's
// ResponseError without a response.
func Guarded[T any](method func() T) (v T, ok bool) {
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	return method(), true
}

// A Walk visits an error and the errors it wraps, in the order of errors.As, at most
// maxVisited of them: an error may wrap itself, or the same error in many ways. It keeps a
// list instead of recursing, so that a long chain does not grow the stack.
type Walk struct {
	rest     []error
	visited  int
	branched bool // a tree was visited
}

const maxVisited = 256

// Next returns the error to visit after err, or nil at the end.
func (w *Walk) Next(err error) error {
	switch e := err.(type) {
	case multiError: // which has Unwrap() error, too
		w.branch(e.WrappedErrors)
	case Unwrapper:
		inner, _ := Guarded(e.Unwrap)
		return w.Instead(inner)
	case TreeUnwrapper:
		w.branch(e.Unwrap)
	}
	return w.Instead(nil)
}

// branch adds the errors that a tree consists of to those to visit.
func (w *Walk) branch(unwrap func() []error) {
	w.branched = true
	branches, _ := Guarded(unwrap)
	for _, branch := range slices.Backward(branches[:min(len(branches), maxVisited)]) {
		if branch != nil {
			w.rest = append(w.rest, branch)
		}
	}
}

// Instead returns err as the error to visit next, in place of the errors that the
// previous error wraps. If err is nil, it returns the error that follows them.
func (w *Walk) Instead(err error) error {
	if w.visited++; w.visited == maxVisited {
		return nil
	}
	if err != nil || len(w.rest) == 0 {
		return err
	}
	last := len(w.rest) - 1
	err = w.rest[last]
	w.rest = w.rest[:last]
	return err
}

// All returns err and the errors it wraps, in the order of errors.As.
func All(err error) iter.Seq[error] {
	return func(yield func(error) bool) {
		var walk Walk
		for ; err != nil; err = walk.Next(err) {
			if !yield(err) {
				return
			}
		}
	}
}

// Is is errors.Is for any error: it visits only those that a Walk does, and methods may
// panic.
func Is(err, target error) bool {
	if target == nil {
		return false
	}
	comparable := reflect.TypeOf(target).Comparable()
	for e := range All(err) {
		same, _ := Guarded(func() bool { return comparable && e == target })
		if !same {
			if m, ok := e.(interface{ Is(error) bool }); ok {
				same, _ = Guarded(func() bool { return m.Is(target) })
			}
		}
		if same {
			return true
		}
	}
	return false
}

// HasText reports whether err is or wraps an error created by errors.New with this text.
func HasText(err error, text string) bool {
	for e := range All(err) {
		if reflect.TypeOf(e) == plainError && e.Error() == text {
			return true
		}
	}
	return false
}

// Known returns the class of one error, ignoring those that it wraps, and whether the
// operation may have taken effect; or Unknown, if it knows nothing about the error.
type Known func(error) (c Class, unrepeatable bool)

// read collects the facts about err. An error that known has a class for, unless it is
// nil, is not read further, nor are the errors that it wraps.
func (f *Facts) read(err error, known Known) {
	var walk Walk
	for err != nil {
		f.inTree = walk.branched
		if known != nil {
			if c, unrepeatable := known(err); c != Unknown {
				f.report(c, unrepeatable)
				err = walk.Instead(nil)
				continue
			}
		}
		f.readOne(err)
		err = walk.Next(err)
	}
	f.Canceled = (f.Canceled || f.canceledBranch && !f.isKnown()) && !f.Overtime // by the time limit
}

// cancel records that the caller canceled the operation. In a tree, such as the errors of
// a fan-out that ends with the first failure, the other errors decide.
func (f *Facts) cancel() {
	if f.inTree {
		f.canceledBranch = true
	} else {
		f.Canceled = true
	}
}

// isKnown reports whether anything but a cancellation is known about the error.
func (f *Facts) isKnown() bool {
	return f.IsResponse() || f.Verdict != None || f.Fallback != Unknown || f.Kind > Request
}

// IsResponse reports whether the error is a server's response, that is, has a status
// or a code. A query that the caller canceled does not count, although PostgreSQL
// has a code for it.
func (f *Facts) IsResponse() bool {
	return f.Status != 0 || f.Code != "" || f.Redis != "" || f.Class != Unknown
}

// readOne reads err, ignoring the errors that it wraps.
func (f *Facts) readOne(err error) {
	info := infoOf(err)
	if info.blank {
		return
	}
	if info.origin == plain {
		f.readPlain(err)
		return
	}
	f.Kind = max(f.Kind, f.readType(err, info))
	if info.methods {
		f.readMethods(err)
	}
}

// readPlain reads an error created by errors.New.
func (f *Facts) readPlain(err error) {
	kind, c, unrepeatable := ofPlain(err)
	if c == Canceled {
		f.cancel()
		return
	}
	f.Kind = max(f.Kind, kind)
	f.Fallback = max(f.Fallback, c)
	f.Unrepeatable = f.Unrepeatable || unrepeatable && f.Verdict != Yes
	if f.Kind == Request && isInvalidRequest(err.Error()) {
		f.Kind = Invalid
	}
}

// Reports reports whether method returns true.
func Reports(method func() bool) bool {
	yes, _ := Guarded(method)
	return yes
}
