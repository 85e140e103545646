// The error of the operation shadowed by a closed-over variable.
package forgotten

import (
	"context"
	"io"
	"net/http"

	"github.com/gobackoff/retry"
)

func Load(ctx context.Context, url string) ([]byte, error) {
	var body []byte
	var err error
	retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { // mistake
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req) // mistake
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
		return err
	})
	return body, err
}
