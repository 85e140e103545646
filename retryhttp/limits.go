package retryhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// send sends the request of the latest attempt, which AttemptTimeout limits until the response's
// body is closed. A connection that has switched protocols belongs to the caller, without a limit
// and with the Write method of its Body.
func (c *call) send() delivery {
	if c.limit <= 0 {
		return c.race(c.latest)
	}
	ctx, cancel := context.WithTimeout(c.latest, c.limit)
	d := c.race(ctx)
	switch {
	case d.err != nil:
		if ctx.Err() != nil && c.latest.Err() == nil && !timedOut(d.err) {
			d.err = &errfacts.Overtime{Err: d.err, Limit: c.limit}
		}
		cancel()
	case d.response.StatusCode == http.StatusSwitchingProtocols:
		cancel()
	default:
		d.response.Body = &keptBody{d.response.Body, cancel}
	}
	return d
}

// keptBody is a body whose context is needed until it is closed.
type keptBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *keptBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// slowError is the cause with which FirstByteTimeout or StallTimeout cancels a request.
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

// timedOut reports whether one of the Transport's own limits ended the attempt that failed with err.
func timedOut(err error) bool {
	for e := range errfacts.Chain(err) {
		switch e.(type) {
		case *slowError, *errfacts.Overtime:
			return true
		}
	}
	return false
}

// Validate reports an invalid field in an error that matches [retry.ErrInvalid]: what Policy.Validate
// reports, a limit of time that is negative, and one that never ends an attempt because the
// AttemptTimeout always ends it first. RoundTrip returns the same error.
func (t *Transport) Validate() error {
	for _, limit := range []struct {
		name  string
		value time.Duration
	}{{"FirstByteTimeout", t.FirstByteTimeout}, {"StallTimeout", t.StallTimeout}} {
		whole := t.Policy.AttemptTimeout
		switch {
		case limit.value < 0:
			return fmt.Errorf("retryhttp: %w Transport: %s is negative: %v", retry.ErrInvalid, limit.name, limit.value)
		case whole > 0 && limit.value >= whole:
			return fmt.Errorf("retryhttp: %w Transport: %s %v never ends an attempt, because AttemptTimeout is %v", retry.ErrInvalid, limit.name, limit.value, whole)
		}
	}
	return t.Policy.Validate()
}

// limits is the layer that ends a request if nothing happens for too long.
type limits struct {
	next         http.RoundTripper
	first, stall time.Duration // 0 or less: no limit
}

// RoundTrip implements [http.RoundTripper].
func (l *limits) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watch{parent: req.Context(), ctx: ctx, cancel: cancel}
	w.response = alarm{limit: l.first, ring: func() { cancel(&slowError{"response", l.first}) }}
	w.upload = alarm{limit: l.stall, ring: func() { cancel(&slowError{"progress of the request's body", l.stall}) }}
	if l.first > 0 {
		ctx = wire.Follow(ctx, w.progress)
	}
	watched := req.WithContext(ctx)
	watched.Body = w.watchUpload(req.Body)
	if req.GetBody != nil {
		watched.GetBody = func() (io.ReadCloser, error) {
			body, err := req.GetBody()
			return w.watchUpload(body), err
		}
	}
	w.response.begin()
	resp, err := l.next.RoundTrip(watched)
	w.response.end()
	w.upload.end()
	if err == nil && timedOut(context.Cause(ctx)) { // its body could not be read
		_ = resp.Body.Close()
		err = ctx.Err()
	}
	switch {
	case err != nil:
		err = w.reason(err)
		cancel(nil)
		return nil, err
	case resp.StatusCode == http.StatusSwitchingProtocols:
		cancel(nil)
		return resp, nil
	}
	body := &watchedDownload{ReadCloser: resp.Body, watch: w}
	body.next = alarm{limit: l.stall, ring: func() {
		cancel(&slowError{"byte of the body", l.stall})
		_ = body.ReadCloser.Close() // a Base may not follow the context
	}}
	resp.Body = body
	return resp, nil
}

// A watch has the alarms of one request.
type watch struct {
	parent, ctx context.Context
	cancel      context.CancelCauseFunc
	response    alarm // of FirstByteTimeout
	upload      alarm // of StallTimeout, until there is a response
}

// progress begins the wait for the response when the request is being written. The time in which a
// request waits for its turn on a connection says nothing about the server.
func (w *watch) progress(p wire.Progress) {
	if p == wire.Queued {
		w.response.pause()
		return
	}
	w.response.begin()
}

// reason returns the limit that ended the request, or err.
func (w *watch) reason(err error) error {
	slow, ok := context.Cause(w.ctx).(*slowError)
	if !ok || w.parent.Err() != nil {
		return err
	}
	return slow
}

// watchUpload returns the body of a request. While Base does not read it, both alarms run; while
// its source is slow, none does.
func (w *watch) watchUpload(body io.ReadCloser) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body
	}
	return &watchedUpload{body, w}
}

type watchedUpload struct {
	io.ReadCloser
	watch *watch
}

func (b *watchedUpload) Read(p []byte) (int, error) {
	b.watch.response.pause()
	b.watch.upload.pause()
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		b.watch.upload.begin()
	}
	b.watch.response.begin()
	return n, err
}

func (b *watchedUpload) Close() error {
	b.watch.upload.pause()
	return b.ReadCloser.Close()
}

// watchedDownload is the body of a response whose Read waits for a limited time.
type watchedDownload struct {
	io.ReadCloser
	watch *watch
	next  alarm // of StallTimeout, during a Read
}

func (b *watchedDownload) Read(p []byte) (int, error) {
	b.next.begin()
	n, err := b.ReadCloser.Read(p)
	b.next.pause()
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, b.watch.reason(err)
}

func (b *watchedDownload) Close() error {
	defer b.watch.cancel(nil)
	b.next.end()
	return b.ReadCloser.Close()
}

// An alarm rings once, if it has been begun and nothing has begun it anew, paused it or ended it for
// as long as its limit. It is all that the limits know of time. A limit of 0 or less never rings.
type alarm struct {
	limit time.Duration
	ring  func() // which must not use the alarm

	mu    sync.Mutex
	timer *time.Timer
	due   time.Time // zero: paused
	over  bool
}

func (a *alarm) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over || a.limit <= 0 {
		return
	}
	a.due = time.Now().Add(a.limit)
	if a.timer == nil {
		a.timer = time.AfterFunc(a.limit, a.check)
		return
	}
	a.timer.Reset(a.limit)
}

func (a *alarm) pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}

// end returns after the alarm has rung, or it never rings.
func (a *alarm) end() {
	a.pause()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

// check rings if the time is over. The timer may have begun it just before the alarm was paused or
// begun anew.
func (a *alarm) check() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over || a.due.IsZero() || time.Until(a.due) > 0 {
		return
	}
	a.over = true
	a.ring()
}
