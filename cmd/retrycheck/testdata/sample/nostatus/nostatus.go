// Status of a plain client not checked.
package nostatus

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gobackoff/retry"
)

type User struct{ Name string }

func Load(ctx context.Context, url string) (User, error) {
	return retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) (u User, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return u, err
		}
		resp, err := http.DefaultClient.Do(req) // mistake
		if err != nil {
			return u, err
		}
		defer resp.Body.Close()
		err = json.NewDecoder(resp.Body).Decode(&u)
		return u, err
	})
}
