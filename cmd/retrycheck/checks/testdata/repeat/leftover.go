package repeat

import (
	"context"
	"net/http"
	"os"

	"github.com/gobackoff/retry"
)

func addsHeader(ctx context.Context, p retry.Policy, client *http.Client, token func() string) error {
	req, err := http.NewRequest(http.MethodGet, "https://example.com/", nil)
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req.Header.Add("Authorization", token()) // want `all attempts share this header, so a retry sends what the failed attempt has added, too: use Set`
		req.Header.Set("Accept", "text/plain")
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func createsNew(ctx context.Context, p retry.Policy, fetch func(context.Context, string) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := os.Mkdir("package", 0o755); err != nil { // want `what a failed attempt has created still exists, so this fails in a retry: use os.MkdirAll, or remove it first`
			return err
		}
		return fetch(ctx, "package")
	})
}

func createsAgain(ctx context.Context, p retry.Policy, fetch func(context.Context, string) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := os.RemoveAll("package"); err != nil {
			return err
		}
		if err := os.Mkdir("package", 0o755); err != nil {
			return err
		}
		return fetch(ctx, "package")
	})
}
