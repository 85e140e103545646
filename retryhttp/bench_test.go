package retryhttp_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// stub answers every request at once, without a network.
type stub struct{ answer *http.Response }

func (s stub) RoundTrip(*http.Request) (*http.Response, error) { return s.answer, nil }

// BenchmarkSuccess is what a Transport adds to its Base when all is well.
func BenchmarkSuccess(b *testing.B) {
	base := stub{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}}
	for _, bench := range []struct {
		name      string
		transport http.RoundTripper
	}{
		{"base", base},
		{"Transport", &retryhttp.Transport{Base: base}},
		{"Transport,PerHost", &retryhttp.Transport{Base: base, PerHost: &retryhttp.PerHost{}}},
		{"Transport,AttemptHeader", &retryhttp.Transport{Base: base, AttemptHeader: "Attempt"}},
		{"Transport,Budget", &retryhttp.Transport{Base: base, Policy: retry.Policy{Budget: &retry.TokenBudget{}}}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequest(method, "http://host/", bytes.NewReader(make([]byte, 100)))
			require.NoError(b, err)
			if method == http.MethodGet {
				req.Body, req.GetBody = nil, nil
			}
			b.Run("by="+bench.name+"/method="+method, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bench.transport.RoundTrip(req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
