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
	rest    []error
	visited int
	trees   []tree // that are being visited, the innermost last

	// said is what the current branch says. The visitor sets it; after the last error, it is what
	// all of them say together.
	said outcome
}

const maxVisited = 256

// Next returns the error to visit after err, or nil at the end.
func (w *Walk) Next(err error) error {
	switch e := err.(type) {
	case multiError: // which has Unwrap() error, too
		return w.Instead(w.branch(e.WrappedErrors, true))
	case Unwrapper:
		inner, _ := Guarded(e.Unwrap)
		return w.Instead(inner)
	case TreeUnwrapper:
		return w.Instead(w.branch(e.Unwrap, isFanOut(err)))
	default:
		if isSlice(err) {
			return w.Instead(w.branch(func() []error { return elements(err) }, true))
		}
	}
	return w.Instead(nil)
}

// branch begins a tree. It returns its first error, or nil, and adds the others to those to visit.
func (w *Walk) branch(unwrap func() []error, fanOut bool) (first error) {
	branches, _ := Guarded(unwrap)
	w.open(fanOut)
	for _, branch := range slices.Backward(branches[:min(len(branches), maxVisited)]) {
		if branch == nil {
			continue
		}
		if first != nil {
			w.rest = append(w.rest, first)
		}
		first = branch
	}
	return first
}

// Instead returns err as the error to visit next, in place of the errors that the
// previous error wraps. If err is nil, it returns the error that follows them.
func (w *Walk) Instead(err error) error {
	w.visited++
	switch {
	case w.visited == maxVisited:
		w.rest = nil
		w.close()
		return nil
	case err != nil:
		return err
	}
	w.close()
	if len(w.rest) == 0 {
		return nil
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

// Chain returns err and the errors it wraps, up to the first that wraps several.
func Chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) {
		var walk Walk
		for err != nil && len(walk.trees) == 0 {
			if !yield(err) {
				return
			}
			err = walk.Next(err)
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

// As is errors.AsType for any error: it visits only those that a Walk does, and methods may panic.
func As[T error](err error) (found T, ok bool) {
	for e := range All(err) {
		if same, is := e.(T); is {
			return same, true
		}
		if m, has := e.(interface{ As(any) bool }); has && Reports(func() bool { return m.As(&found) }) {
			return found, true
		}
	}
	return found, false
}

// AsTarget is errors.As for any error, with the bounds of [As].
func AsTarget(err error, target any) bool {
	found := reflect.ValueOf(target).Elem()
	for e := range All(err) {
		if reflect.TypeOf(e).AssignableTo(found.Type()) {
			found.Set(reflect.ValueOf(e))
			return true
		}
		if m, has := e.(interface{ As(any) bool }); has && Reports(func() bool { return m.As(target) }) {
			return true
		}
	}
	return false
}

// Ends reports whether err and the errors it wraps are fewer than a Walk visits. If it wraps itself,
// they are not.
func Ends(err error) bool {
	visited := 0
	for range All(err) {
		visited++
	}
	return visited < maxVisited
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
