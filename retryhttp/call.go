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

// call is the state of one RoundTrip. It is also the context passed to retry.Do: the
// request's context with information for hooks.
type call struct {
	context.Context
	transport *Transport
	request   *http.Request
	limit     time.Duration // of one attempt; 0: none
	mayRepeat bool
	direct    *http.Transport // nil: Base is of another type

	body      io.ReadCloser                 // of the first attempt
	getBody   func() (io.ReadCloser, error) // for later attempts; nil if there is no body or it can be sent only once
	recording *recording                    // behind getBody if MaxBuffer is used

	// Hooks may read number and status in any goroutine.
	number, status atomic.Int32

	first     attempt // allocated together with the call
	attempt   *attempt
	ambiguous bool // an attempt may have been executed
	// failed describes the failed response; nil if it is not a failure.
	response *http.Response
	failed   *StatusError
	err      error
}

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
	c.response.Request = &a.request      // a Base may have sent another request
	if c.response.Body == nil {
		c.response.Body = http.NoBody // as Base should have done
	}
	c.keep(loop, cancel)
	return c.judge(gaveUp)
}

// limited adds the attempt's time limit to ctx. The returned context outlives the
// attempt, because the response's body is read later.
func (c *call) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.limit)
}

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
	a.request.GetBody = nil // with GetBody, net/http could resend the request
	if name := c.transport.AttemptHeader; c.direct == nil || name != "" {
		// Signers change the headers in place.
		if a.request.Header = c.request.Header.Clone(); a.request.Header == nil {
			a.request.Header = http.Header{}
		}
		if name != "" {
			a.request.Header.Set(name, strconv.Itoa(number))
		}
	}
	return nil
}

func (c *call) lastFailure() error {
	if c.failed != nil {
		return c.failed
	}
	return c.err
}

// lost returns the error of an attempt without a response, marked so that retry.Do knows
// whether to retry.
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

// judge returns nil if the response is a success, and otherwise an error, marked so
// that retry.Do knows whether to retry. gaveUp means that a Transport below has already
// retried the request.
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

// unlessUnrepeatable marks err as unrepeatable, unless the body can be resent and
// executing the request again is harmless.
func (c *call) unlessUnrepeatable(err error, harmless bool) error {
	switch {
	case !harmless:
		return retry.Unrepeatable(err)
	case !c.resendable():
		return retry.Unrepeatable(fmt.Errorf("%w (the request has no GetBody to resend its body)", err))
	}
	return err
}

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

// abandon closes the response, or the body of a request that was never sent.
func (c *call) abandon() {
	switch {
	case c.response != nil && (c.failed == nil || c.failed.body != nil):
		_ = c.response.Body.Close()
	case c.number.Load() == 0 && c.body != nil:
		_ = c.body.Close()
	}
}

// keep extends the attempt's time limit until the response's body is closed. The
// context of the response's Request outlives the limit. A connection that has switched
// protocols belongs to the caller and has no limit; the response's Body is not wrapped,
// so that it keeps its Write method.
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

// sdkRetries reports whether the client above retries. AWS SDKs send their maximum
// number of attempts; SDKs generated by Stainless (OpenAI, Anthropic) send the number
// of retries made.
func sdkRetries(h http.Header) bool {
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
