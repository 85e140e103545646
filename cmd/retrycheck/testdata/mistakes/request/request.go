package request

import (
	"context"
	"net/http"
	"strings"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx)) // mistake
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
