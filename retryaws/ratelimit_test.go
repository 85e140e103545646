package retryaws_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// TestRateLimit: a ratelimit.Limiter lets the calls of a client share the wait that the service asks
// for.
func TestRateLimit(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		for name, tt := range map[string]struct {
			limiter     retry.Limiter
			least, most int // requests of 300 calls
		}{
			"none": {nil, 600, 600},
			"one":  {new(ratelimit.Limiter), 300, 345},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					transport := newScript(func(req *http.Request) (*http.Response, error) {
						left := 2*time.Second - time.Since(start)
						if left <= 0 {
							return ok(req)
						}
						return respond(503, "{}", "X-Amz-Retry-After", strconv.FormatInt(left.Milliseconds()+1, 10))(req)
					})
					c := newDynamoDB(t, transport, f, retry.Policy{Limiter: tt.limiter})
					var calls sync.WaitGroup
					for range 300 {
						time.Sleep(time.Second / 300)
						calls.Go(func() { assert.NoError(t, getItem(t.Context(), c)) })
					}
					calls.Wait()
					assert.GreaterOrEqual(t, transport.count(), tt.least)
					assert.LessOrEqual(t, transport.count(), tt.most)
				})
			})
		}
	})
}
