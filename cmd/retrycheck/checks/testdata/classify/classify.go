package classify

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
)

type goneError struct{ name string }

func (goneError) Error() string { return "gone" }

type kindError struct{ kind string }

func (kindError) Error() string          { return "kind" }
func (e kindError) Is(target error) bool { return target == kindError{e.kind} }

var (
	byPointer = retry.Policy{Classifier: retry.PermanentIf(&goneError{})} // want `no error is equal to this new value`
	byValue   = retry.Policy{Classifier: retry.PermanentIf(goneError{})}  // want `no error is equal to this new value`
	byMethod  = retry.Policy{Classifier: retry.PermanentIf(kindError{"gone"}, &kindError{"gone"})}
	byName    = retry.Policy{Classifier: retry.PermanentIf(errGone, net.ErrClosed)}
)

var tooLong = retry.Policy{
	AttemptTimeout: time.Second,
	Classifier:     retry.PermanentIf(context.DeadlineExceeded), // want `an attempt that AttemptTimeout ends matches context.DeadlineExceeded, so it is never retried`
}

var ownDeadline = retry.Policy{Classifier: retry.PermanentIf(context.DeadlineExceeded)}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

var inverted = retry.Policy{
	Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, sql.ErrNoRows) }), // want `OnlyIf retries only the errors for which the function returns true: to stop at sql.ErrNoRows, use PermanentIf\(sql.ErrNoRows\)`
}

var (
	invertedByName = retry.OnlyIf(isGone) // want `to stop at fs.ErrNotExist, use PermanentIf`
	allowed        = retry.OnlyIf(func(err error) bool { return errors.Is(err, net.ErrClosed) })
	negated        = retry.OnlyIf(func(err error) bool { return !errors.Is(err, sql.ErrNoRows) })
	appears        = retry.OnlyIf(func(err error) bool { return errors.Is(err, errGone) || errors.Is(err, fs.ErrNotExist) })
)

type quotaError struct{ seconds int }

func (quotaError) Error() string { return "quota" }

func (e quotaError) RetryAfter() int { return e.seconds } // want `nothing reads this method: RetryAfter has to take nothing and to return one time.Duration`

func (quotaError) Permanent() bool { return false } // want `nothing reads a method Permanent: call it NonRetryable`

func (*quotaError) Timeout() bool { return false }

type busyError struct{ wait time.Duration }

func (busyError) Error() string               { return "busy" }
func (e busyError) RetryAfter() time.Duration { return e.wait }
func (busyError) Retryable() bool             { return true }

type timer struct{}

func (timer) RetryAfter() int { return 1 }

func (quotaError) StatusCode() int { return http.StatusForbidden }

var errGone = errors.New("gone")

var (
	others = retry.Policy{Classifier: retry.ClassifierFunc(func(err error) retry.Verdict {
		if errors.Is(err, errGone) {
			return retry.Verdict{Class: retry.ClassPermanent}
		}
		return retry.Verdict{Class: retry.ClassTransient} // want `this retries every other error, such as a 404 or a canceled context: return retry.Verdict\{\} here, and use retry.FirstOf\(mine, retry.DefaultClassifier\{\}\)`
	})}

	late = retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{}, retry.ClassifierFunc(quotas))} // want `DefaultClassifier decides about errors with StatusCode, so this is not asked about quotaError: put it first`

	asserting = retry.Policy{Classifier: retry.OnlyIf(func(err error) bool {
		_, ok := err.(busyError)    // want `an operation may wrap its error, and AttemptTimeout and markers do: use errors.As or errors.AsType`
		return ok || err == errGone // want `an operation may wrap its error, and AttemptTimeout and markers do: use errors.Is\(err, errGone\)`
	})}

	rightOnes = []retry.Classifier{
		retry.FirstOf(retry.ClassifierFunc(quotas), retry.DefaultClassifier{}),
		retry.FirstOf(retry.DefaultClassifier{}, retry.ClassifierFunc(listed)),
		retry.ClassifierFunc(listed),
	}

	allowList = retry.Policy{Classifier: retry.ClassifierFunc(listed)}
)

func quotas(err error) retry.Verdict {
	var quota quotaError
	if errors.As(err, &quota) {
		return retry.Verdict{Class: retry.ClassThrottled}
	}
	return retry.Verdict{}
}

func listed(err error) retry.Verdict {
	if errors.Is(err, errGone) {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{Class: retry.ClassPermanent}
}

type valueError struct{ code int }

func (valueError) Error() string { return "value" }

var (
	otherForm = retry.OnlyIf(func(err error) bool {
		var v *valueError
		return errors.As(err, &v) // want `the package makes values of .*valueError, and this looks for a pointer: no error matches`
	})
	_ error = valueError{5}
)

func gone(err error) retry.Verdict {
	if _, ok := errors.AsType[*goneError](err); ok {
		return retry.Verdict{Class: retry.ClassPermanent}
	}
	return retry.Verdict{}
}

var byType = retry.Policy{Classifier: retry.FirstOf(retry.ClassifierFunc(gone), retry.DefaultClassifier{})}

type statusError struct {
	Code    int
	Message string
}

func (*statusError) Error() string { return "status" }

// own is a classifier of its own type.
type own struct{ more bool }

func (own) Classify(err error) retry.Verdict {
	if e, ok := errors.AsType[*statusError](err); ok && e.Code == 404 {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{}
}

func missing(err error) retry.Verdict {
	if errors.Is(err, sql.ErrNoRows) {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{}
}

func switches(err error) retry.Verdict {
	for ; err != nil; err = errors.Unwrap(err) {
		switch err.(type) {
		case busyError, quotaError:
			return retry.Verdict{Class: retry.ClassThrottled}
		}
	}
	return retry.Verdict{}
}

func decidesAll(err error) retry.Verdict {
	if errors.Is(err, errGone) {
		return retry.Verdict{Class: retry.ClassPermanent}
	}
	return retry.Verdict{Class: retry.ClassTransient}
}

type deciding struct{}

func (deciding) Classify(err error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} }

var (
	byDefault    retry.Classifier     = retry.DefaultClassifier{}
	listOf                            = []retry.Classifier{&retry.DefaultClassifier{}, own{}} // want `DefaultClassifier decides about errors with Code, so this is not asked about \*statusError: put it first`
	lateFunc     retry.ClassifierFunc = missing
	firstDefault retry.DefaultClassifier
	lateOnes     = []retry.Classifier{
		retry.FirstOf(byDefault, &own{true}),  // want `errors with Code, so this is not asked about \*statusError`
		retry.FirstOf(firstDefault, lateFunc), // want `DefaultClassifier decides about sql.ErrNoRows, so this is not asked about it`
		retry.FirstOf(listOf...),
		retry.FirstOf(new(retry.DefaultClassifier), retry.ClassifierFunc(switches)), // want `errors with Retryable, so this is not asked about busyError`
		retry.FirstOf(retry.FirstOf(retry.DefaultClassifier{}), own{}),              // want `errors with Code`
		retry.FirstOf(retry.PermanentIf(errGone), own{}),                            // want `errors with Code`
		retry.FirstOf(retry.Codes{Stop: []string{"429"}}, own{}),                    // want `errors with Code`
		retry.FirstOf(retry.ClassifierFunc(decidesAll), retry.DefaultClassifier{}),  // want `this decides about every error, so what follows it in FirstOf is never asked: return retry.Verdict\{\} for the errors that it does not know`
		retry.FirstOf(deciding{}, own{}, retry.DefaultClassifier{}),                 // want `this decides about every error`
		retry.FirstOf(retry.DefaultClassifier{}, deciding{}),
		retry.FirstOf(own{}, lateFunc, retry.DefaultClassifier{}),
		retry.FirstOf(retry.Codes{Stop: []string{"429"}, Else: own{}}, own{}),
	}
)
