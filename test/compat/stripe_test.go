package compat

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/coupon"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// newStripe returns a Stripe client that leaves all retries to the policy. The client
// sets an Idempotency-Key, so a POST may be repeated.
func newStripe(url string, policy retry.Policy) *coupon.Client {
	return &coupon.Client{Key: "sk_test", B: stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL:               new(url),
		HTTPClient:        retryhttp.NewClient(policy),
		MaxNetworkRetries: stripe.Int64(0),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
	})}
}

// TestStripe: a failed POST is retried with the same key, as often as the policy allows.
func TestStripe(t *testing.T) {
	for name, tt := range map[string]struct {
		failures int
		succeeds bool
	}{
		"recovers": {2, true},
		"gives up": {3, false},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) <= tt.failures {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				_, _ = w.Write([]byte(`{"id": "half-price"}`))
			}))
			defer server.Close()
			//lint:ignore SA1019 most programs still use the clients of one resource
			created, err := newStripe(server.URL, retry.Policy{Backoff: retry.NoDelay{}}).New(&stripe.CouponParams{PercentOff: stripe.Float64(50)})
			if tt.succeeds {
				assert.NoError(t, err)
				assert.Equal(t, "half-price", created.ID)
			} else {
				assert.Error(t, err)
			}
			assert.Len(t, keys, 3)
			assert.NotEmpty(t, keys[0])
			assert.Equal(t, []string{keys[0], keys[0], keys[0]}, keys)
		})
	}
}
