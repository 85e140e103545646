// Retry-After seconds as nanoseconds.
package header

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gobackoff/retry"
)

func Get(ctx context.Context, url string) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode == 429 {
			secs, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
			return retry.After(errors.New("rate limited"), time.Duration(secs)) // mistake
		}
		return nil
	})
}
