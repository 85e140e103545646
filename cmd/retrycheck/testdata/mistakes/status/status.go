package status

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, req *http.Request) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx)) // mistake
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
