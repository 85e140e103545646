package retryhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gobackoff/retry"
)

// resumedBody is the body of a response that continues after it broke off: see
// Transport.Resume.
type resumedBody struct {
	body   io.ReadCloser
	call   *call
	etag   string
	total  int64 // -1: unknown
	offset int64
	moved  bool  // since the latest response
	failed error // of body, after the data that it returned
}

var errChanged = errors.New("retryhttp: the rest of the response is not available any more")

// resumable wraps the body of the response if a later request can continue it.
func (c *call) resumable() {
	resp, req := c.response, c.request
	etag := resp.Header.Get("Etag")
	if !c.transport.Resume || !c.mayRepeat || req.Method != "" && req.Method != http.MethodGet || req.Header.Get("Range") != "" ||
		resp.StatusCode != http.StatusOK || resp.Body == http.NoBody || !strings.HasPrefix(etag, `"`) ||
		resp.Uncompressed || resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Accept-Ranges") == "none" {
		return
	}
	resp.Body = &resumedBody{body: resp.Body, call: c, etag: etag, total: resp.ContentLength}
}

// keepPolicy is a function of its own because p escapes to the heap.
func (c *call) keepPolicy(p retry.Policy) { c.policy = &p }

// Read returns an error only if the body cannot be continued.
func (b *resumedBody) Read(p []byte) (int, error) {
	for {
		if b.failed == nil {
			var n int
			n, b.failed = b.body.Read(p)
			b.offset += int64(n)
			b.moved = b.moved || n > 0
			if b.failed == io.EOF && b.offset < b.total {
				b.failed = io.ErrUnexpectedEOF
			}
			if n > 0 || b.failed == nil {
				return n, nil
			}
		}
		if b.failed == io.EOF || b.call.request.Context().Err() != nil {
			return 0, b.failed
		}
		if err := b.resume(b.failed); err != nil {
			b.failed, b.total = io.EOF, -1 // nothing follows
			return 0, err
		}
		b.failed = nil
	}
}

// Close closes the body of the latest response.
func (b *resumedBody) Close() error { return b.body.Close() }

// resume requests the rest. The broken body counts as a failed attempt, and as one with
// progress if it returned any data.
func (b *resumedBody) resume(broken error) error {
	_ = b.body.Close()
	c, p := b.call.again(), *b.call.policy
	c.request.Header.Set("Range", fmt.Sprintf("bytes=%d-", b.offset))
	c.request.Header.Set("If-Range", b.etag)
	p.Classifier = c
	if next := p.OnAttempt; next != nil { // the broken attempt has begun long ago
		p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			if a.Number == 1 && c.sent == 0 {
				return nil, nil
			}
			return next(ctx, a)
		}
	}
	first := true
	err := retry.Do(c, p, func(ctx context.Context) error {
		if first {
			first, c.cause = false, broken
			if b.moved {
				return retry.Progress(broken)
			}
			return broken
		}
		if err := c.attempt(ctx); err != nil {
			return err
		}
		if !b.matches(c.response) {
			_ = c.response.Body.Close()
			return retry.Permanent(fmt.Errorf("%w: %w", errChanged, broken))
		}
		return nil
	})
	if err != nil {
		if c.response != nil && c.failed != nil {
			c.abandon()
		}
		return err
	}
	b.body, b.moved = c.response.Body, false
	return nil
}

// again returns a call for another request for the same resource.
func (c *call) again() *call {
	next := &call{Context: c.request.Context(), transport: c.transport, request: c.request.Clone(c.request.Context()), limit: c.limit,
		mayRepeat: true, direct: c.direct, clock: c.clock, policy: c.policy, classifier: c.classifier}
	if next.request.Header == nil {
		next.request.Header = http.Header{}
	}
	next.number.Store(c.number.Load())
	next.resends.Store(c.resends.Load())
	return next
}

// matches reports whether resp is the rest of the body.
func (b *resumedBody) matches(resp *http.Response) bool {
	rest, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	from, rest, cut := strings.Cut(rest, "-")
	_, total, _ := strings.Cut(rest, "/")
	etag := resp.Header.Get("Etag")
	return ok && cut && resp.StatusCode == http.StatusPartialContent && from == strconv.FormatInt(b.offset, 10) &&
		(b.total < 0 || total == "*" || total == strconv.FormatInt(b.total, 10)) && (etag == "" || etag == b.etag)
}
