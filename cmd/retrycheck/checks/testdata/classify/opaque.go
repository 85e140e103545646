package classify

import (
	"context"
	"errors"

	ours "github.com/gobackoff/retry"
)

type storeError struct {
	op    string
	cause error
}

func (e *storeError) Error() string { return e.op + ": " + e.cause.Error() }

type openError struct {
	op    string
	cause error
}

func (e *openError) Error() string { return e.op + ": " + e.cause.Error() }
func (e *openError) Unwrap() error { return e.cause }

func opaque(ctx context.Context, p ours.Policy, get func(context.Context) error) error {
	return ours.Do(ctx, p, func(ctx context.Context) error {
		if err := get(ctx); err != nil {
			return &storeError{op: "get", cause: err} // want `storeError has no Unwrap, so the class of the error in it is lost, and a 404 is retried: add Unwrap\(\) error`
		}
		return nil
	})
}

func open(ctx context.Context, p ours.Policy, get func(context.Context) error) error {
	return ours.Do(ctx, p, func(ctx context.Context) error {
		if err := get(ctx); err != nil {
			return &openError{op: "get", cause: err}
		}
		return nil
	})
}

var unequal = ours.Policy{Classifier: ours.PermanentIf(errors.New("no such account"))} // want `no error is equal to this new value: list a variable that the operation returns`
