package checkbody

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func client() *http.Client {
	return &http.Client{Transport: &retryhttp.Transport{
		Check: func(resp *http.Response, _ func(n int) ([]byte, error)) error {
			var content struct{ Error string }
			if err := json.NewDecoder(resp.Body).Decode(&content); err != nil || content.Error == "" { // not found
				return nil
			}
			return retry.Transient(errors.New(content.Error))
		},
	}}
}
