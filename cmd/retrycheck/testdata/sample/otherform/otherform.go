// Classifier looks for a pointer, the operation returns a value.
package otherform

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
)

type RetriableError struct{ Err error }

func (r RetriableError) Error() string { return "temporary: " + r.Err.Error() }

func (r RetriableError) Unwrap() error { return r.Err }

var P = retry.Policy{MaxAttempts: 8, Classifier: retry.OnlyIf(func(err error) bool {
	var r *RetriableError
	return errors.As(err, &r) // mistake
})}

func WaitRunning(ctx context.Context, state func(context.Context) (string, error)) error {
	return retry.Do(ctx, P, func(ctx context.Context) error {
		s, err := state(ctx)
		if err != nil {
			return err
		}
		if s != "running" {
			return RetriableError{errors.New("state is " + s)}
		}
		return nil
	})
}
