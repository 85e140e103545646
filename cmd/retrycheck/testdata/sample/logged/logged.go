// Error logged and swallowed in the operation.
package logged

import (
	"context"
	"log"

	"github.com/gobackoff/retry"
)

type Store struct {
	put func(context.Context, string) error
}

func (s *Store) Save(ctx context.Context, v string) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		if err := s.put(ctx, v); err != nil {
			log.Printf("put failed, will retry: %v", err)
		}
		return nil
	})
}
