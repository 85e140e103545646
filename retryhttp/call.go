package retryhttp

import (
	"context"
	"errors"
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

	body    io.ReadCloser                 // of the first attempt
	getBody func() (io.ReadCloser, error) // of the others; nil: the request has no body
	rewinds bool                          // the request can be sent again

	number  int             // of the attempt
	context *attemptContext // of its request
	// What came of it: an answer, or an error. failed is the error that stands for the answer.
	answer *http.Response
	failed *StatusError
	err    error
}

// attempt sends the request once.
func (c *call) attempt(ctx context.Context) error {
	c.number++
	ctx, cancel := c.limited(ctx)
	req, err := c.prepare(ctx)
	if err != nil {
		cancel()
		c.err = errors.Join(c.lastFailure(), err)
		c.answer, c.failed = nil, nil
		return retry.Permanent(c.err)
	}
	base := c.transport.base()
	c.answer, c.err = base.RoundTrip(req)
	if c.err == nil && c.answer == nil {
		c.err = retry.Permanent(fmt.Errorf("retryhttp: %T returned neither an answer nor an error", base))
	}
	if c.err != nil {
		c.answer, c.failed = nil, nil
		cancel()
		return c.lost()
	}
	c.transport.http1.learn(c.request.URL, c.answer.ProtoMajor)
	if c.answer.Body == nil {
		c.answer.Body = http.NoBody // which Base ought to have done
	}
	c.keep(cancel)
	return c.judge()
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
	c.context = &attemptContext{ctx, c.number}
	req := c.request.WithContext(c.context)
	req.Body = c.body
	if c.number > 1 && c.getBody != nil {
		var err error
		if req.Body, err = c.getBody(); err != nil {
			return nil, fmt.Errorf("get the body for attempt %d: %w", c.number, err)
		}
	}
	// With a GetBody that works, net/http would repeat the request by itself.
	req.GetBody = nil
	if c.getBody != nil && isSentOnce(c.request) && c.transport.http1.has(c.request.URL) {
		req.GetBody = notWritten
	}
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
	switch {
	case isMalformed(c.err):
		return retry.Permanent(c.err)
	case !c.transport.mayRepeat(c.request) && !isUnsent(c.err):
		return retry.Final(c.err)
	case !c.rewinds:
		return retry.Final(fmt.Errorf("%w (and the request has no GetBody to send its body again)", c.err))
	}
	return c.err
}

// judge decides about an answer.
func (c *call) judge() error {
	status := c.answer.StatusCode
	if status < 400 {
		return nil
	}
	c.failed = newStatusError(c.answer, c.transport.now())
	err := c.failed.withWord()
	if a := attemptBehind(c.answer); a != nil && a != c.context {
		return retry.Permanent(err) // a Transport below has given up
	}
	if c.rewinds && (c.transport.mayRepeat(c.request) || isUnprocessed(status) || slices.Contains(c.transport.Unprocessed, status)) {
		return err
	}
	return retry.Final(err)
}

// result returns what RoundTrip is to return, for the error of the loop.
func (c *call) result(err error) (*http.Response, error) {
	if err == nil {
		return c.answer, nil
	}
	if c.number == 0 && c.body != nil {
		_ = c.body.Close() // nobody else has got it
	}
	if c.answer != nil && !c.failed.discarded {
		if c.request.Context().Err() == nil {
			return c.answer, nil
		}
		_ = c.answer.Body.Close()
	}
	if _, ok := err.(*retry.Error); !ok && c.err != nil {
		return nil, c.err // without the marks
	}
	return nil, err
}

// attemptContext is the context of an attempt.
type attemptContext struct {
	context.Context
	number int
}

type attemptKey struct{}

func (c *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// AttemptNumber returns the number of the attempt that ctx belongs to, 1 for
// the first, or 0 if ctx does not come from a [Transport]. What sits below a
// Transport finds it in the context of the request, and what sits above in the
// context of the answer's Request.
func AttemptNumber(ctx context.Context) int {
	if a, ok := ctx.Value(attemptKey{}).(*attemptContext); ok {
		return a.number
	}
	return 0
}

// attemptBehind returns the attempt that brought an answer, nil if that does not
// come from a Transport.
func attemptBehind(resp *http.Response) *attemptContext {
	if resp.Request == nil {
		return nil
	}
	a, _ := resp.Request.Context().Value(attemptKey{}).(*attemptContext)
	return a
}
