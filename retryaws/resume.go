package retryaws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

// Resume makes the body of a GetObject of S3 go on after its connection is lost. Otherwise, the
// method Read of the body returns an error such as io.ErrUnexpectedEOF, and the caller has to
// begin again.
//
// Instead of returning the error, Read requests the rest of the object with Range, and with
// If-Match, so that both parts are of the same version. The policy decides as it does after a
// failed attempt: it classifies the error, waits, charges the Budget and calls the hooks. Its
// limits, such as MaxAttempts and MaxElapsed, begin anew after each byte that arrives. An
// AttemptTimeout limits the time until the first byte of the rest.
//
// If the policy gives up, Read returns its [retry.Error], which wraps the last failure. If the
// object has changed, Read returns the SDK's error for the status 412. It never returns bytes of
// another version.
//
// The SDK compares its checksum with the whole body, even if the body came in several parts. The
// context of the call must last until the body has been read. If it ends, Read returns the error
// of the connection and requests nothing more. A body goes on only if its response has an ETag
// and says how long the body is, as all responses of S3 do.
func Resume() Option { return func(l *loop) { l.resume = true } }

// A download is the body of a GetObject that goes on. Read may be called by one goroutine at a
// time, and Close by another one.
type download struct {
	ctx    context.Context // ends with the call's, or when the body is closed
	cancel context.CancelFunc
	reopen func(ctx context.Context, lost error, rest transfer.Range) (io.ReadCloser, error)
	rest   transfer.Range // that has not been read
	lost   error          // of the present body
	over   error          // of the download

	mu     sync.Mutex // of what follows
	body   io.ReadCloser
	closed bool
}

func (d *download) Read(p []byte) (int, error) {
	for d.over == nil {
		n, err := d.read(p)
		switch {
		case n > 0, err == nil:
			return n, nil
		case d.rest.First >= d.rest.End, d.ctx.Err() != nil:
			d.over = err // io.EOF after the last byte
		case err == io.EOF:
			d.over = d.goOn(io.ErrUnexpectedEOF)
		default:
			d.over = d.goOn(err)
		}
	}
	return 0, d.over
}

// read reads from the present body. After an error, it returns only the error: not every body
// does.
func (d *download) read(p []byte) (int, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	n, err := d.body.Read(p)
	d.rest.First += int64(n)
	d.lost = err
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// goOn replaces the present body, which has failed.
func (d *download) goOn(lost error) error {
	_ = d.body.Close()
	body, err := d.reopen(d.ctx, lost, d.rest)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.body, d.lost = body, nil
	if d.closed {
		_ = body.Close()
		return lost
	}
	return nil
}

func (d *download) Close() error {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.body.Close()
}

// resumer is next to the transport, so the SDK's checksums are compared with the joined body.
type resumer struct{}

func (resumer) ID() string { return "ResumeBody" }

type (
	callKey struct{} // of the loop's call, if its body goes on
	partKey struct{} // of the part that a request for the rest receives
)

// A call is what is needed to repeat the request of an operation.
type call struct {
	loop loop
	ctx  context.Context
	req  *smithyhttp.Request
	next middleware.FinalizeHandler
}

// A part is the response to a request for the rest, before the SDK wraps its body.
type part struct{ response http.Response }

func (resumer) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	out middleware.DeserializeOutput, metadata middleware.Metadata, err error,
) {
	out, metadata, err = next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok {
		return out, metadata, err
	}
	if p, ok := ctx.Value(partKey{}).(*part); ok {
		p.response = *response.Response
		return out, metadata, nil
	}
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return out, metadata, nil
	}
	whole, ok := restOf(response.Response)
	if ok {
		d := &download{body: response.Body, rest: whole, reopen: c.reopen}
		d.ctx, d.cancel = context.WithCancel(c.ctx)
		response.Body = d
	}
	return out, metadata, nil
}

// resumable returns a context for a call whose body goes on, or ctx itself.
func (l loop) resumable(ctx context.Context, req *smithyhttp.Request, next middleware.FinalizeHandler) context.Context {
	if !l.resume || awsmiddleware.GetServiceID(ctx) != "S3" || middleware.GetOperationName(ctx) != "GetObject" {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, &call{loop: l, ctx: ctx, req: req, next: next})
}

// reopen requests the rest of an object. It returns a body whose first byte has arrived.
// life ends with the download.
func (c *call) reopen(life context.Context, lost error, rest transfer.Range) (io.ReadCloser, error) {
	p := c.loop.policy
	p.AttemptTimeout = 0
	p.Limiter = afterFirst(p.Limiter)
	attempt := attempt{most: p.Attempts(), once: c.loop.once, next: c.next}
	var body io.ReadCloser
	err := retry.Do(life, p, func(context.Context) (err error) {
		attempt.number++
		if attempt.number == 1 {
			return &smithyhttp.RequestSendError{Err: lost} // this attempt's body was lost
		}
		body, err = c.request(life, attempt, rest)
		return c.loop.hints.add(err)
	})
	if err != nil {
		return nil, fmt.Errorf("go on at byte %d of the object: %w", rest.First, err)
	}
	return body, nil
}

// request makes one request for the rest. Its context ends when the body is closed, because an
// attempt ends before the body has been read.
func (c *call) request(life context.Context, attempt attempt, rest transfer.Range) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(life)
	limit := timeLimit(c.loop.policy.AttemptTimeout)
	inTime := func() bool { return true }
	if limit > 0 {
		inTime = time.AfterFunc(time.Duration(limit), cancel).Stop
	}
	body, err := c.open(ctx, attempt, rest)
	if inTime() && err == nil {
		body.cancel = cancel
		return body, nil
	}
	late := ctx.Err() != nil && life.Err() == nil
	cancel()
	if body != nil {
		_ = body.Close()
	}
	if late {
		err = &timeoutError{limit, err}
	}
	return nil, err
}

func (c *call) open(ctx context.Context, attempt attempt, rest transfer.Range) (*begun, error) {
	req := c.req.Clone()
	askFor(req.Request, rest)
	got := new(part)
	_, _, err := attempt.HandleFinalize(context.WithValue(ctx, partKey{}, got), middleware.FinalizeInput{Request: req})
	if err != nil {
		return nil, err
	}
	body := &begun{ReadCloser: got.response.Body}
	if err := check(&got.response, rest); err != nil {
		_ = body.Close()
		return nil, retry.Permanent(err)
	}
	if _, err := io.ReadFull(body.ReadCloser, body.first[:]); err != nil {
		_ = body.Close()
		return nil, &smithyhttp.RequestSendError{Err: err}
	}
	return body, nil
}

// begun is a body whose first byte has arrived.
type begun struct {
	io.ReadCloser
	first  [1]byte
	given  bool // to the reader
	cancel context.CancelFunc
}

func (b *begun) Read(p []byte) (int, error) {
	if b.given || len(p) == 0 {
		return b.ReadCloser.Read(p)
	}
	b.given = true
	return copy(p, b.first[:]), nil
}

func (b *begun) Close() error {
	if b.cancel != nil {
		defer b.cancel()
	}
	return b.ReadCloser.Close()
}

// afterFirst returns a Limiter that does not delay the first attempt of a call.
func afterFirst(l retry.Limiter) retry.Limiter {
	if l == nil {
		return nil
	}
	return &laterLimiter{Limiter: l}
}

type laterLimiter struct {
	retry.Limiter
	begun bool
}

func (l *laterLimiter) Wait(ctx context.Context) error {
	if !l.begun {
		l.begun = true
		return nil
	}
	return l.Limiter.Wait(ctx)
}

func (l *laterLimiter) Observe(a retry.Attempt) {
	if o, ok := l.Limiter.(interface{ Observe(retry.Attempt) }); ok {
		o.Observe(a)
	}
}

func (l *laterLimiter) Paces(a retry.Attempt) bool {
	p, ok := l.Limiter.(interface{ Paces(retry.Attempt) bool })
	return ok && p.Paces(a)
}
