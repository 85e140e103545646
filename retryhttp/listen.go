package retryhttp

import (
	"context"
	"net/http"
	"time"

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

// hear tells the Limiters what came back, if anything, and returns the wait that a failure asks for,
// or nil if they were not told. That a caller or another copy of the request has canceled it says
// nothing about the server. secondary is the wait that only the body of the response asks for, or 0.
func (c *call) hear(ctx context.Context, b beginning, resp *http.Response, secondary time.Duration) *time.Duration {
	if c.lane == nil && b.found == nil {
		return nil
	}
	if resp == nil && ctx.Err() == context.Canceled && !timedOut(context.Cause(ctx)) {
		return nil
	}
	heard, hint := c.read(resp)
	if secondary > 0 {
		heard.OK, heard.Refused, heard.Hint = false, true, secondary
		hint = new(secondary)
	}
	for i, l := range b.found {
		l.Hear(b.begun[i], heard)
	}
	if c.lane != nil {
		c.hearInLane(ctx, b, heard)
	}
	return hint
}

// read returns what a response, if any, says about limits, and the wait that it asks for if it is a
// failure.
func (c *call) read(resp *http.Response) (heard ratelimit.Response, hint *time.Duration) {
	if resp == nil {
		return ratelimit.Response{}, nil
	}
	heard = ratelimit.ResponseOf(resp.StatusCode, resp.Header, c.clock().Now())
	if resp.StatusCode < 400 {
		return heard, nil
	}
	return heard, new(heard.Hint)
}

// hearInLane tells the Limiter of the call's lane. The response may be the reason to make one.
func (c *call) hearInLane(ctx context.Context, b beginning, heard ratelimit.Response) {
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
