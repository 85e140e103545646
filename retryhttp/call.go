package retryhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// call is the state of one RoundTrip: its attempts, its bodies and its waits. It is also the
// context passed to retry.Do: the request's context with information for hooks.
//
//	try ──▶ send, which says what became of the request:
//	    answered            ──▶ judge ──▶ success or failure
//	    unsent, unprocessed ──▶ failure that any request may repeat
//	    unknown             ──▶ failure: lost says whether it may be repeated
//	failure ──▶ retry.Do waits ──▶ try, or gives up ──▶ result
//
// Below the loop, a request passes through layers. Each returns a response or an error, and knows
// nothing of the others:
//
//	send     AttemptTimeout                            limits.go
//	race     a copy, if the response takes too long    hedge.go
//	deliver  once more, if it was not processed        send.go
//	once     Sign and the Limiter of what it added     sign.go, lane.go
//	ahead    the body is read: MaxRead and Read        ahead.go
//	limits   FirstByteTimeout and StallTimeout         limits.go
//	sending  one request, through package wire         send.go
type call struct {
	context.Context
	transport  *Transport
	host       *host
	request    *http.Request
	policy     retry.Policy     // as retry.Do has it
	classifier retry.Classifier // the caller's
	limit      time.Duration    // of one attempt; 0: none
	mayRepeat  bool
	whole      bool // the body is read within the attempt: see Read
	signs      bool // Sign is called
	wire       wire.Settings

	body      io.ReadCloser                 // of the first request; nil: none
	getBody   func() (io.ReadCloser, error) // for later ones; nil if there is no body or it can be sent only once
	recording *recording                    // behind getBody if MaxBuffer is used
	begun     atomic.Bool                   // body has been given to a request
	reread    bool                          // Sign has read what recording has
	resent    atomic.Bool                   // the resend that costs no token has been used

	// Hooks may read these in any goroutine.
	number, status, resends, refusals, copies atomic.Int32

	first     attempt // allocated together with the call
	sending   sending // of the first request
	own       lane
	lane      *lane // &own; nil: the Limiters are those of PerScope and the Policy, if any
	latest    *attempt
	started   time.Time // the latest attempt
	since     time.Time // the next attempt uses no connection that is older; zero: any
	ambiguous bool      // a request may have been executed
	response  *http.Response
	secondary time.Duration  // that its body asks for: see secondaryWait
	failed    *StatusError   // nil: the response is not a failure
	hint      *time.Duration // of the response; nil: its headers have not been read
	err       error
	cause     error  // for the Classifier
	missing   string // what keeps the request from being repeated
}

// try makes one attempt. It is the operation of retry.Do.
func (c *call) try(ctx context.Context) error {
	last := c.err
	if c.failed != nil {
		last = c.failed
	}
	c.response, c.failed, c.err = nil, nil, nil
	c.advance(ctx)
	d := c.send()
	if d.ambiguous {
		c.ambiguous, c.latest.ambiguous = true, true
	}
	c.response, c.err, c.hint, c.secondary = d.response, d.err, d.hint, d.secondary
	switch {
	case d.unloaded && last != nil:
		c.err = fmt.Errorf("%w; get the body for attempt %d: %w", last, c.number.Load(), d.err)
		return retry.Permanent(c.err)
	case d.unloaded, d.malformed:
		return retry.Permanent(c.err)
	case c.err != nil:
		return c.lost(d)
	}
	c.status.Store(int32(c.response.StatusCode))
	below := attemptBehind(c.response)
	c.latest.request = *d.request.WithContext(c.latest)
	c.response.Request = &c.latest.request // a Base may have sent another request
	return c.judge(c.isFinal(below))
}

// advance makes the next attempt. The previous one belongs to its response.
func (c *call) advance(ctx context.Context) {
	a, number := &c.first, c.number.Add(1)
	if number > 1 {
		a = new(attempt)
	}
	c.status.Store(0)
	a.Context, a.number, a.ambiguous = ctx, int(number), c.ambiguous
	c.latest, c.started = a, time.Now()
}

// isFinal reports whether a Transport below, if any, has found that the response is a failure, and
// has made the retries that there are. below is its attempt.
func (c *call) isFinal(below *attempt) bool {
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

func (c *call) clock() retry.Clock { return cmp.Or[retry.Clock](c.policy.Clock, retry.SystemClock{}) }

// isOnly reports whether the call makes one attempt, because a client above it retries.
func (c *call) isOnly() bool { return c.policy.MaxAttempts == retry.NoRetry }

// lost returns the error of an attempt without a response, marked so that retry.Do knows
// whether to retry.
func (c *call) lost(d delivery) error {
	_, failed := c.recording.state()
	_, tooLong := c.err.(*tooLongError)
	if failed || tooLong {
		return retry.Permanent(c.err)
	}
	if d.host != nil && timedOut(c.err) { // its connection may be dead
		c.since = c.started
		d.host.Leave()
	}
	c.ambiguous = c.ambiguous || d.fate == wire.Unknown
	c.cause = c.err
	if d.refused {
		c.err = fmt.Errorf("%w (see Transport.TrustRefusedStream)", c.err)
	}
	return c.unlessUnrepeatable(&attemptError{c.err, c.info()}, c.mayRepeat || d.fate != wire.Unknown)
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
	if !final && status != http.StatusSwitchingProtocols {
		found = c.check()
	}
	if status < 400 && found == nil && !final {
		return nil
	}
	c.failed = c.statusError(c.response, c.hint)
	c.failed.body = c.response.Body
	if final {
		return retry.Permanent(c.failed)
	}
	if status == http.StatusMisdirectedRequest { // RFC 9110: another connection may be right
		c.since = time.Now()
	}
	c.latest.ending = &ending{found: found, after: c.failed.after}
	err, unprocessed := c.failed.failure(found), isUnprocessed(c.response)
	if found != nil {
		unprocessed = retry.Policy{}.Classify(found).Class == retry.ClassThrottled
	}
	c.cause = err
	unprocessed = unprocessed || slices.Contains(c.transport.Unprocessed, status)
	c.ambiguous = c.ambiguous || !unprocessed && status >= 500
	return c.unlessUnrepeatable(err, c.mayRepeat || unprocessed)
}

// statusError returns the error of a response. The hint is nil if its headers have not been read.
func (c *call) statusError(resp *http.Response, hint *time.Duration) *StatusError {
	if hint == nil {
		hint = new(RetryAfter(resp, c.clock().Now()))
	}
	return &StatusError{Response: withoutBody(resp), after: *hint}
}

// check returns what the body of the response says: to the Transport's Check, or of GitHub's secondary
// limit.
func (c *call) check() error {
	if c.transport.Check != nil {
		found := c.transport.Check(c.response, peekInto(c.response))
		if found != nil {
			return found
		}
	}
	if c.secondary > 0 {
		err := errors.New("secondary rate limit (reported in the body)")
		return retry.Throttled(retry.After(err, c.secondary))
	}
	return nil
}

// unlessUnrepeatable marks err as unrepeatable, unless the body can be resent and
// executing the request again is harmless.
func (c *call) unlessUnrepeatable(err error, harmless bool) error {
	switch {
	case !harmless:
		c.missing = "no Idempotency-Key: see Transport.IdempotencyKey and MayRepeat"
		if IsIdempotent(c.request) {
			c.missing = "Transport.MayRepeat returned false"
		}
		if lost, ok := err.(*attemptError); ok { // of a response, CheckStatus says it
			lost.err = fmt.Errorf("%w (%s)", lost.err, c.missing)
		}
		return retry.Unrepeatable(err)
	case c.begun.Load() && !c.resendable():
		c.missing = "the request has no GetBody to resend its body: see http.NewRequest"
		return retry.Unrepeatable(fmt.Errorf("%w (%s)", err, c.missing))
	}
	return err
}

func (c *call) result(err error) (*http.Response, error) {
	if err == nil || c.response != nil && c.failed.body != nil && !errfacts.Is(err, c.Context.Err()) {
		if e, ok := err.(*retry.Error); ok {
			gaveUp := &retry.Error{Attempts: e.Attempts, Reason: e.Reason}
			if e.Reason == retry.ErrUnrepeatable {
				gaveUp.Err = errors.New(c.missing) // the Reason stays as it is, for its ReasonLabel
			}
			end := c.latest.end()
			end.gaveUp = gaveUp
			c.latest.ending = &end
		}
		return c.response, nil
	}
	c.abandon()
	_, gaveUp := err.(*retry.Error)
	switch {
	case !gaveUp && c.err != nil:
		return nil, c.err // without the marks
	case gaveUp && c.isOnly() && c.err != nil && c.cause != nil:
		return nil, c.cause // the client above may retry, and know net/http's errors by their values
	}
	return nil, err
}

// abandon closes the response, or the body of a request that was never sent.
func (c *call) abandon() {
	switch {
	case c.response != nil && (c.failed == nil || c.failed.body != nil):
		_ = c.response.Body.Close()
	case !c.begun.Load() && c.body != nil:
		_ = c.body.Close()
	}
}
