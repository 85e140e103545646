package classify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, sql.ErrNoRows) }),
}

var (
	invertedByName = retry.OnlyIf(isGone)
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

	late = retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{}, retry.ClassifierFunc(quotas))}

	asserting = retry.Policy{Classifier: retry.OnlyIf(func(err error) bool {
		_, ok := err.(busyError) // the operation may return it as it is
		return ok || err == errGone
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

var errFull = errors.New("full")

func wraps(ctx context.Context, put func(context.Context) error) error {
	p := retry.Policy{Classifier: retry.OnlyIf(func(err error) bool {
		_, ok := err.(busyError)    // want `the operation wraps its error: use errors.As or errors.AsType`
		return ok || err == errGone // want `errGone is wrapped: use errors.Is\(err, errGone\)`
	})}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := put(ctx); err != nil {
			return fmt.Errorf("put: %w", err)
		}
		return nil
	})
}

func isFull(err error) bool { return err == errFull } // want `errFull is wrapped: use errors.Is\(err, errFull\)`

var (
	full       = retry.OnlyIf(isFull)
	_    error = fmt.Errorf("store: %w", errFull)
)

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
