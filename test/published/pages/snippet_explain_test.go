package pages

import (
	"log"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var _ = func(client *http.Client, transport *retryhttp.Transport, req *http.Request) {
	resp, err := client.Do(req)
	if err == nil {
		err = retryhttp.CheckStatus(resp)
	}
	log.Print(retry.Explain(transport.Policy, err))
}
