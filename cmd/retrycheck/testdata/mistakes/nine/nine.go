package nine

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var client = retryhttp.NewClient(retry.Policy{})

func run(ctx context.Context, req *http.Request) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx)) // mistake
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	})
}
