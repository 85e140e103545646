// Body not closed when the status is bad.
package leftopen

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/gobackoff/retry"
)

func Load(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	return retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, retry.Permanent(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 == 5 {
			return nil, fmt.Errorf("server error: %d", resp.StatusCode) // not found
		}
		defer resp.Body.Close()
		return io.ReadAll(resp.Body)
	})
}
