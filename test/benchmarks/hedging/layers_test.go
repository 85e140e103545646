package hedging

import (
	"context"
	"flag"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
)

// above hedges whole calls, with their retries, instead of attempts.
type above struct {
	hedge *retryhedge.Hedge
	base  http.RoundTripper
}

func (a above) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, done, err := retryhedge.Open(req.Context(), a.hedge, "", func(ctx context.Context, _ int) (*http.Response, error) {
		return a.base.RoundTrip(req.Clone(ctx))
	}, func(resp *http.Response) {
		if resp != nil {
			_ = resp.Body.Close()
		}
	})
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = closing{resp.Body, done}
	return resp, nil
}

type closing struct {
	io.ReadCloser
	done func()
}

func (c closing) Close() error {
	defer c.done()
	return c.ReadCloser.Close()
}

// TestLayers: copies of attempts, below the retries, and copies of whole calls, above them,
// on one budget. Slow attempts run into their time limit, so a call has failed after 0.5 s,
// unless the budget pays for a retry, which makes it 1 s if that is slow, too. With
//
//	go test -v ./hedging -run TestLayers -runs 20 -calls 2000 -slow 250
//
// those are about 1 % of the calls in both cases, so the p99 is 0.57 or 1 s by chance.
func TestLayers(t *testing.T) {
	for range *runs {
		for _, layer := range []string{"below", "above"} {
			t.Run(layer, func(t *testing.T) {
				budget := &retry.SharedBudget{}
				tr := retryhttp.Transport{Policy: retry.Policy{AttemptTimeout: 500 * time.Millisecond, Budget: budget}}
				hedge := &retryhedge.Hedge{Budget: budget}
				found := run(t, client{wrapped: func(base http.RoundTripper) http.RoundTripper {
					if tr.Base = base; layer == "below" {
						tr.Hedge = hedge
						return &tr
					}
					return above{hedge, &tr}
				}}, false)
				// A call that succeeds earns half of a retry or copy.
				assert.LessOrEqual(t, found["brown-out"].load, 1.5)
			})
		}
	}
}

var runs = flag.Int("runs", 1, "runs of TestLayers")
