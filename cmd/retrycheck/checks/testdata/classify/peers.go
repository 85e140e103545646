package classify

import (
	"context"
	"errors"

	"github.com/avast/retry-go/v5"
)

var errRevoked = errors.New("revoked")

func register(op func() error) error {
	return retry.New(
		retry.RetryIf(func(err error) bool { return !errors.Is(err, context.Canceled) }), // want `this replaces the function that knows Unrecoverable`
	).Do(func() error {
		err := op()
		if errors.Is(err, errRevoked) {
			return retry.Unrecoverable(err)
		}
		return err
	})
}

func asksBoth(op func() error) error {
	return retry.New(retry.RetryIf(func(err error) bool {
		return retry.IsRecoverable(err) && !errors.Is(err, context.Canceled)
	})).Do(op)
}
