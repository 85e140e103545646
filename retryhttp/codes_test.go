package retryhttp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryhttp"
)

// TestCodesOfText: the statuses of a policy's text add to the usual ones, and do not make a request
// repeatable.
func TestCodesOfText(t *testing.T) {
	const throttled = "X-RateLimit-Remaining: 0"
	for name, tt := range map[string]struct {
		text, method string
		status       int
		header       string
		requests     int
	}{
		"not listed":                    {"retry-on=450,530", "GET", 404, "", 1},
		"listed":                        {"retry-on=404,409", "GET", 404, "", 3},
		"listed, but may not run twice": {"retry-on=404,409", "POST", 404, "", 1},
		"the usual ones stay":           {"retry-on=450,530", "GET", 503, "", 3},
		"stopped":                       {"stop-on=503", "GET", 503, "", 1},
		"throttling":                    {"", "GET", 429, "", 3},
		"throttling, stopped":           {"stop-on=429", "GET", 429, "", 1},
		"a 403 that means throttling":   {"", "GET", 403, throttled, 3},
		"the same, stopped":             {"stop-on=403", "GET", 403, throttled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := retryconfig.Parse("no-delay attempts=3 " + tt.text)
			require.NoError(t, err)
			base := &script{replies: []reply{{status: tt.status, header: tt.header}}}
			transport := &retryhttp.Transport{Base: base, Policy: policy}
			resp, err := transport.RoundTrip(request(t, tt.method, ""))
			require.NoError(t, err)
			assert.Equal(t, tt.status, resp.StatusCode)
			assert.Len(t, base.requests, tt.requests)
		})
	}
}
