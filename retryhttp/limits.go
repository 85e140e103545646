package retryhttp

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// slowError is the cause with which FirstByteTimeout or StallTimeout cancels an attempt.
type slowError struct {
	missing string
	limit   time.Duration
}

func (e *slowError) Error() string { return fmt.Sprintf("no %s for %v", e.missing, e.limit) }

// Timeout and Temporary make it a net.Error.
func (e *slowError) Timeout() bool   { return true }
func (e *slowError) Temporary() bool { return true }

// Is reports whether target is context.DeadlineExceeded, as that of net/http's timeouts does.
func (e *slowError) Is(target error) bool { return target == context.DeadlineExceeded }

// attemptTimes are the limits of time of one attempt. The zero attemptTimes has none.
type attemptTimes struct {
	cancel context.CancelCauseFunc // nil: neither FirstByteTimeout nor StallTimeout
	first  *time.Timer             // nil: no FirstByteTimeout
}

// limitTimes returns a context for the attempt that ends with its limits of time, or with
// the function.
func (c *call) limitTimes(ctx context.Context) (attemptTimes, context.Context, context.CancelFunc) {
	end := func() {}
	if c.limit > 0 {
		ctx, end = context.WithTimeout(ctx, c.limit)
	}
	first, stall := c.transport.FirstByteTimeout, c.transport.StallTimeout
	if first <= 0 && stall <= 0 {
		return attemptTimes{}, ctx, end
	}
	ctx, cancel := context.WithCancelCause(ctx)
	times := attemptTimes{cancel: cancel}
	if first > 0 {
		times.first = time.AfterFunc(first, func() { cancel(&slowError{"response", first}) })
	}
	return times, ctx, func() { cancel(nil); end() }
}

// answered notes that Base has returned. A response that came too late cannot be read, because
// the context has ended: answered makes it an error.
func (c *call) answered(times attemptTimes, limited context.Context) (late bool) {
	if times.first == nil || times.first.Stop() || c.err != nil {
		return false
	}
	times.cancel(&slowError{"response", c.transport.FirstByteTimeout}) // the timer's function may not have begun
	slow, late := context.Cause(limited).(*slowError)
	if late {
		if c.response.Body != nil {
			_ = c.response.Body.Close()
		}
		c.response, c.err = nil, slow
	}
	return late
}

// endedBy returns the error of the limit that ended the attempt, or err if none did.
func (c *call) endedBy(ctx, limited context.Context, err error) error {
	if limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	if slow, ok := context.Cause(limited).(*slowError); ok {
		return slow
	}
	return &errfacts.Overtime{Err: err, Limit: c.limit}
}

// watch returns body, with a limit between its bytes.
func (c *call) watch(limited context.Context, times attemptTimes, body io.ReadCloser) io.ReadCloser {
	limit := c.transport.StallTimeout
	if limit <= 0 {
		return body
	}
	b := &watchedBody{ReadCloser: body, limit: limit, ctx: limited}
	b.timer = time.AfterFunc(limit, func() {
		times.cancel(&slowError{"byte of the body", limit})
		_ = body.Close() // a Base may not follow the context
	})
	b.timer.Stop()
	return b
}

// watchedBody is a body whose Read waits for a limited time.
type watchedBody struct {
	io.ReadCloser
	limit time.Duration
	ctx   context.Context // of the attempt
	timer *time.Timer     // ends the attempt; it runs during Read
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.limit)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err == nil || err == io.EOF {
		return n, err
	}
	if slow, ok := context.Cause(b.ctx).(*slowError); ok {
		return n, slow
	}
	return n, err
}
