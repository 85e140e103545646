// %v drops the chain.
package chain

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry"
)

type API interface {
	Fetch(context.Context, string) ([]byte, error)
}

func Fetch(ctx context.Context, a API, id string) ([]byte, error) {
	return retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) ([]byte, error) {
		b, err := a.Fetch(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("fetch %s: %v", id, err) // mistake
		}
		return b, nil
	})
}
