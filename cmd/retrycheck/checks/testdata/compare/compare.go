package compare

import (
	"context"
	"database/sql"
	"errors"
	"io"

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
	err = errors.Unwrap(err)
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
	_, err = p.Start().Failed(ctx, err)
	return errors.Is(err, retry.ErrPermanent)
}

func call(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	return retry.Do(ctx, p, op)
}

func isOver(err error) bool { return err == retry.ErrMaxElapsed } // want `matches retry.ErrMaxElapsed but is not equal to it`

func isSpent(reason error) bool { return reason == retry.ErrBudget }

func helpers(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	err := call(ctx, p, op)
	if err == retry.ErrBudget { // want `matches retry.ErrBudget but is not equal to it`
		return true
	}
	var gaveUp *retry.Error
	return errors.As(err, &gaveUp) && isSpent(gaveUp.Reason) || isOver(err)
}

func reason(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	var why error
	p = p.With(retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) { why = e.Reason }})
	_ = retry.Do(ctx, p, op)
	return why == retry.ErrBudget
}

func permanent(ctx context.Context, op func(context.Context) error) bool {
	err := retry.Do(ctx, retry.Policy{Classifier: retry.PermanentIf(errEnded)}, op)
	return err == errEnded || err == sql.ErrNoRows
}

var errEnded = errors.New("ended")

// again sets errors to themselves and to each other.
func again(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	err := retry.Do(ctx, p, op)
	for err := err; err != nil; err = errors.Unwrap(err) {
		if _, ok := err.(*statusError); ok {
			return true
		}
	}
	other := err
	err, other = other, err
	return err == errClosed // want `the error of Do wraps errClosed`
}
