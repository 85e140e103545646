// Status of a retryhttp client not checked.
package lastresponse

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var client = retryhttp.NewClient(retry.Policy{})

func Load(ctx context.Context, url string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req) // mistake
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(v)
}
