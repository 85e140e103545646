// Request with a body reused.
package withbody

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
)

func Put(ctx context.Context, url string, body []byte) error {
	req, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx)) // mistake
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 500 {
			return fmt.Errorf("put: status %d", resp.StatusCode)
		}
		return nil
	})
}
