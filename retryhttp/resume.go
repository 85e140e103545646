package retryhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// resumedBody is the body of a response that continues after it broke off: see
// Transport.Resume. Each response that continues it has returned at least one byte.
type resumedBody struct {
	call   *call
	ctx    context.Context // of the requests for the rest; ends with Close
	cancel context.CancelCauseFunc
	etag   string
	total  int64 // -1: unknown
	offset int64
	broken error // of body, after the data that it returned
	end    error // of Read, from now on

	first     time.Time // when the body first broke off
	paid      int64     // the offset at the latest request
	fruitless int       // requests in a row that did not pay

	mu   sync.Mutex
	body io.ReadCloser // of the latest response; only Read changes it
}

var errChanged = errors.New("retryhttp: the rest of the response is not available any more")

// resumable wraps the body of the response if a later request can continue it.
func (c *call) resumable() {
	resp, req := c.response, c.request
	etag := resp.Header.Get("Etag")
	if !c.transport.Resume || !c.mayRepeat || req.Method != "" && req.Method != http.MethodGet || req.Header.Get("Range") != "" ||
		c.body != nil || // it may be gone
		resp.StatusCode != http.StatusOK || resp.Body == http.NoBody || !strings.HasPrefix(etag, `"`) ||
		resp.Uncompressed || resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Accept-Ranges") == "none" {
		return
	}
	b := &resumedBody{call: c, etag: etag, total: resp.ContentLength, body: resp.Body}
	b.ctx, b.cancel = context.WithCancelCause(req.Context())
	resp.Body = b
}

// Read returns an error only if the body cannot be continued.
func (b *resumedBody) Read(p []byte) (int, error) {
	for b.end == nil && b.ctx.Err() == nil {
		if b.broken == nil {
			var n int
			n, b.broken = b.body.Read(p)
			b.offset += int64(n)
			if b.broken == io.EOF && b.offset < b.total {
				b.broken = io.ErrUnexpectedEOF
			}
			if n > 0 || b.broken == nil {
				return n, nil
			}
		}
		if b.end = b.broken; b.end != io.EOF && b.ctx.Err() == nil {
			b.end = b.resume()
		}
	}
	return 0, cmp.Or(context.Cause(b.ctx), b.end)
}

// Close ends the body, also during a Read.
func (b *resumedBody) Close() error {
	b.cancel(http.ErrBodyReadAfterClose)
	b.mu.Lock()
	body := b.body
	b.mu.Unlock()
	return body.Close()
}

// use makes body the one to read and to close. It closes a body that arrives after Close.
func (b *resumedBody) use(body io.ReadCloser) {
	b.mu.Lock()
	b.body = body
	b.mu.Unlock()
	if b.ctx.Err() != nil {
		_ = body.Close()
	}
}

// resume requests the rest, until a response returns some of it. The broken body counts
// as a failed attempt, and as one with progress if it returned enough data: a server that
// sends a byte per response could otherwise keep a client for ever.
func (b *resumedBody) resume() error {
	_ = b.body.Close()
	b.use(http.NoBody)
	c, broken := b.call.again(b), b.broken
	pays := b.offset-b.paid >= min(paysAlways, max(1, b.total/100))
	if b.fruitless++; pays {
		b.fruitless = 0
	}
	b.paid = b.offset
	now, limit := c.clock().Now(), c.policy.MaxElapsed
	if b.first.IsZero() {
		b.first = now
	}
	if limit > 0 && now.Sub(b.first) >= limit {
		return c.outOfTime(broken)
	}
	err := retry.Do(c, c.policyForRest(), func(ctx context.Context) error {
		if c.cause != nil {
			return c.attempt(ctx)
		}
		if c.cause = broken; pays {
			return retry.Progress(broken)
		}
		return broken
	})
	if err != nil {
		c.abandon()
		if !errors.Is(err, broken) {
			err = fmt.Errorf("%w; request the rest: %w", broken, err)
		}
		return err
	}
	b.broken = nil
	return nil
}

// again returns a call that requests the rest of b.
func (c *call) again(b *resumedBody) *call {
	next := &call{Context: b.ctx, settings: c.settings, request: c.request.Clone(b.ctx), rest: b}
	if next.request.Header == nil {
		next.request.Header = http.Header{}
	}
	next.request.Header.Set("Range", fmt.Sprintf("bytes=%d-", b.offset))
	next.request.Header.Set("If-Range", b.etag)
	next.number.Store(c.number.Load())
	next.resends.Store(c.resends.Load())
	return next
}

// outOfTime gives up before a request, as retry.Do would.
func (c *call) outOfTime(broken error) error {
	e := &retry.Error{Err: broken, Reason: retry.ErrMaxElapsed, Attempts: int(c.number.Load())}
	if c.policy.OnGiveUp != nil {
		c.policy.OnGiveUp(c, e)
	}
	return e
}

const paysAlways = 64 << 10 // bytes

// policyForRest returns the policy for a call whose first attempt is the broken body: it
// began long ago, so nothing delays it and hooks do not hear of it again. Requests that
// did not pay count as its attempts, and its time limit began when the body first broke off.
func (c *call) policyForRest() retry.Policy {
	p, b := c.policy, c.rest
	p.Classifier = c
	if fruitless := b.fruitless; fruitless > 0 {
		if most := p.Attempts(); most != retry.Unlimited {
			p.MaxAttempts = max(1, most-fruitless+1)
		}
		rule := retry.Capped{Of: p.Backoff}
		p.Backoff = retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
			a.Number += fruitless - 1
			return rule.Delay(a, u)
		})
	}
	if p.MaxElapsed > 0 {
		p.MaxElapsed -= max(0, c.clock().Now().Sub(b.first))
	}
	if p.Budget != nil {
		p.Budget = withoutRefund{p.Budget}
	}
	if p.Limiter != nil {
		p.Limiter = &restLimiter{p.Limiter, c}
	}
	if next := p.OnAttempt; next != nil {
		p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			if c.cause == nil {
				return nil, nil
			}
			return next(ctx, a)
		}
	}
	return p
}

// withoutRefund is a Budget that the continuations of a body only spend.
type withoutRefund struct{ retry.Budget }

func (withoutRefund) Deposit(retry.Attempt, error) {}

// restLimiter is a Limiter that does not see the broken body.
type restLimiter struct {
	retry.Limiter
	call *call
}

func (l *restLimiter) Wait(ctx context.Context) error {
	if l.call.cause == nil {
		return nil
	}
	return l.Limiter.Wait(ctx)
}

func (l *restLimiter) Observe(a retry.Attempt) {
	if o, ok := l.Limiter.(retry.Observer); ok && l.call.sent > 0 {
		o.Observe(a)
	}
}

// continueBody makes the response's body the continuation of c.rest, as soon as its first
// byte has arrived.
func (c *call) continueBody(ctx, limited context.Context) error {
	b, body := c.rest, &peekedBody{ReadCloser: c.response.Body}
	b.use(body)
	if !b.matches(c.response) {
		_ = body.Close()
		c.response = nil
		return retry.Permanent(fmt.Errorf("%w: %w", errChanged, b.broken))
	}
	data, err := body.peek(1)
	if len(data) > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return c.brokeOff(ctx, limited, 0, err)
}

// matches reports whether resp is the rest of the body, whose length it notes.
func (b *resumedBody) matches(resp *http.Response) bool {
	var start, end int64
	var total string
	read, _ := fmt.Sscanf(errfacts.First(resp.Header, "Content-Range"), "bytes %d-%d/%s", &start, &end, &total)
	etag := resp.Header.Get("Etag")
	if read < 3 || start != b.offset || resp.StatusCode != http.StatusPartialContent || etag != "" && etag != b.etag {
		return false
	}
	n, err := strconv.ParseInt(total, 10, 64)
	if b.total < 0 && err == nil {
		b.total = n
	}
	return err == nil && n == b.total || total == "*" && b.total >= 0
}
