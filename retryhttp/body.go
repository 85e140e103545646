package retryhttp

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
)

// takeBody finds out how the body of the request can be sent more than once. A
// body is never rewound: what reads the old one may still do so while the new
// one is sent.
func (c *call) takeBody() error {
	c.body, c.getBody = c.request.Body, c.request.GetBody
	if c.body == nil || c.body == http.NoBody {
		c.getBody, c.rewinds = nil, true
		return nil
	}
	if c.rewinds = c.getBody != nil; c.rewinds {
		return nil
	}
	if most := c.transport.MaxBuffer; most > 0 && c.request.ContentLength <= most && c.request.Context().Err() == nil {
		return c.buffer(most)
	}
	return nil
}

// buffer reads the body into memory. One that turns out to be too long is sent
// once, what has been read of it first.
func (c *call) buffer(most int64) error {
	original := c.body
	data, err := io.ReadAll(io.LimitReader(original, min(most, math.MaxInt64-1)+1))
	if err != nil {
		_ = original.Close()
		return err
	}
	if int64(len(data)) > most {
		c.body = readCloser{io.MultiReader(bytes.NewReader(data), original), original}
		return nil
	}
	_ = original.Close()
	c.rewinds = true
	c.getBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	c.body, err = c.getBody()
	return err
}

type readCloser struct {
	io.Reader
	io.Closer
}

// keep lets the time limit of the attempt last until the body of its answer is
// closed. A connection that has switched protocols is the caller's, without a
// limit, and its Body must keep its method Write.
func (c *call) keep(cancel context.CancelFunc) {
	switch {
	case c.limit <= 0:
	case c.answer.StatusCode == http.StatusSwitchingProtocols:
		cancel()
	default:
		c.answer.Body = &limitedBody{c.answer.Body, cancel}
	}
}

type limitedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *limitedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// What is spent on reading an answer that nobody wants, so that its connection
// can be used again: a new one takes about as long.
const (
	maxDrain     = 64 << 10
	maxDrainTime = 100 * time.Millisecond
)

// discardAnswer frees the connection of an answer that is followed by a retry,
// before the wait. It is an OnRetry hook, because only then is it certain that
// the answer will not be the last one.
func discardAnswer(_ context.Context, failed retry.Attempt, _ time.Duration) {
	e := statusErrorIn(failed.Err)
	if e == nil {
		return
	}
	e.discarded = true
	body := e.Response.Body
	if body != http.NoBody && e.Response.ContentLength <= maxDrain {
		stop := time.AfterFunc(maxDrainTime, func() { _ = body.Close() })
		_, _ = io.CopyN(io.Discard, body, maxDrain+1)
		stop.Stop()
	}
	_ = body.Close()
}
