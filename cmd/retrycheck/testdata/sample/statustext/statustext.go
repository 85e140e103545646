// errors.New(resp.Status) of a plain client: 404 retried, Retry-After lost.
package statustext

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gobackoff/retry"
)

var client = &http.Client{}

func Load(ctx context.Context, url string) (b []byte, err error) {
	err = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status) // mistake
		}
		b, err = io.ReadAll(resp.Body)
		return err
	})
	return b, err
}
