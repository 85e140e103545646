package llm

import (
	"net/http"

	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// paced lets calls wait while few tokens are left. The processes that share a key need not
// know of each other.
func paced(transport *retryhttp.Transport) {
	transport.Policy.Limiter = &ratelimit.Limiter{}
}

// withCost tells the limiter how many tokens a request will use: about one for four bytes of
// the question, and those of the answer.
func withCost(req *http.Request, maxTokens int) *http.Request {
	tokens := float64(req.ContentLength)/4 + float64(maxTokens)
	return req.WithContext(ratelimit.WithCost(req.Context(), tokens))
}
