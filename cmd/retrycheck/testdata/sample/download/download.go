// Download into a file opened outside.
package download

import (
	"context"
	"io"
	"net/http"
	"os"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func Download(ctx context.Context, url, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return err
		}
		_, err = io.Copy(f, resp.Body) // mistake
		return err
	})
}
