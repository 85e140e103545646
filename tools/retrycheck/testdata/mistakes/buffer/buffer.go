package buffer

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/gobackoff/retry"
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
		return resp.Body.Close()
	})
}
