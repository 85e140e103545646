package retryhttp

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// delivery is what became of a request that was sent, perhaps twice.
type delivery struct {
	request  *http.Request // the last one, with its own headers
	response *http.Response
	err      error // there is no response
	fate     wire.Fate

	again     bool // the request should be sent again at once
	ambiguous bool // it left more than once, and may have been executed before the last time
	unloaded  bool // err is that of GetBody: there was no body to send
	malformed bool // it cannot be sent at all
	refused   bool // its stream was refused, but that is no proof

	host *wire.Host     // to which it was sent; nil: nothing was sent
	hint *time.Duration // that of the response; nil: its headers have not been read

	secondary time.Duration // see secondaryWait
}

// sending is one request that leaves.
type sending struct {
	wire.Exchange
	call    *call
	signing *signing // nil: the request is not signed
	fate    wire.Fate
	hint    *time.Duration // see delivery

	secondary time.Duration // see secondaryWait
}

// isPooled reports whether the request has one of several values, each with limits of its own.
func (s *sending) isPooled() bool { return s.signing != nil && s.signing.pooled }

// deliver sends the request, and again if it certainly was not processed. The first time in a call,
// that costs neither a token nor a wait, so that nobody notices a server that closes its
// connections. It also costs nothing to sign and send the request again after a refusal. Any other
// repetition is an attempt, for which retry.Do asks the budget.
func (c *call) deliver(ctx context.Context, source, req *http.Request, s *sending) delivery {
	if c.signs {
		s.signing = &signing{Context: ctx}
	}
	signing := s.signing
	d := c.once(ctx, source, req, s)
	for {
		ambiguous := d.ambiguous
		switch {
		case c.isRefused(ctx, s, &d):
		case d.again && c.mayResend(ctx):
			c.resends.Add(1)
			ambiguous = ambiguous || d.fate == wire.Unknown
		default:
			if signing != nil && signing.hint != nil {
				d.hint = signing.hint
			}
			return d
		}
		s = &sending{signing: signing}
		d = c.once(ctx, source, req, s)
		d.ambiguous = d.ambiguous || ambiguous
	}
}

// maxResends is the number of times that a call sends its request again through a Base that hides its
// connections.
const maxResends = 8

// mayResend reports whether the request may be sent again within the attempt. Through a Base of
// another type than http.Transport, it cannot ask for a connection that it does not share, so a server
// that closes its connections often may refuse it several times. There, each further time costs a
// token and a wait.
func (c *call) mayResend(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil || !c.resendable():
		return false
	case c.resent.CompareAndSwap(false, true):
		return true
	}
	_, direct := c.transport.base().(*http.Transport)
	resends := int(c.resends.Load())
	if direct || resends >= maxResends || c.isOnly() || !c.withdraw() {
		return false
	}
	wait := retry.EqualJitter{Base: 10 * time.Millisecond, Cap: time.Second}.Delay(retry.Attempt{Number: resends}, rand.Float64())
	return c.clock().Sleep(ctx, wait) == nil
}

// once sends the request once, through the layers below. It makes req from source.
func (c *call) once(ctx context.Context, source, req *http.Request, s *sending) (d delivery) {
	d.request = req
	s.call, s.Settings, s.Since, s.Alone = c, &c.wire, c.since, c.resent.Load()
	c.prepare(ctx, source, req)
	d.err = c.sign(req, s)
	if d.err == nil {
		d.err = c.enter(ctx, source, req, s)
	}
	if d.err != nil {
		d.fate = wire.Unsent
		return d
	}
	d.err = c.load(req)
	if d.err != nil {
		d.unloaded = true
		return d
	}
	d.host = s.Host
	d.response, d.err = c.layers(s).RoundTrip(req)
	d.hint, d.secondary = s.hint, s.secondary
	d.fate, d.again, d.malformed, d.refused = s.fate, s.Again, s.Malformed, s.Refused
	if d.err != nil && d.fate == wire.Answered { // a layer has made an error of the response
		d.fate = wire.Unknown
	}
	if s.Resends > 0 {
		d.ambiguous = true
		c.pay(s.Resends)
	}
	return d
}

// prepare makes the request that is sent, without a body. It has headers of its own, because Sign and
// signers in a Base change headers in place.
func (c *call) prepare(ctx context.Context, source, req *http.Request) {
	*req = *source.WithContext(ctx)
	req.Body, req.GetBody = nil, c.getBody
	if c.wire.Direct == nil || c.signs {
		req.Header = ownHeader(req.Header)
	}
}

// load gives the request its body.
func (c *call) load(req *http.Request) (err error) {
	first := c.begun.CompareAndSwap(false, true)
	if c.getBody != nil && (!first || c.reread) {
		req.Body, err = c.getBody()
		return err
	}
	req.Body = c.body
	return nil
}

// layers returns what sends a request and reads its response. A layer that has nothing to do is
// left out.
func (c *call) layers(s *sending) http.RoundTripper {
	var rt http.RoundTripper = s
	t := c.transport
	if t.FirstByteTimeout > 0 || t.StallTimeout > 0 {
		rt = &limits{next: rt, first: t.FirstByteTimeout, stall: t.StallTimeout}
	}
	if c.whole || t.MaxRead > 0 {
		rt = &ahead{next: rt, call: c}
	}
	return rt
}

// RoundTrip implements [http.RoundTripper], below all layers.
func (s *sending) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	s.Context, s.GetBody = req.Context(), req.GetBody
	s.Request = *req.WithContext(&s.Exchange)
	s.Request.GetBody = nil // with GetBody, net/http could resend the request
	var begun beginning
	heard := s.call.lane == nil || !s.isPooled()
	if heard {
		begun = s.call.begin(s.Context)
	}
	resp, s.fate, err = wire.Send(&s.Exchange)
	if resp != nil {
		if resp.Body == nil {
			resp.Body = http.NoBody // as Base should have done
		}
		s.secondary = secondaryWait(resp, s.call.clock().Now())
	}
	if heard {
		s.hint = s.call.hear(s.Context, begun, resp, s.secondary)
	}
	return resp, err
}

// pay tells the budget of requests that net/http, or a wrapper, has sent again by itself.
func (c *call) pay(resends int) {
	c.resends.Add(int32(resends))
	if c.resent.CompareAndSwap(false, true) {
		resends--
	}
	for range resends {
		c.withdraw()
	}
}

// withdraw asks the budget for a request that is no retry of retry.Do.
func (c *call) withdraw() bool {
	paid := retry.Attempt{Number: int(c.number.Load()), Verdict: retry.Verdict{Class: retry.ClassTransient}}
	return c.policy.Budget == nil || c.policy.Budget.TryWithdraw(paid)
}

// resendable reports whether the body, if any, can be sent again.
func (c *call) resendable() bool {
	complete, _ := c.recording.state()
	return c.body == nil || c.getBody != nil && complete
}

// oneAtATime returns a function that calls getBody, but not while another call is running.
func oneAtATime(getBody func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	gate := make(chan struct{}, 1)
	return func() (io.ReadCloser, error) {
		gate <- struct{}{}
		defer func() { <-gate }()
		return getBody()
	}
}
