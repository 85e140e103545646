package buffer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func run(ctx context.Context, job any) error {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(job); err != nil {
		return err
	}
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", &body) // mistake
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return errors.Join(retryhttp.CheckStatus(resp), resp.Body.Close())
	})
}
