package recipes

import (
	"context"

	"github.com/gobackoff/retry"
)

// Objects reads and writes objects of Kubernetes, as the typed clients of client-go do.
type Objects[T any] interface {
	Get(ctx context.Context, name string) (T, error)
	Update(ctx context.Context, object T) (T, error)
}

// Change reads an object, changes it and writes it back. If somebody else has changed it in the
// meantime, the API server responds with a conflict, and the object is read again.
func Change[T any](ctx context.Context, objects Objects[T], name string, change func(T)) (T, error) {
	policy := retry.Policy{MaxAttempts: 6}
	return retry.DoValue(ctx, policy, func(ctx context.Context) (T, error) {
		object, err := objects.Get(ctx, name)
		if err != nil {
			return object, err
		}
		change(object)
		return objects.Update(ctx, object)
	})
}
