package retryhttp

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/ratelimit"
)

// listen tells the Limiters that a request begins. The function that it returns tells them what
// came back.
func (c *call) listen(ctx context.Context) func(*http.Response) {
	found := listeners(c.policy.Limiter)
	if found == nil {
		return func(*http.Response) {}
	}
	begun := make([]ratelimit.Begun, len(found))
	for i, l := range found {
		begun[i] = l.Begin(ctx)
	}
	return func(resp *http.Response) {
		heard := c.limitsIn(resp)
		for i, l := range found {
			l.Hear(begun[i], heard)
		}
	}
}

// limitsIn returns what a response, if any, says about limits.
func (c *call) limitsIn(resp *http.Response) ratelimit.Response {
	if resp == nil {
		return ratelimit.Response{}
	}
	now := c.clock().Now()
	hint := RetryAfter(resp, now)
	throttled := errfacts.IsThrottling(resp.Header, resp.StatusCode)
	r := ratelimit.Response{
		OK:      resp.StatusCode < 500 && !throttled,
		Refused: throttled || resp.StatusCode == http.StatusServiceUnavailable && hint > 0,
		States:  ratelimit.Read(resp.Header, now),
	}
	if r.Refused {
		r.Hint = hint
	}
	return r
}
