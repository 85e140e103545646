package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

func compares(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	if err == retry.ErrMaxAttempts { // want `matches retry.ErrMaxAttempts but is not equal to it: use errors.Is\(err, retry.ErrMaxAttempts\)`
		return "attempts"
	}
	if nil != err && retry.ErrBudget != err { // want `use errors.Is\(err, retry.ErrBudget\)`
		return "other"
	}
	return ""
}

func matches(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	reason := func(_ context.Context, e *retry.Error) { _ = e.Reason == retry.ErrBudget && e.Err == nil }
	err := retry.Do(ctx, p.With(retry.Hooks{OnGiveUp: reason}), op)
	return errors.Is(err, retry.ErrMaxAttempts) || err == context.Canceled // want `the error of Do wraps context.Canceled if it gave up: use errors.Is\(err, context.Canceled\)`
}

func copiesReason(e *retry.Error) bool {
	reason := e.Reason
	return reason == retry.ErrBudget
}

func switches(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	switch err := retry.Do(ctx, p, op); err {
	case nil:
		return 0
	case context.Canceled, retry.ErrMaxAttempts: // want `the error of Do wraps context.Canceled` `use errors.Is\(err, retry.ErrMaxAttempts\)`
		return 1
	}
	hooks := retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
		switch e.Reason {
		case retry.ErrBudget:
		}
	}}
	switch err := retry.Do(ctx, p.With(hooks), op); {
	case errors.Is(err, retry.ErrMaxElapsed):
		return 2
	}
	return 3
}

var errClosed = errors.New("closed")

func failures(ctx context.Context, p retry.Policy, op func(context.Context) (int, error)) int {
	n, err := retry.DoValue(ctx, p, op)
	if err == io.EOF || err != errClosed { // want `the error of Do wraps io.EOF` `the error of Do wraps errClosed`
		return 0
	}
	if err == nil {
		return n
	}
	if _, err := op(ctx); err == io.EOF {
		return 1
	}
	err = errors.Unwrap(err) // want `this is nil if Do gave up, because its error wraps two: use errors.Is or errors.As`
	if err == io.EOF {
		return 2
	}
	return n
}

type statusError struct{ code int }

func (*statusError) Error() string { return "status" }

func asserts(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	err := retry.Do(ctx, p, op)
	if e, ok := err.(*statusError); ok { // want `the error of Do wraps the last failure if it gave up, and markers wrap it, too: use errors.As`
		return e.code
	}
	switch e := err.(type) { // want `use errors.As`
	case *statusError:
		return e.code
	}
	if e, ok := err.(*retry.Error); ok {
		return e.Attempts
	}
	var status *statusError
	if errors.As(err, &status) {
		return status.code
	}
	return 0
}

func never(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	err := retry.Do(ctx, p, op)
	if errors.Is(err, retry.ErrPermanent) { // want `this is never true, because Do returns a permanent error as the operation returned it`
		return true
	}
	_, err = p.Next(retry.Attempt{Number: 1, Err: err}, 0)
	return errors.Is(err, retry.ErrPermanent)
}

var errSoldOut, errEmpty, errLate = errors.New("sold out"), errors.New("empty"), errors.New("late")

type shop struct{ policy retry.Policy }

func (s *shop) reserve(ctx context.Context, try func(context.Context) error) error {
	return retry.Do(ctx, s.policy, func(ctx context.Context) error {
		err := try(ctx)
		if errors.Is(err, errSoldOut) {
			return retry.Permanent(err)
		}
		return err
	})
}

func (s *shop) order(ctx context.Context, items []string, try func(context.Context) error) error {
	if len(items) == 0 {
		return errEmpty
	}
	if err := s.reserve(ctx, try); err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	return nil
}

func (s *shop) count(ctx context.Context, try func(context.Context) (int, error)) (n int, err error) {
	n, err = retry.DoValue(ctx, s.policy, try)
	return
}

func (s *shop) pay(ctx context.Context, check, try func(context.Context) error) error {
	if err := check(ctx); err != nil {
		return err
	}
	return s.reserve(ctx, try)
}

func ofHelpers(ctx context.Context, s *shop, try func(context.Context) error, number func(context.Context) (int, error)) string {
	switch err := s.reserve(ctx, try); err {
	case nil:
		return "reserved"
	case errSoldOut: // want `the error of Do that reserve returns wraps errSoldOut if it gave up: use errors.Is\(err, errSoldOut\)`
		return "sold out"
	}
	switch err := s.order(ctx, nil, try); err {
	case errEmpty:
		return "empty"
	case errSoldOut: // want `the error of Do that order returns wraps errSoldOut`
		return "sold out"
	}
	if s.reserve(ctx, try) == errSoldOut { // want `the error of Do that reserve returns wraps errSoldOut`
		return "sold out"
	}
	_, err := s.count(ctx, number)
	if io.EOF == err { // want `the error of Do that count returns wraps io.EOF`
		return "counted"
	}
	if e, ok := err.(*statusError); ok { // want `the error of Do that count returns wraps the last failure`
		return e.Error()
	}
	switch err := s.pay(ctx, try, try); err {
	case errLate: // perhaps an error of check
		return "late"
	case errSoldOut: // want `the error of Do that pay returns wraps errSoldOut`
		return "sold out"
	}
	again := func() error { return s.reserve(ctx, try) }
	if err := again(); err == errSoldOut { // want `the error of Do that again returns wraps errSoldOut`
		return "sold out"
	}
	if err := try(ctx); err == errSoldOut {
		return "sold out"
	}
	return ""
}

func listed(ctx context.Context, op func(context.Context) error) bool {
	p := retry.Policy{Classifier: retry.FirstOf(retry.PermanentIf(errSoldOut), retry.DefaultClassifier{})}
	err := retry.Do(ctx, p, op)
	return err == errSoldOut
}

func assertsInterfaces(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	err := retry.Do(ctx, p, op)
	if t, ok := err.(interface{ Timeout() bool }); ok {
		return t.Timeout()
	}
	switch err.(type) {
	case nil:
		return false
	case *retry.Error:
		return true
	}
	_, ok := err.(net.Error) // want `use errors.As`
	return ok
}

func unwraps(ctx context.Context, p retry.Policy, name string) bool {
	err := retry.Do(ctx, p, func(context.Context) error {
		err := os.Remove(name)
		if os.IsNotExist(err) {
			return retry.Permanent(err)
		}
		return err
	})
	if os.IsNotExist(err) { // want `os.IsNotExist does not find an error that retry.Permanent marks: use errors.Is`
		return true
	}
	err = retry.Do(ctx, p, func(context.Context) error { return os.Remove(name) })
	return os.IsNotExist(err)
}

func lastFailure(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	var e *retry.Error
	if errors.As(err, &e) { // want `a permanent error of the operation is not matched here, so it passes for a success: ask for err != nil, too`
		return fmt.Sprintf("failed %d times: %s", e.Attempts, e.Err.Error()) // want `e.Err is nil if the call ended before its first attempt, so this panics: use the error of Do itself, or look at Attempts first`
	}
	return "done"
}

func asserted(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	if err != nil {
		e := err.(*retry.Error)                                  // want `Do returns a permanent error as it is, so this panics: use errors.As`
		return err.(*retry.Error).Reason.Error() + e.Err.Error() // want `this panics: use errors.As` `e.Err is nil`
	}
	return ""
}

func exhausted(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	if err := retry.Do(ctx, p, op); errors.Is(err, retry.ErrMaxAttempts) { // Dropped reports this
		return errLate
	}
	return nil
}

func inner(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := retry.Do(ctx, p, op)
	if e, ok := errors.AsType[*retry.Error](err); ok {
		return e.Err // want `e.Err is nil if the call ended before its first attempt, so this returns nil, as after a success`
	}
	return err
}

func innerVariable(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := retry.Do(ctx, p, op)
	var e *retry.Error
	if errors.As(err, &e) {
		last := e.Err
		log.Print(last)
		log.Print(last.(*statusError).code) // want `so this panics`
		return last                         // want `returns nil, as after a success`
	}
	return err
}

var noisy = retry.Hooks{
	OnGiveUp: func(_ context.Context, e *retry.Error) {
		log.Print(e.Err.Error()) // want `e.Err is nil if the call ended before its first attempt, so this panics`
	},
	OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) { log.Print(failed.Err.Error()) },
}

var quiet = retry.Hooks{
	OnGiveUp: func(_ context.Context, e *retry.Error) {
		if e.Reason == retry.ErrPermanent {
			log.Print(e.Err.Error())
		}
	},
}

var named = retry.Hooks{OnGiveUp: logs}

func logs(_ context.Context, e *retry.Error) { log.Print(e.Err.Error()) } // want `so this panics`

func text(e *retry.Error) string { return e.Err.Error() } // want `so this panics`

func textIfAny(e *retry.Error) string { return e.Err.Error() }

func looks(ctx context.Context, p retry.Policy, op func(context.Context) error) (string, error) {
	err := retry.Do(ctx, p, op)
	e, ok := errors.AsType[*retry.Error](err)
	if !ok {
		return "", err
	}
	if e.Attempts > 0 {
		return e.Err.Error() + textIfAny(e), nil
	}
	if failure := e.Err; failure != nil {
		return failure.Error(), failure
	}
	return "", e.Reason
}

func describes(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	if e, ok := errors.AsType[*retry.Error](err); ok {
		return text(e)
	}
	return fmt.Sprint(err)
}

func looksAtErr(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := retry.Do(ctx, p, op)
	var e *retry.Error
	if errors.As(err, &e) && e.Err != nil {
		log.Print(errors.Is(e.Err, io.EOF), e.Err)
		return e.Err
	}
	return err
}

func looksAtReason(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	if errors.Is(err, retry.ErrMaxAttempts) {
		e := err.(*retry.Error)
		return e.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func looksAtContext(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	var e *retry.Error
	err := retry.Do(ctx, p, op)
	if ctx.Err() != nil || err == nil {
		return "canceled"
	}
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// cause is for errors.Is and errors.As, so nil does no harm.
func cause(err error) error {
	var e *retry.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func kind(err error) string {
	e, ok := errors.AsType[*retry.Error](err)
	if !ok {
		return ""
	}
	switch last := e.Err.(type) {
	case *statusError:
		return last.Error() + e.Err.Error()
	}
	return e.Err.Error() // want `so this panics`
}

func texts(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	if err == nil {
		return ""
	}
	if err.Error() == errSoldOut.Error() { // want `the text of the error of Do has more in it if it gave up: use errors.Is or errors.As`
		return "sold out"
	}
	switch err.Error() { // want `the text of the error of Do`
	case "empty":
		return "empty"
	}
	return "failed: " + err.Error()
}

func someCases(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	err := retry.Do(ctx, p, op)
	switch { // want `other failures pass for a success behind this switch: add a case err != nil`
	case errors.Is(err, errSoldOut):
		return 404
	case errors.Is(err, retry.ErrMaxAttempts):
		return 503
	}
	return 200
}

func allCases(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	err := retry.Do(ctx, p, op)
	switch {
	case errors.Is(err, errSoldOut):
		return 404
	case errors.Is(err, retry.ErrMaxAttempts):
		return 503
	case err != nil:
		return 500
	}
	switch err := retry.Do(ctx, p, op).(type) {
	case *retry.Error:
		return err.Attempts
	}
	switch err.(type) {
	case *retry.Error:
		return err.(*retry.Error).Attempts
	}
	return 200
}
