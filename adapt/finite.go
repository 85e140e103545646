package adapt

import "github.com/gobackoff/retry/internal/errfacts"

// Finite returns err for functions that look into it, such as errors.Is, errors.As and those of
// other libraries that call them. These functions never return if an error wraps itself:
//
//	errors.Is(adapt.Finite(err), context.Canceled)
//
// If err is such an error, or wraps 256 errors or more, Finite returns another one. It has the
// text of err, and those functions find the first 256 errors in it. A nil err stays nil. A method
// Is or As of an error that never returns cannot be stopped.
func Finite(err error) error {
	if errfacts.Ends(err) {
		return err
	}
	return endless{err}
}

// endless has no Unwrap, so errors.Is and errors.As do no more than to ask its methods.
type endless struct{ err error }

func (e endless) Error() string        { return e.err.Error() }
func (e endless) Is(target error) bool { return errfacts.Is(e.err, target) }
func (e endless) As(target any) bool   { return errfacts.AsTarget(e.err, target) }
