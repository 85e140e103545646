// A retry sends all items again. Nothing finds it.
package allitems

import (
	"context"

	"github.com/gobackoff/retry"
)

type Sink interface {
	Insert(context.Context, string) error
}

func Flush(ctx context.Context, s Sink, items []string) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: 5}, func(ctx context.Context) error {
		for _, it := range items {
			if err := s.Insert(ctx, it); err != nil {
				return err
			}
		}
		return nil
	})
}
