package retryhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
)

// race delivers the request, and a copy of it if the response takes too long. The first good
// response is used.
func (c *call) race(ctx context.Context) delivery {
	if !c.mayHedge() {
		return c.deliver(ctx, c.request, &c.latest.request, c.next())
	}
	if !c.begun.Load() && c.getBody != nil {
		c.getBody = oneAtATime(c.getBody)
	}
	before := c.copies.Load()
	var mu sync.Mutex // guards over and, until then, the request
	over := false
	won, done, err := retryhedge.Open(ctx, c.transport.Hedge, c.host.Address, func(ctx context.Context, copy int) (*delivery, error) {
		source, s := c.request, c.next()
		if copy > 0 {
			c.copies.Add(1)
			if !c.mayCopy(ctx) {
				return nil, errOther
			}
			mu.Lock()
			if over { // the caller may change the request
				mu.Unlock()
				return nil, errOther
			}
			source, s = c.request.Clone(ctx), &sending{}
			mu.Unlock()
		}
		d := c.deliver(ctx, source, &http.Request{}, s)
		return &d, c.failureOf(&d)
	}, (*delivery).release)
	mu.Lock()
	over = true
	mu.Unlock()
	copies := c.copies.Load() - before
	switch {
	case won == nil: // the Hedge is invalid, or a copy panicked
		if c.body != nil {
			_ = c.body.Close()
		}
		return delivery{err: err, unloaded: true}
	case won.response == nil:
		done()
	case won.response.StatusCode == http.StatusSwitchingProtocols: // never: see mayHedge
	default:
		won.response.Body = &keptBody{won.response.Body, done}
	}
	won.ambiguous = won.ambiguous || copies > 0
	return *won
}

// mayHedge reports whether copies of the request may be sent. A connection that switches
// protocols must not be opened twice, and a recorded body has one reader.
func (c *call) mayHedge() bool {
	return c.transport.Hedge != nil && c.mayRepeat && c.recording == nil && c.resendable() && c.request.Header.Get("Upgrade") == ""
}

// mayCopy asks the budget for a copy, unless the Hedge has one that replaces it, and waits for the
// Limiter.
func (c *call) mayCopy(ctx context.Context) bool {
	if c.transport.Hedge.Budget == nil && !c.withdraw() {
		return false
	}
	return c.policy.Limiter == nil || c.policy.Limiter.Wait(ctx) == nil
}

// next returns the sending of an attempt's first request.
func (c *call) next() *sending {
	if c.number.Load() > 1 {
		return &sending{}
	}
	return &c.sending
}

// errOther is marked because to a Classifier, any error may be permanent.
var errOther = retry.Transient(errors.New("the result may be that of another copy"))

// failureOf returns nil if the result of a copy decides the call. An error response to a request
// that changes something does not, because another copy may be the reason: a 404 for a DELETE, or
// a 409 for an Idempotency-Key in use.
func (c *call) failureOf(d *delivery) error {
	switch {
	case d.unloaded:
		return errOther
	case d.err != nil:
		return d.err
	case d.response.StatusCode < 400:
		return nil
	case isSafe(c.request.Method) || isThrottling(d.response):
		return c.statusError(d.response, d.hint).verdict()
	}
	return errOther
}

// release frees the connection of a response that is not used. d may be nil.
func (d *delivery) release() {
	if d != nil && d.response != nil {
		_ = d.response.Body.Close()
	}
}
