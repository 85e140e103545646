// Client made in the handler.
package inhandler

import (
	"io"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func Handle(w http.ResponseWriter, r *http.Request) {
	client := retryhttp.NewClient(retry.Policy{MaxAttempts: 4}) // mistake
	req, err := http.NewRequestWithContext(r.Context(), "GET", "http://backend/"+r.URL.Path, nil)
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		http.Error(w, err.Error(), 502)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body)
}
