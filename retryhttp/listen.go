package retryhttp

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/ratelimit"
)

// A listener is a Limiter that is told of each request and its response, such as a
// [ratelimit.Limiter], or a type that embeds one.
type listener interface {
	Begin(ctx context.Context) ratelimit.Begun
	Hear(b ratelimit.Begun, r ratelimit.Response)
}

// A beginning is when a request began.
type beginning struct {
	at    time.Time         // if the call's lane has no Limiter yet
	place *place            // that of the call's lane
	lane  ratelimit.Begun   // as the Limiter of place has it
	found []listener        // the Limiters of a PerScope and a Policy
	begun []ratelimit.Begun // as these have it
}

// begin tells the Limiters that a request begins.
func (c *call) begin(ctx context.Context) (b beginning) {
	if c.lane != nil {
		b.place = c.lane.place.Load()
		if b.place == nil || b.place.Limiter == nil {
			b.place = nil
			b.at = c.clock().Now()
		} else {
			b.lane = b.place.Begin(b.place.in(ctx))
		}
		return b
	}
	b.found = listeners(c.policy.Limiter)
	for _, l := range b.found {
		b.begun = append(b.begun, l.Begin(ctx))
	}
	return b
}

// hear tells the Limiters what came back, if anything. That a caller or another copy of the request
// has canceled it says nothing about the server.
func (c *call) hear(ctx context.Context, b beginning, resp *http.Response) {
	if c.lane == nil && b.found == nil {
		return
	}
	if resp == nil && ctx.Err() == context.Canceled && !timedOut(context.Cause(ctx)) {
		return
	}
	heard := c.limitsIn(resp)
	for i, l := range b.found {
		l.Hear(b.begun[i], heard)
	}
	if c.lane == nil {
		return
	}
	p := b.place
	if p == nil {
		p = c.heardBy(heard)
		if p == nil {
			return
		}
		b.lane = ratelimit.BegunAt(p.in(ctx), b.at)
	}
	p.Hear(b.lane, heard)
}

// limitsIn returns what a response, if any, says about limits.
func (c *call) limitsIn(resp *http.Response) ratelimit.Response {
	if resp == nil {
		return ratelimit.Response{}
	}
	if resp.StatusCode < 400 && !ratelimit.Mentions(resp.Header) {
		return ratelimit.Response{OK: true}
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
