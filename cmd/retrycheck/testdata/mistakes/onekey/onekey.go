package onekey

import (
	"net/http"
	"os"

	"github.com/gobackoff/retry/retryhttp"
)

func client() *http.Client {
	host, _ := os.Hostname()
	return &http.Client{Transport: &retryhttp.Transport{
		IdempotencyKey: func(*http.Request) string { return "orders-" + host }, // mistake
	}}
}
