// Writes to the ResponseWriter in the operation.
package writer

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gobackoff/retry"
)

type Lister interface {
	List(context.Context, int) ([]string, bool, error)
}

func Handler(l Lister) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := retry.Do(r.Context(), retry.Policy{}, func(ctx context.Context) error {
			enc := json.NewEncoder(w) // mistake
			for page := 0; ; page++ {
				items, more, err := l.List(ctx, page)
				if err != nil {
					return err
				}
				if err := enc.Encode(items); err != nil {
					return err
				}
				if !more {
					return nil
				}
			}
		})
		if err != nil {
			http.Error(w, err.Error(), 502)
		}
	}
}
