package retryhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// call is the state of one RoundTrip: its attempts, its bodies and its waits. It is also the
// context passed to retry.Do: the request's context with information for hooks. How a request is
// sent, and what became of it, is the business of package wire.
//
//	attempt ──▶ deliver ── wire.Send ──▶ its fate:
//	    answered                    ──▶ judge ──▶ success or failure
//	    unsent, unprocessed         ──▶ pause ──▶ deliver, at most maxResends times
//	    unsent without a connection ──▶ failure that any request may repeat
//	    unknown                     ──▶ failure: lost says whether it may be repeated
//	success ──▶ the body is read, if that is part of the attempt: readAhead, readWhole,
//	            continueBody ──▶ result, or a failure because it broke off
//	failure ──▶ retry.Do waits ──▶ attempt, or gives up ──▶ result
type call struct {
	context.Context
	settings
	request *http.Request
	whole   bool // the body is read within the attempt: see Read
	hedged  bool // the response needs the context of its copy: see send

	body      io.ReadCloser                 // of the first attempt; nil: none
	getBody   func() (io.ReadCloser, error) // for later attempts; nil if there is no body or it can be sent only once
	recording *recording                    // behind getBody if MaxBuffer is used

	// Hooks may read these in any goroutine.
	number, status, resends, copies atomic.Int32

	first     exchange // allocated together with the call
	latest    *exchange
	sent      int  // exchanges begun
	ambiguous bool // an exchange may have been executed
	response  *http.Response
	failed    *StatusError // nil: the response is not a failure
	err       error
	cause     error  // for the Classifier
	missing   string // what keeps the request from being repeated
}

// settings are shared by the calls for one request: see call.again and call.another.
type settings struct {
	transport  *Transport
	host       *host
	policy     retry.Policy     // as retry.Do has it
	classifier retry.Classifier // the caller's
	limit      time.Duration    // of one attempt; 0: none
	mayRepeat  bool
	wire       wire.Settings
}

// maxResends is the number of times that an attempt sends a request again, and that a call
// does unless its host responds to other requests in the meantime.
const maxResends = 8

// attempt makes one attempt. It is the operation of retry.Do.
func (c *call) attempt(ctx context.Context) error {
	last := c.err
	if c.failed != nil {
		last = c.failed
	}
	c.response, c.failed, c.err = nil, nil, nil
	c.number.Add(1)
	c.status.Store(0)
	times, limited, cancel := c.limitTimes(ctx)
	fate, cancel, err := c.send(limited, cancel)
	if err != nil {
		cancel()
		if c.err = err; last != nil {
			c.err = fmt.Errorf("%w; get the body for attempt %d: %w", last, c.number.Load(), err)
		}
		return retry.Permanent(c.err)
	}
	if c.answered(times, limited) {
		fate = wire.Unknown
	}
	if c.err != nil {
		c.latest.Release()
		c.err = c.endedBy(ctx, limited, c.err)
		cancel()
		return c.lost(fate)
	}
	c.status.Store(int32(c.response.StatusCode))
	below := exchangeBehind(c.response)
	if below == c.latest {
		below = nil
	}
	c.response.Request = &c.latest.Request // a Base may have sent another request
	if c.response.Body == nil {
		c.response.Body = http.NoBody // as Base should have done
	}
	c.keep(ctx, limited, cancel, times)
	if err := c.judge(c.isFinal(below)); err != nil {
		return err
	}
	switch {
	case c.whole && c.response.StatusCode != http.StatusSwitchingProtocols:
		return c.readWhole(ctx, limited)
	case !c.whole && c.readsAhead():
		return c.readAhead(ctx, limited)
	}
	return nil
}

// isFinal reports whether a Transport below, if any, has found that the response is a failure, and
// has made the retries that there are. below is its exchange.
func (c *call) isFinal(below *exchange) bool {
	if below == nil {
		return false
	}
	c.ambiguous = c.ambiguous || below.ambiguous
	c.latest.ambiguous = c.ambiguous
	if below.end().madeOne() || c.response.StatusCode < 400 && below.end().found == nil {
		return false
	}
	c.latest.ending = below.ending
	return true
}

// deliver sends the request, and again if it certainly was not processed. It sets
// c.response or c.err; it returns an error if there is no body to send.
func (c *call) deliver(ctx context.Context) (wire.Fate, error) {
	for inRow := 0; ; inRow++ {
		if err := c.prepare(ctx, inRow > 0); err != nil {
			return wire.Unsent, err
		}
		responses := c.host.Responses()
		fate := c.exchange()
		x := c.latest
		inRow += x.Resends
		spent := c.resends.Load() >= maxResends && c.host.Responses() == responses
		if !x.Again || spent || inRow >= maxResends || !c.resendable() || c.pause(ctx, inRow) != nil {
			return fate, nil
		}
		x.Release()
		c.resends.Add(1)
		c.ambiguous = c.ambiguous || fate == wire.Unknown
	}
}

// exchange sends the prepared request once.
func (c *call) exchange() wire.Fate {
	x := c.latest
	hear := c.listen(x)
	var fate wire.Fate
	c.response, fate, c.err = wire.Send(&x.Exchange)
	hear(c.response)
	c.resends.Add(int32(x.Resends))
	if x.Resends > 0 {
		c.ambiguous, x.ambiguous = true, true
	}
	return fate
}

// pause waits before every second of the resends in a row, so that a server which sheds
// load by refusing requests is not hammered. A resend at once has better chances than a
// late one if a server ends its connections often: it is among the first on the next.
func (c *call) pause(ctx context.Context, inRow int) error {
	if inRow%2 == 0 {
		return ctx.Err()
	}
	wait := retry.EqualJitter{Base: 50 * time.Millisecond, Cap: time.Second}.Delay(retry.Attempt{Number: (inRow + 1) / 2}, rand.Float64())
	return c.clock().Sleep(ctx, wait)
}

func (c *call) clock() retry.Clock { return cmp.Or[retry.Clock](c.policy.Clock, retry.SystemClock{}) }

// prepare makes the next exchange.
func (c *call) prepare(ctx context.Context, again bool) error {
	x, body := &c.first, c.body
	if c.sent++; c.sent > 1 {
		x = new(exchange) // the previous exchange may still be in use
		if c.getBody != nil {
			var err error
			if body, err = c.getBody(); err != nil {
				return err
			}
		}
	}
	c.latest = x
	x.number, x.ambiguous = int(c.number.Load()), c.ambiguous
	x.Context, x.Settings, x.GetBody = ctx, &c.wire, c.getBody
	x.Single = again || c.resends.Load() >= maxResends
	x.Request = *c.request.WithContext(x)
	x.Request.Body = body
	x.Request.GetBody = nil // with GetBody, net/http could resend the request
	c.setHeaders(x)
	return nil
}

// setHeaders makes headers of the attempt's own. Signers in a Base change headers in place.
func (c *call) setHeaders(x *exchange) {
	prepare := c.transport.Prepare
	if c.wire.Direct != nil && prepare == nil {
		return
	}
	x.Request.Header = c.request.Header.Clone()
	if x.Request.Header == nil {
		x.Request.Header = http.Header{}
	}
	if prepare != nil {
		prepare(x, x.Request.Header)
	}
}

// lost returns the error of an attempt without a response, marked so that retry.Do knows
// whether to retry.
func (c *call) lost(fate wire.Fate) error {
	if _, failed := c.recording.state(); failed || c.latest.Malformed {
		return retry.Permanent(c.err)
	}
	c.ambiguous = c.ambiguous || fate == wire.Unknown
	c.cause = c.err
	if c.latest.Refused {
		c.err = fmt.Errorf("%w (see Transport.TrustRefusedStream)", c.err)
	}
	return c.unlessUnrepeatable(&attemptError{c.err, c.info()}, c.mayRepeat || fate != wire.Unknown)
}

// Classify implements [retry.Classifier]. It passes on the error of Base itself, without
// the Info and marks that the loop and the hooks need.
func (c *call) Classify(error) retry.Verdict {
	return c.classifier.Classify(c.cause)
}

// judge returns nil if the response is a success, and otherwise an error, marked so
// that retry.Do knows whether to retry. If it is final, it is a permanent failure.
func (c *call) judge(final bool) error {
	status := c.response.StatusCode
	var found error
	if c.transport.Check != nil && !final && status != http.StatusSwitchingProtocols {
		body := &peekedBody{ReadCloser: c.response.Body}
		found = c.transport.Check(c.response, func(n int) ([]byte, error) {
			c.response.Body = body
			return body.peek(n)
		})
	}
	if status < 400 && found == nil && !final {
		return nil
	}
	c.failed = newStatusError(withoutBody(c.response), c.clock().Now())
	c.failed.body = c.response.Body
	if final {
		return retry.Permanent(c.failed)
	}
	c.latest.ending = &ending{found: found}
	err, unprocessed := c.failed.failure(found), isUnprocessed(c.response)
	if found != nil {
		unprocessed = retry.Policy{}.Classify(found).Class == retry.ClassThrottled
	}
	c.cause = err
	unprocessed = unprocessed || slices.Contains(c.transport.Unprocessed, status)
	c.ambiguous = c.ambiguous || !unprocessed && status >= 500
	return c.unlessUnrepeatable(err, c.mayRepeat || unprocessed)
}

// unlessUnrepeatable marks err as unrepeatable, unless the body can be resent and
// executing the request again is harmless.
func (c *call) unlessUnrepeatable(err error, harmless bool) error {
	switch {
	case !harmless:
		c.missing = "no Idempotency-Key"
		if lost, ok := err.(*attemptError); ok { // of a response, CheckStatus says it
			lost.err = fmt.Errorf("%w (%s)", lost.err, c.missing)
		}
		return retry.Unrepeatable(err)
	case !c.resendable():
		c.missing = "the request has no GetBody to resend its body"
		return retry.Unrepeatable(fmt.Errorf("%w (%s)", err, c.missing))
	}
	return err
}

func (c *call) result(err error) (*http.Response, error) {
	if err == nil || c.response != nil && c.failed.body != nil && !errors.Is(err, c.Context.Err()) {
		if e, ok := err.(*retry.Error); ok {
			reason := e.Reason
			if reason == retry.ErrUnrepeatable {
				reason = fmt.Errorf("%w: %s", reason, c.missing)
			}
			c.latest.ending = &ending{c.latest.end().found, &retry.Error{Attempts: e.Attempts, Reason: reason}}
		}
		return c.response, nil
	}
	c.abandon()
	e, gaveUp := err.(*retry.Error)
	switch {
	case !gaveUp && c.err != nil:
		return nil, c.err // without the marks
	case gaveUp && e.Reason == retry.ErrMaxAttempts && c.policy.MaxAttempts == retry.NoRetry && c.cause != nil:
		return nil, c.cause // the client above may retry, and know net/http's errors by their values
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

// keep extends the attempt's time limit until the response's body is closed; the context
// of the response's Request outlives it. A connection that has switched protocols belongs
// to the caller, without a limit and with the Write method of its Body.
func (c *call) keep(loop, limited context.Context, cancel context.CancelFunc, times attemptTimes) {
	if limited == loop && !c.latest.MustRelease() && !c.hedged {
		return
	}
	before := c.latest
	after := &exchange{number: before.number, ambiguous: before.ambiguous}
	after.Context = loop
	after.Request = *before.Request.WithContext(after)
	c.latest, c.response.Request = after, &after.Request
	if c.response.StatusCode == http.StatusSwitchingProtocols {
		cancel()
		before.Release()
		return
	}
	c.response.Body = &keptBody{c.watch(limited, times, c.response.Body), cancel, before}
}
