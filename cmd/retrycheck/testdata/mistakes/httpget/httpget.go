package httpget

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := http.Get("https://example.com/") // mistake
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
