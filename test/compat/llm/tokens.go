package llm

import (
	"net/http"

	"github.com/gobackoff/retry/ratelimit"
)

// withCost tells the client how many tokens a request will use: about one for four bytes of
// the question, and those of the answer.
func withCost(req *http.Request, maxTokens int) *http.Request {
	tokens := float64(req.ContentLength)/4 + float64(maxTokens)
	return req.WithContext(ratelimit.WithCost(req.Context(), tokens))
}
