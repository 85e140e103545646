package retryhttp

import (
	"bytes"
	"context"
	"errors"
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
// once, what has been read of it first. The end of the context ends the wait for
// it, and closes it, as net/http does with a body that it sends.
func (c *call) buffer(most int64) error {
	original := c.body
	var data []byte
	var err error
	read := make(chan struct{})
	go func() {
		defer close(read)
		data, err = io.ReadAll(io.LimitReader(original, min(most, math.MaxInt64-1)+1))
	}()
	ctx := c.request.Context()
	select {
	case <-read:
	case <-ctx.Done():
		_ = original.Close()
		return context.Cause(ctx)
	}
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

// keep lets the context of the attempt, and its time limit, last until the body
// of its answer is closed. A connection that has switched protocols is the
// caller's, without a limit, and its Body must keep its method Write.
func (c *call) keep(cancel context.CancelFunc) {
	switch {
	case c.limit <= 0 && (c.watch == nil || c.watch.cancel == nil):
	case c.answer.StatusCode == http.StatusSwitchingProtocols:
		release(cancel, c.watch)
	default:
		c.answer.Body = &keptBody{c.answer.Body, cancel, c.watch}
	}
}

// release ends the context of an attempt.
func release(cancel context.CancelFunc, w *watch) {
	cancel()
	w.release()
}

// keptBody ends the context that it is read with when it is closed.
type keptBody struct {
	io.ReadCloser
	cancel context.CancelFunc
	watch  *watch
}

func (b *keptBody) Close() error {
	defer release(b.cancel, b.watch)
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
	e, _ := errors.AsType[*StatusError](failed.Err)
	if e == nil || e.body == nil {
		return
	}
	body := e.body
	e.body = nil
	defer body.Close()
	if body != http.NoBody && e.Response.ContentLength <= maxDrain {
		slow := time.AfterFunc(maxDrainTime, func() { _ = body.Close() })
		defer slow.Stop()
		_, _ = io.CopyN(io.Discard, body, maxDrain+1)
	}
}
