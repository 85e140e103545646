package retryhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// delivery is what has become of one copy of a request.
type delivery struct {
	call *call // of the attempt, or one of its own for a copy
	fate wire.Fate
	err  error // there was no body to send

	// Of call, when it ended: that of the attempt goes on with the result of another copy.
	exchange *exchange
	response *http.Response
}

// send delivers the request, and a copy of it if the response takes too long. The response
// may be read until cancel is called, which includes that of limited.
func (c *call) send(limited context.Context, cancel context.CancelFunc) (wire.Fate, context.CancelFunc, error) {
	if !c.mayHedge() {
		fate, err := c.deliver(limited)
		return fate, cancel, err
	}
	if c.hedged = true; c.sent == 0 && c.getBody != nil {
		c.getBody = oneAtATime(c.getBody)
	}
	before, number := c.copies.Load(), c.number.Load()
	var mu sync.Mutex // guards over and, until then, the request
	over := false
	won, done, err := retryhedge.Open(limited, c.transport.Hedge, c.host.Address, func(ctx context.Context, copy int) (*delivery, error) {
		d := &delivery{call: c}
		if copy > 0 {
			c.copies.Add(1)
			if l := c.policy.Limiter; l != nil && l.Wait(ctx) != nil {
				return nil, errOther
			}
			mu.Lock()
			if over { // the caller may change the request
				mu.Unlock()
				return nil, errOther
			}
			d.call = c.another(number)
			mu.Unlock()
			defer func() { c.resends.Add(d.call.resends.Load()) }()
		}
		d.fate, d.err = d.call.deliver(ctx)
		d.exchange, d.response = d.call.latest, d.call.response
		return d, d.failure()
	}, (*delivery).release)
	mu.Lock()
	over = true
	mu.Unlock()
	if won == nil { // the Hedge is invalid, or a copy panicked
		c.response = nil // it has been released
		if c.body != nil {
			_ = c.body.Close()
		}
		return wire.Unsent, cancel, err
	}
	if w := won.call; w != c {
		c.latest, c.response, c.err, c.ambiguous = w.latest, w.response, w.err, w.ambiguous
	}
	if c.copies.Load() > before {
		c.ambiguous, c.latest.ambiguous = true, true
	}
	return won.fate, func() { done(); cancel() }, won.err
}

// mayHedge reports whether copies of the request may be sent. A connection that switches
// protocols must not be opened twice, and a recorded body has one reader.
func (c *call) mayHedge() bool {
	return c.transport.Hedge != nil && c.mayRepeat && c.recording == nil && c.resendable() && c.request.Header.Get("Upgrade") == ""
}

// another returns a call for a copy. It uses only what does not change during an attempt. A
// copy that loses may end after the caller has changed the request.
func (c *call) another(number int32) *call {
	copy := &call{Context: c.Context, settings: c.settings, request: c.request.Clone(c.Context), body: c.body, getBody: c.getBody, sent: 1}
	copy.number.Store(number)
	return copy
}

// errOther is marked because to a Classifier, any error may be permanent.
var errOther = retry.Transient(errors.New("the result may be that of another copy"))

// failure returns nil if the result decides the call. An error response to a request that
// changes something does not, because another copy may be the reason: a 404 for a DELETE, or
// a 409 for an Idempotency-Key in use.
func (d *delivery) failure() error {
	c := d.call
	switch {
	case d.err != nil:
		return errOther
	case c.err != nil:
		return c.err
	case c.response.StatusCode < 400:
		return nil
	case isSafe(c.request.Method) || isThrottling(c.response):
		return newStatusError(withoutBody(c.response), c.clock().Now()).verdict()
	}
	return errOther
}

// release frees the connection of a response that is not used. d may be nil.
func (d *delivery) release() {
	if d == nil || d.exchange == nil {
		return
	}
	if d.response != nil && d.response.Body != nil {
		_ = d.response.Body.Close()
	}
	d.exchange.Release()
}

func oneAtATime(getBody func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	var mu sync.Mutex
	return func() (io.ReadCloser, error) {
		mu.Lock()
		defer mu.Unlock()
		return getBody()
	}
}
