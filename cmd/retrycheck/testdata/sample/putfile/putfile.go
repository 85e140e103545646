// PUT of a file through retryhttp: no GetBody, sent once.
package putfile

import (
	"context"
	"net/http"
	"os"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var client = retryhttp.NewClient(retry.Policy{MaxAttempts: 5})

func Upload(ctx context.Context, url, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, f) // not found
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}
