// Type assertion in a classifier.
package assertion

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry"
)

type BusyError struct{ Queue string }

func (e *BusyError) Error() string { return e.Queue + " is busy" }

func Enqueue(ctx context.Context, put func(context.Context) error) error {
	p := retry.Policy{Classifier: retry.OnlyIf(func(err error) bool {
		_, busy := err.(*BusyError) // mistake
		return busy
	})}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := put(ctx); err != nil {
			return fmt.Errorf("enqueue: %w", err)
		}
		return nil
	})
}
