// Wg.Done in the operation.
package waitgroup

import (
	"context"
	"sync"

	"github.com/gobackoff/retry"
)

func All(ctx context.Context, ops []func(context.Context) error) {
	var wg sync.WaitGroup
	for _, op := range ops {
		wg.Add(1)
		go func() {
			err := retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
				defer wg.Done() // mistake
				return op(ctx)
			})
			_ = err
		}()
	}
	wg.Wait()
}
