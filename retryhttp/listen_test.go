package retryhttp_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// TestLimiterHearsResponses: a Limiter of the Policy, of the scope or of both learns from the
// headers of successes that a server's limit is used up.
func TestLimiterHearsResponses(t *testing.T) {
	perScope := func() *retryhttp.PerScope {
		return &retryhttp.PerScope{New: func(string) retry.Limiter { return &ratelimit.Limiter{} }}
	}
	other := func() retry.Policy { return retry.Policy{Limiter: nothing{}} }
	for name, transport := range map[string]*retryhttp.Transport{
		"Policy":             {Policy: retry.Policy{Limiter: &ratelimit.Limiter{}}},
		"scope":              {PerScope: perScope()},
		"scope, and another": {PerScope: perScope(), Policy: other()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, refused := 0, 0
				end := time.Now().Add(9 * time.Second)
				transport.Base = roundTripper(func(req *http.Request) (*http.Response, error) {
					time.Sleep(10 * time.Millisecond)
					h := http.Header{}
					h.Set("RateLimit-Limit", "2")
					h.Set("RateLimit-Remaining", "0")
					h.Set("RateLimit-Reset", "9")
					requests++
					if requests > 2 && time.Now().Before(end) {
						refused++
						return &http.Response{StatusCode: 429, Header: h, Body: http.NoBody, Request: req}, nil
					}
					return &http.Response{StatusCode: 200, Header: h, Body: http.NoBody, Request: req}, nil
				})
				client := http.Client{Transport: transport}
				for range 3 {
					resp, err := client.Get("http://api.test/")
					require.NoError(t, err)
					assert.Equal(t, 200, resp.StatusCode)
				}
				assert.Equal(t, 1, refused, "the first that should have waited shows that the header is right")
				start := time.Now()
				resp, err := client.Get("http://api.test/")
				require.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode)
				assert.Greater(t, time.Since(start), 5*time.Second)
				assert.Equal(t, 1, refused)
			})
		})
	}
}

// nothing is a Limiter that lets each call begin.
type nothing struct{}

func (nothing) Wait(context.Context) error { return nil }
