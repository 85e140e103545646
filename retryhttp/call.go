package retryhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
)

// call is the state of one RoundTrip. It is also the context of the policy's loop:
// the request's context, plus the information for hooks.
type call struct {
	context.Context
	transport *Transport
	request   *http.Request
	limit     time.Duration   // time limit of one attempt; 0: none
	mayRepeat bool            // the request may be executed more than once
	direct    *http.Transport // makes the attempts; nil: another kind of Base

	body      io.ReadCloser                 // of the first attempt
	getBody   func() (io.ReadCloser, error) // for the other attempts; nil: the request has no body
	recording *recording                    // behind getBody; nil: the request has its own GetBody, or none at all

	// For the hooks, which may read them in any goroutine.
	number, status atomic.Int32

	first     attempt // allocated together with the call
	attempt   *attempt
	ambiguous bool // one of the attempts may have been executed
	// The outcome: a response or an error. failed is the error that represents the response.
	response *http.Response
	failed   *StatusError
	err      error
}

// send makes one attempt.
func (c *call) send(ctx context.Context) error {
	last := c.lastFailure()
	c.response, c.failed, c.err = nil, nil, nil
	c.number.Add(1)
	c.status.Store(0)
	loop := ctx
	ctx, cancel := c.limited(ctx)
	if err := c.prepare(ctx); err != nil {
		cancel()
		c.err = fmt.Errorf("%w; get the body for attempt %d: %w", last, c.number.Load(), err)
		return retry.Permanent(c.err)
	}
	a := c.attempt
	base := c.transport.base()
	c.response, c.err = base.RoundTrip(&a.request)
	a.end()
	if c.err == nil && c.response == nil {
		c.err = retry.Permanent(fmt.Errorf("retryhttp: %T returned neither a response nor an error", base))
	}
	if c.err != nil {
		c.response = nil
		cancel()
		a.release()
		return c.lost()
	}
	c.status.Store(int32(c.response.StatusCode))
	below := attemptBehind(c.response)
	gaveUp := below != nil && below != a // another Transport below
	c.response.Request = &a.request      // a Base may have sent another one
	if c.response.Body == nil {
		c.response.Body = http.NoBody // as Base should have done
	}
	c.keep(loop, cancel)
	return c.judge(gaveUp)
}

// limited returns the context of an attempt, with its time limit. The context is
// not canceled when the attempt ends, because the body of the response is read
// later.
func (c *call) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.limit)
}

// prepare sets up the attempt and the request that it sends.
func (c *call) prepare(ctx context.Context) error {
	number := int(c.number.Load())
	body := c.body
	if number > 1 && c.getBody != nil {
		var err error
		if body, err = c.getBody(); err != nil {
			return err
		}
	}
	c.attempt = &c.first
	if number > 1 {
		c.attempt = new(attempt) // the previous attempt may still be in use
	}
	a := c.attempt
	a.Context, a.number, a.ambiguous = ctx, number, c.ambiguous
	a.mayRepeat, a.direct = c.mayRepeat, c.direct
	a.empty = c.body == nil || c.body == http.NoBody
	a.watched = a.empty || !c.mayRepeat
	a.request = *c.request.WithContext(a)
	a.request.Body = body
	a.request.GetBody = nil // with one, net/http could repeat the request on its own
	if name := c.transport.AttemptHeader; c.direct == nil || name != "" {
		// Cloned, because RoundTrippers that sign requests change the headers in
		// place.
		if a.request.Header = c.request.Header.Clone(); a.request.Header == nil {
			a.request.Header = http.Header{}
		}
		if name != "" {
			a.request.Header.Set(name, strconv.Itoa(number))
		}
	}
	return nil
}

// lastFailure returns the error of the previous attempt.
func (c *call) lastFailure() error {
	if c.failed != nil {
		return c.failed
	}
	return c.err
}

// lost returns the error of an attempt without a response, marked for the policy's
// loop.
func (c *call) lost() error {
	if c.attempt.lost() && c.request.Context().Err() == nil {
		c.err = errLost
	} else {
		c.err = legible(c.err)
	}
	if isMalformed(c.err) || c.recording.failed() {
		return retry.Permanent(c.err)
	}
	unsent := c.attempt.unsent(c.err, c.transport.TrustRefusedStream)
	c.ambiguous = c.ambiguous || !unsent
	return c.unlessUnrepeatable(&attemptError{statusWithin(c.err, c.transport.now()), c.info()}, c.mayRepeat || unsent)
}

// judge returns nil if the response is a success, or its error, marked for the
// policy's loop. gaveUp means that another Transport below has already retried the
// request.
func (c *call) judge(gaveUp bool) error {
	status := c.response.StatusCode
	var found error
	if c.transport.Check != nil && !gaveUp && status != http.StatusSwitchingProtocols {
		body := &peekedBody{ReadCloser: c.response.Body}
		found = c.transport.Check(c.response, func(n int) ([]byte, error) {
			c.response.Body = body
			return body.peek(n)
		})
	}
	if status < 400 && found == nil {
		return nil
	}
	c.failed = newStatusError(c.response, c.transport.now())
	c.failed.body = c.response.Body
	if gaveUp {
		return retry.Permanent(c.failed)
	}
	err, unprocessed := c.failed.verdict(), isUnprocessed(c.failed)
	if found != nil {
		err = &checkError{c.failed, found}
		unprocessed = retry.Policy{}.Classify(found).Class == retry.ClassThrottled
	}
	unprocessed = unprocessed || slices.Contains(c.transport.Unprocessed, status)
	c.ambiguous = c.ambiguous || !unprocessed && status >= 500
	return c.unlessUnrepeatable(err, c.mayRepeat || unprocessed)
}

// unlessUnrepeatable returns err, marked as unrepeatable unless a repetition is
// harmless and the body can be sent again.
func (c *call) unlessUnrepeatable(err error, harmless bool) error {
	switch {
	case !harmless:
		return retry.Unrepeatable(err)
	case !c.rewinds():
		return retry.Unrepeatable(fmt.Errorf("%w (and the request has no GetBody to send its body again)", err))
	}
	return err
}

// result returns the results of RoundTrip, given the error of the loop.
func (c *call) result(err error) (*http.Response, error) {
	if err == nil {
		return c.response, nil
	}
	if c.response != nil && c.failed.body != nil && c.request.Context().Err() == nil {
		return c.response, nil
	}
	c.abandon()
	if _, ok := err.(*retry.Error); !ok && c.err != nil {
		return nil, c.err // without the marks
	}
	return nil, err
}

// abandon closes what would otherwise stay open: the response, or the body of a
// request that was never sent.
func (c *call) abandon() {
	switch {
	case c.response != nil && (c.failed == nil || c.failed.body != nil):
		_ = c.response.Body.Close()
	case c.number.Load() == 0 && c.body != nil:
		_ = c.body.Close()
	}
}

// keep extends the time limit of the attempt until the body of its response is
// closed. The context of the response's Request lives longer. A connection that has
// switched protocols belongs to the caller and has no limit; its Body must keep its
// method Write.
func (c *call) keep(loop context.Context, cancel context.CancelFunc) {
	if c.limit <= 0 && c.attempt.cancel == nil {
		return
	}
	before := c.attempt
	after := &attempt{Context: loop, number: before.number, ambiguous: before.ambiguous}
	after.request = *before.request.WithContext(after)
	c.attempt, c.response.Request = after, &after.request
	if c.response.StatusCode == http.StatusSwitchingProtocols {
		cancel()
		before.release()
		return
	}
	c.response.Body = &keptBody{c.response.Body, cancel, before}
}

// sdkRepeats reports whether the headers show that the client above retries by
// itself. The AWS SDKs send their number of attempts; the SDKs generated by
// Stainless (OpenAI, Anthropic) send the number of retries made.
func sdkRepeats(h http.Header) bool {
	if values := h["Amz-Sdk-Request"]; len(values) > 0 {
		for part := range strings.SplitSeq(values[0], ";") {
			if most, ok := strings.CutPrefix(strings.TrimSpace(part), "max="); ok {
				return most != "1"
			}
		}
		return false
	}
	if values := h["X-Stainless-Retry-Count"]; len(values) > 0 {
		n, err := strconv.Atoi(values[0])
		return err == nil && n > 0
	}
	return false
}
