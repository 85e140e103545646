// Package legacy keeps what code relied on in the retry library that it came from, where
// package retry does something else. The command retrymigrate writes these names; each
// marks a decision that a reader can now make: to leave [RetryAll] out lets
// [retry.DefaultClassifier] end calls that would fail again, and to leave [Bare] out lets
// callers see why the call gave up.
package legacy

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// RetryAll is a [retry.Classifier] that retries every error, as cenkalti/backoff and
// avast/retry-go do, except those marked with [retry.Permanent], or with the mark of one
// of these libraries.
type RetryAll struct{}

// Classify implements [retry.Classifier].
func (RetryAll) Classify(err error) retry.Verdict {
	v := retry.Verdict{Class: retry.ClassTransient}
	if permanent, _ := foreignMark(err); permanent {
		v.Class = retry.ClassPermanent
	}
	return v
}

// RetryMarked is a [retry.Classifier] that retries only what is marked with
// [retry.Transient], or with RetryableError of sethvargo/go-retry, as that library does.
type RetryMarked struct{}

// Classify implements [retry.Classifier].
func (RetryMarked) Classify(err error) retry.Verdict {
	if _, transient := foreignMark(err); transient {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{Class: retry.ClassPermanent}
}

// If returns a [retry.Classifier] that retries the errors for which retryable returns
// true, and no others, whatever they are. [retry.OnlyIf] also heeds what errors say of
// unsafe repetition.
func If(retryable func(error) bool) retry.Classifier {
	return retry.ClassifierFunc(func(err error) retry.Verdict {
		if retryable(err) {
			return retry.Verdict{Class: retry.ClassTransient}
		}
		return retry.Verdict{Class: retry.ClassPermanent}
	})
}

// foreignMark reports whether the outermost mark of another library in err is one against
// a retry or for one. It recognizes their types by name.
func foreignMark(err error) (permanent, transient bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		t := reflect.TypeOf(err)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch path := t.PkgPath(); t.Name() {
		case "PermanentError":
			permanent = strings.Contains(path, "cenkalti/backoff")
		case "unrecoverableError":
			permanent = strings.Contains(path, "avast/retry-go")
		case "retryableError":
			transient = strings.Contains(path, "sethvargo/go-retry")
		}
		if permanent || transient {
			return permanent, transient
		}
	}
	return false, false
}

// Bare returns what the other libraries return for an err of [retry.Do]: the last failure
// of the operation without its mark, or the error of the context if that ended the call.
// Compare it with == or print it as before. Other errors, and nil, are returned unchanged.
func Bare(err error) error {
	if e, gaveUp := err.(*retry.Error); gaveUp {
		switch {
		case errors.Is(e.Reason, context.Canceled):
			return context.Canceled
		case errors.Is(e.Reason, context.DeadlineExceeded):
			return context.DeadlineExceeded
		case e.Err == nil:
			return e.Reason
		}
		err = e.Err
	}
	for reflect.TypeOf(err) == markType {
		err = errors.Unwrap(err)
	}
	return err
}

var markType = reflect.TypeOf(retry.Permanent(errors.New("")))

// Value is [Bare] for [retry.DoValue].
func Value[T any](value T, err error) (T, error) { return value, Bare(err) }

// OnRetry returns [retry.Hooks] that call f before each wait with the failure and the
// wait, as cenkalti/backoff calls a Notify.
func OnRetry(f func(error, time.Duration)) retry.Hooks {
	return retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		f(Bare(failed.Err), wait)
	}}
}

// OnFailure returns [retry.Hooks] that call f after each failure that is not permanent,
// the last included, with the number of earlier ones, as avast/retry-go does.
func OnFailure(f func(n uint, err error)) retry.Hooks {
	return retry.Hooks{
		OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
			f(uint(failed.Number-1), Bare(failed.Err))
		},
		OnGiveUp: func(_ context.Context, e *retry.Error) {
			if e.Reason == retry.ErrMaxAttempts {
				f(uint(e.Attempts-1), Bare(e.Err))
			}
		},
	}
}

// Attempts returns n as MaxAttempts of a [retry.Policy]: 0 means [retry.Unlimited].
func Attempts[N ~int | ~uint | ~uint64](n N) int {
	if n == 0 {
		return retry.Unlimited
	}
	return int(min(uint64(n), retry.Unlimited))
}

// Sum is a [retry.Backoff] that adds the delays of two rules, as CombineDelay of
// avast/retry-go does.
type Sum [2]retry.Backoff

// Delay implements [retry.Backoff].
func (s Sum) Delay(a retry.Attempt, u float64) time.Duration {
	first, second := max(0, s[0].Delay(a, u)), max(0, s[1].Delay(a, u))
	if total := first + second; total >= first {
		return total
	}
	return 1<<63 - 1
}

// Jitter is a [retry.Backoff] that varies another rule's delay by up to By in either
// direction, as WithJitter of sethvargo/go-retry does.
type Jitter struct {
	Of retry.Backoff
	By time.Duration
}

// Delay implements [retry.Backoff].
func (j Jitter) Delay(a retry.Attempt, u float64) time.Duration {
	return max(0, j.Of.Delay(a, u)+time.Duration((2*u-1)*float64(j.By)))
}

// Limit returns p with the MaxAttempts and MaxElapsed of limits that are not zero.
func Limit(p, limits retry.Policy) retry.Policy {
	p.MaxAttempts = cmp.Or(limits.MaxAttempts, p.MaxAttempts)
	p.MaxElapsed = cmp.Or(limits.MaxElapsed, p.MaxElapsed)
	return p
}

// Op returns f as an operation of [retry.Do] that ignores its context.
func Op(f func() error) func(context.Context) error {
	return func(context.Context) error { return f() }
}

// OpValue returns f as an operation of [retry.DoValue] that ignores its context.
func OpValue[T any](f func() (T, error)) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return f() }
}
