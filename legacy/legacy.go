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
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// RetryAll is a [retry.Classifier] that retries every error, as cenkalti/backoff and
// avast/retry-go do, except those marked with [retry.Permanent], or with the mark of one
// of these libraries.
type RetryAll struct{}

// Classify implements [retry.Classifier].
func (RetryAll) Classify(err error) retry.Verdict {
	v := retry.Verdict{Class: retry.ClassTransient}
	permanent, _, wait := foreignMark(err)
	if v.Hint = wait; permanent {
		v.Class = retry.ClassPermanent
	}
	return v
}

// RetryMarked is a [retry.Classifier] that retries only what is marked with
// [retry.Transient], or with RetryableError of sethvargo/go-retry, as that library does.
type RetryMarked struct{}

// Classify implements [retry.Classifier].
func (RetryMarked) Classify(err error) retry.Verdict {
	if _, transient, _ := foreignMark(err); transient {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{Class: retry.ClassPermanent}
}

// If returns a [retry.Classifier] that retries the errors for which retryable returns
// true, and no others. [retry.OnlyIf] also refuses to repeat what is not safe to repeat.
func If(retryable func(error) bool) retry.Classifier {
	return retry.ClassifierFunc(func(err error) retry.Verdict {
		if retryable(err) {
			return retry.Verdict{Class: retry.ClassTransient}
		}
		return retry.Verdict{Class: retry.ClassPermanent}
	})
}

// foreignMark reports whether the outermost mark of another library in err is one against
// a retry, for one, or for one after a wait. It recognizes their types by name.
func foreignMark(err error) (permanent, transient bool, wait time.Duration) {
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
		case "RetryAfterError":
			if v := reflect.Indirect(reflect.ValueOf(err)).FieldByName("Duration"); v.IsValid() && strings.Contains(path, "cenkalti/backoff") {
				wait = time.Duration(v.Int())
			}
		}
		if permanent || transient || wait > 0 {
			break
		}
	}
	return permanent, transient, wait
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
// wait, as cenkalti/backoff calls a Notify. A nil f is never called.
func OnRetry(f func(error, time.Duration)) retry.Hooks {
	if f == nil {
		return retry.Hooks{}
	}
	return retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		f(Bare(failed.Err), wait)
	}}
}

// OnFailure returns [retry.Hooks] that call f after each failure that is not permanent,
// the last included, with the number of earlier ones, as avast/retry-go does. A nil f
// is never called.
func OnFailure(f func(n uint, err error)) retry.Hooks {
	if f == nil {
		return retry.Hooks{}
	}
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
	return dur.Add(max(0, s[0].Delay(a, u)), max(0, s[1].Delay(a, u)))
}

// Jitter is a [retry.Backoff] that varies another rule's delay by up to By in either
// direction, as WithJitter of sethvargo/go-retry does.
type Jitter struct {
	Of retry.Backoff // not nil
	By time.Duration // 0 or less: no jitter
}

// Delay implements [retry.Backoff].
func (j Jitter) Delay(a retry.Attempt, u float64) time.Duration {
	t := float64(max(0, j.Of.Delay(a, u)))
	return dur.Saturate(t+(2*u-1)*float64(max(0, j.By)), math.MaxInt64)
}

// BackOff is the interface of cenkalti/backoff. An adapt.Sequence implements it, too.
type BackOff interface {
	NextBackOff() time.Duration // -1 ends the call
	Reset()                     // begins a new call
}

// NextBackOff returns the policy of one call that asks b for its delays. b is reset now, and
// its -1 ends the call.
func NextBackOff(b BackOff) retry.Policy {
	b.Reset()
	return asking(RetryAll{}, func() (time.Duration, bool) {
		wait := b.NextBackOff()
		return wait, wait == -1
	})
}

// Next returns the policy of one call that asks b, a Backoff of sethvargo/go-retry, for its
// delays.
func Next(b interface{ Next() (time.Duration, bool) }) retry.Policy {
	return asking(RetryMarked{}, b.Next)
}

// asking returns the policy of one call that makes the waits of next, until it says stop.
func asking(c retry.Classifier, next func() (wait time.Duration, stop bool)) retry.Policy {
	a := &asked{next: next}
	return retry.Policy{MaxAttempts: retry.Unlimited, Classifier: c, Backoff: a, Budget: a}
}

// asked is a rule and, because a rule cannot end a call, the budget that is asked after it.
type asked struct {
	next func() (wait time.Duration, stop bool)
	stop bool
}

func (a *asked) Delay(retry.Attempt, float64) (wait time.Duration) {
	wait, a.stop = a.next()
	return wait
}
func (a *asked) TryWithdraw(retry.Attempt) bool { return !a.stop }
func (a *asked) Deposit(retry.Attempt, error)   {}

// Context returns the context that a backoff made by WithContext of cenkalti/backoff carries,
// or the background.
func Context(b any) context.Context {
	if b, ok := b.(interface{ Context() context.Context }); ok {
		return b.Context()
	}
	return context.Background()
}

// WithContext returns a backoff that takes its delays from b until ctx is done.
func WithContext(b BackOff, ctx context.Context) interface {
	BackOff
	Context() context.Context
} {
	return ending{b, ctx}
}

type ending struct {
	BackOff
	ctx context.Context
}

func (e ending) Context() context.Context { return e.ctx }
func (e ending) NextBackOff() time.Duration {
	if e.ctx.Err() != nil {
		return -1
	}
	return e.BackOff.NextBackOff()
}

// Stop returns a context that ends when the channel does.
func Stop(done <-chan struct{}) context.Context {
	return stop{context.Background(), done}
}

type stop struct {
	context.Context
	done <-chan struct{}
}

func (s stop) Done() <-chan struct{} { return s.done }
func (s stop) Err() error {
	select {
	case <-s.done:
		return context.Canceled
	default:
		return nil
	}
}

// Steps is a wait.Backoff of k8s.io/apimachinery, which can be converted to it.
type Steps struct {
	Duration time.Duration // first delay
	Factor   float64       // growth; 0: none
	Jitter   float64       // largest share of a delay that is added to it
	Steps    int           // most attempts; 0 makes one, other than there
	Cap      time.Duration // largest delay; 0: none
}

// Policy returns the policy of wait.ExponentialBackoff: a delay that would exceed the Cap ends
// the call.
func (b Steps) Policy() retry.Policy {
	attempts := max(1, b.Steps)
	if next := float64(b.Duration) * b.Factor; b.Cap > 0 && next > 0 {
		reached := 1
		for ; next <= float64(b.Cap) && reached < attempts && b.Factor > 1; next *= b.Factor {
			reached++
		}
		if next > float64(b.Cap) {
			attempts = reached
		}
	}
	p := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: attempts, Classifier: RetryAll{}}
	if b.Duration > 0 {
		p.Backoff = retry.Exponential{Base: b.Duration, Factor: cmp.Or(b.Factor, 1)}
	}
	if b.Jitter > 0 {
		p.Backoff = longer{Of: p.Backoff, By: b.Jitter}
	}
	return p
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

// longer is a [retry.Backoff] that lengthens another rule's delay by up to the share By
// of it, as wait.Jitter of k8s.io/apimachinery does.
type longer struct {
	Of retry.Backoff // not nil
	By float64       // 0 or less: no jitter
}

// Delay implements [retry.Backoff].
func (l longer) Delay(a retry.Attempt, u float64) time.Duration {
	t := float64(max(0, l.Of.Delay(a, u)))
	return dur.Saturate(t*(1+max(0, l.By)*u), math.MaxInt64)
}

// Until returns an operation that fails until condition returns true or an error, which
// is permanent, as the functions of k8s.io/apimachinery/pkg/util/wait expect it. If the
// call gives up, its error has their text, and matches [context.DeadlineExceeded] and
// wait.ErrWaitTimeout, so that wait.Interrupted recognizes it.
func Until(condition func(context.Context) (bool, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		done, err := condition(ctx)
		if err == nil && !done {
			return notYet{}
		}
		return retry.Permanent(err)
	}
}

// UntilLater is [Until] for a condition that is tried for the first time after a delay:
// the first attempt only fails. Each call needs an operation of its own.
func UntilLater(condition func(context.Context) (bool, error)) func(context.Context) error {
	waited, op := false, Until(condition)
	return func(ctx context.Context) error {
		if !waited {
			waited = true
			return notYet{}
		}
		return op(ctx)
	}
}

// Poll is [Until] if immediate is true, and otherwise [UntilLater].
func Poll(immediate bool, condition func(context.Context) (bool, error)) func(context.Context) error {
	if immediate {
		return Until(condition)
	}
	return UntilLater(condition)
}

type notYet struct{}

const timedOut = "timed out waiting for the condition"

func (notYet) Error() string { return timedOut }
func (notYet) Timeout() bool { return true }
func (notYet) Is(target error) bool {
	return target == context.DeadlineExceeded || target.Error() == timedOut // wait.ErrWaitTimeout
}
