package retryhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gobackoff/retry"
)

// call is the state of one RoundTrip.
type call struct {
	transport *Transport
	request   *http.Request
	limit     time.Duration // of one attempt; 0: none
	mayRepeat bool          // the request may be executed more than once

	body    io.ReadCloser                 // of the first attempt
	getBody func() (io.ReadCloser, error) // of the others; nil: the request has no body
	rewinds bool                          // the request can be sent again

	number  int // of the attempt
	context *attempt
	watch   *watch // nil if the request may be repeated
	// What came of it: an answer, or an error. failed is the error that stands for the answer.
	answer *http.Response
	failed *StatusError
	err    error
}

// attempt sends the request once.
func (c *call) attempt(ctx context.Context) error {
	last := c.lastFailure()
	c.answer, c.failed, c.err = nil, nil, nil
	c.number++
	ctx, cancel := c.limited(ctx)
	req, err := c.prepare(ctx)
	if err != nil {
		cancel()
		c.err = fmt.Errorf("%w; get the body for attempt %d: %w", last, c.number, err)
		return retry.Permanent(c.err)
	}
	base := c.transport.base()
	c.answer, c.err = base.RoundTrip(req)
	if c.err == nil && c.answer == nil {
		c.err = retry.Permanent(fmt.Errorf("retryhttp: %T returned neither an answer nor an error", base))
	}
	if c.err != nil {
		c.answer = nil
		release(cancel, c.watch)
		return c.lost()
	}
	below := attemptBehind(c.answer)
	c.answer.Request = req // a Base may have sent another one
	if c.answer.Body == nil {
		c.answer.Body = http.NoBody // which Base ought to have done
	}
	c.keep(cancel)
	return c.judge(below)
}

// limited returns the context of an attempt, with its time limit. The end of
// the limit is not deferred to the end of the attempt, because the body of the
// answer is read later.
func (c *call) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.limit)
}

// prepare returns the request as the attempt is to send it.
func (c *call) prepare(ctx context.Context) (*http.Request, error) {
	body := c.body
	if c.number > 1 && c.getBody != nil {
		var err error
		if body, err = c.getBody(); err != nil {
			return nil, err
		}
	}
	req := c.withContext(ctx)
	req.Body = body
	req.GetBody = nil // with one, net/http would repeat the request by itself
	if c.number > 1 || c.transport.AttemptHeader != "" {
		req.Header = c.request.Header.Clone()
	}
	if name := c.transport.AttemptHeader; name != "" {
		if req.Header == nil {
			req.Header = http.Header{}
		}
		req.Header.Set(name, strconv.Itoa(c.number))
	}
	return req, nil
}

// withContext returns a copy of the request with the context of the attempt.
func (c *call) withContext(ctx context.Context) *http.Request {
	var req *http.Request
	if c.mayRepeat {
		c.context = &attempt{Context: ctx, number: c.number}
		req = c.request.WithContext(c.context)
	} else {
		c.watch = &watch{attempt: attempt{Context: ctx, number: c.number}, empty: c.getBody == nil && c.rewinds}
		c.context = &c.watch.attempt
		req = c.request.WithContext(c.watch)
	}
	c.context.request = req
	return req
}

// lastFailure returns what the attempt before failed with.
func (c *call) lastFailure() error {
	if c.failed != nil {
		return c.failed
	}
	return c.err
}

// lost decides about an attempt that brought no answer.
func (c *call) lost() error {
	c.err = legible(c.err)
	if isMalformed(c.err) {
		return retry.Permanent(c.err)
	}
	return c.unlessUnrepeatable(c.err, c.mayRepeat || c.watch.unsent(c.err))
}

// judge decides about an answer. below is the attempt that brought it: ours, one of
// another Transport, or nil.
func (c *call) judge(below *attempt) error {
	status := c.answer.StatusCode
	if status < 400 {
		return nil
	}
	c.failed = newStatusError(c.answer, c.transport.now())
	c.failed.body = c.answer.Body
	if below != nil && below != c.context {
		return retry.Permanent(c.failed) // it has given up
	}
	return c.unlessUnrepeatable(c.failed.withWord(), c.mayRepeat || isUnprocessed(status) || slices.Contains(c.transport.Unprocessed, status))
}

// unlessUnrepeatable returns err so that it is retried if that does no harm and can be
// done.
func (c *call) unlessUnrepeatable(err error, harmless bool) error {
	switch {
	case !harmless:
		return retry.Unrepeatable(err)
	case !c.rewinds:
		return retry.Unrepeatable(fmt.Errorf("%w (and the request has no GetBody to send its body again)", err))
	}
	return err
}

// result returns what RoundTrip is to return, for the error of the loop.
func (c *call) result(err error) (*http.Response, error) {
	if err == nil {
		return c.answer, nil
	}
	if c.answer != nil && c.failed.body != nil && c.request.Context().Err() == nil {
		return c.answer, nil
	}
	c.abandon()
	if _, ok := err.(*retry.Error); !ok && c.err != nil {
		return nil, c.err // without the marks
	}
	return nil, err
}

// abandon closes what nobody else has got or closed: the answer, or the body of a
// request that was never sent.
func (c *call) abandon() {
	switch {
	case c.answer != nil && (c.failed == nil || c.failed.body != nil):
		_ = c.answer.Body.Close()
	case c.number == 0 && c.body != nil:
		_ = c.body.Close()
	}
}
