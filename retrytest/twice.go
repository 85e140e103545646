package retrytest

import "context"

// Twice returns an operation that calls op and, if that succeeds, calls op again and
// returns the second result: as if the first response had been lost and the caller had
// retried. A test that passes with op, but not with Twice(op), shows that a retry after a
// timeout or a lost connection would do harm. Such an operation needs a key by which the
// server recognizes a repeated request; otherwise mark its timeouts and lost connections
// with retry.Unrepeatable.
func Twice(op func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := op(ctx); err != nil {
			return err
		}
		return op(ctx)
	}
}

// TwiceValue is Twice for an operation that returns a value, as retry.DoValue takes it.
func TwiceValue[T any](op func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) {
		if value, err := op(ctx); err != nil {
			return value, err
		}
		return op(ctx)
	}
}
