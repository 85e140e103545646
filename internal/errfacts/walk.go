package errfacts

import (
	"iter"
	"reflect"
	"slices"
)

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

// Reports reports whether method returns true.
func Reports(method func() bool) bool {
	yes, _ := Guarded(method)
	return yes
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
	default:
		if isSlice(err) {
			w.branch(func() []error { return elements(err) })
		}
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
	w.visited++
	if w.visited == maxVisited {
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

// isSlice reports whether err is a slice of errors, such as kafka-go's WriteErrors.
func isSlice(err error) bool {
	t := reflect.TypeOf(err)
	return t.Kind() == reflect.Slice && t.Elem().Implements(errorInterface)
}

var errorInterface = reflect.TypeFor[error]()

// elements returns the first elements of a slice of errors.
func elements(err error) []error {
	v := reflect.ValueOf(err)
	list := make([]error, 0, min(v.Len(), maxVisited))
	for i := range cap(list) {
		element, _ := v.Index(i).Interface().(error)
		list = append(list, element)
	}
	return list
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
		if IsPlain(e) && e.Error() == text {
			return true
		}
	}
	return false
}
