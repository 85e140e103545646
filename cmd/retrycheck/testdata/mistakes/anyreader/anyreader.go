package anyreader

import (
	"context"
	"encoding/json"
	"io"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, in io.Reader, store func(context.Context, any) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		var order struct{ ID int }
		if err := json.NewDecoder(in).Decode(&order); err != nil { // mistake
			return err
		}
		return store(ctx, order)
	})
}
