package retryhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
)

// planBody determines how to send the body more than once. The body is never rewound,
// because the previous attempt may still be reading it.
func (c *call) planBody() {
	if c.request.Body == nil || c.request.Body == http.NoBody {
		return
	}
	c.body, c.getBody = c.request.Body, c.request.GetBody
	if most := c.transport.MaxBuffer; c.getBody == nil && most > 0 && c.request.ContentLength <= most {
		c.recording = &recording{source: c.body, most: most}
		c.getBody = c.recording.replay
		c.body, _ = c.recording.replay()
	}
}

// recording keeps the part of a body that has been read, so that the next attempt reads
// that part again before the rest. It never reads ahead, because the other end of a
// stream may be waiting for the response.
type recording struct {
	reading sync.Mutex // held while source is read
	source  io.ReadCloser
	most    int64

	mu      sync.Mutex
	data    []byte
	err     error // final error of source
	tooLong bool  // data is incomplete
	current *replay
	last    bool // no attempt follows
	closed  bool // source is closed
}

type replay struct {
	of     *recording
	next   int  // index in of.data
	closed bool // guarded by of.mu
}

var (
	errTooLong = errors.New("the body is longer than MaxBuffer")
	errClosed  = errors.New("the body is closed")
)

// replay returns the body from its beginning and ends the previous replay.
func (r *recording) replay() (io.ReadCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tooLong {
		return nil, errTooLong
	}
	if r.current != nil {
		r.current.closed = true
	}
	r.current = &replay{of: r}
	return r.current, nil
}

// state reports whether all that was read is kept, and whether reading failed: it would fail
// again in a retry. A nil recording is complete.
func (r *recording) state() (complete, failed bool) {
	if r == nil {
		return true, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.tooLong, r.err != nil && r.err != io.EOF
}

// finish closes the source once the last attempt is done with it. A nil recording has
// no source.
func (r *recording) finish() {
	if r != nil {
		r.after(func() { r.last = true })
	}
}

// end ends the current replay.
func (r *recording) end() { r.after(func() { r.current.closed = true }) }

// Close ends this replay; closing the last one closes the source.
func (b *replay) Close() error {
	b.of.after(func() { b.closed = true })
	return nil
}

// after closes the source if nothing reads it any more after the change.
func (r *recording) after(change func()) {
	r.mu.Lock()
	change()
	due := r.last && r.current.closed && !r.closed
	r.closed = r.closed || due
	r.mu.Unlock()
	if due {
		_ = r.source.Close()
	}
}

// recorded copies recorded data to p. If ok is true, the source need not be read.
func (b *replay) recorded(p []byte) (n int, err error, ok bool) {
	r := b.of
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case b.closed:
		return 0, errClosed, true
	case !r.tooLong && b.next < len(r.data):
		n = copy(p, r.data[b.next:])
		b.next += n
		return n, nil, true
	}
	return 0, r.err, r.err != nil
}

// Read reads recorded data, then the source.
func (b *replay) Read(p []byte) (int, error) {
	if n, err, ok := b.recorded(p); ok {
		return n, err
	}
	r := b.of
	r.reading.Lock()
	defer r.reading.Unlock()
	if n, err, ok := b.recorded(p); ok { // an earlier attempt has read more
		return n, err
	}
	n, err := r.source.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.tooLong:
	case int64(len(r.data)+n) > r.most:
		r.tooLong, r.data = true, nil
	default:
		r.data = append(r.data, p[:n]...)
	}
	r.err = err
	b.next += n
	return n, err
}

// A peekedBody returns what has been read of it again.
type peekedBody struct {
	io.ReadCloser
	data  []byte // not returned yet
	err   error  // returned after data; io.EOF at the end
	cause atomic.Pointer[error]
}

// peek returns the next n bytes, or fewer at the end of the body. What arrives with them is
// kept, so that a reader may ask for one byte more again and again.
func (b *peekedBody) peek(n int) ([]byte, error) {
	for len(b.data) < n && b.err == nil {
		if len(b.data) == cap(b.data) {
			b.data = slices.Grow(b.data, max(minPeek, len(b.data)))
		}
		var more int
		more, b.err = b.read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+more]
	}
	if len(b.data) >= n || b.err == io.EOF {
		return b.data[:max(0, min(n, len(b.data)))], nil
	}
	return b.data, b.err
}

// peekInto returns a function that returns the first bytes of a response's body, which remain in it.
func peekInto(resp *http.Response) func(n int) ([]byte, error) {
	body := &peekedBody{ReadCloser: resp.Body}
	return func(n int) ([]byte, error) {
		resp.Body = body
		return body.peek(n)
	}
}

// minPeek is the least space for what arrives, in bytes.
const minPeek = 512

func (b *peekedBody) Read(p []byte) (int, error) {
	if len(b.data) > 0 {
		n := copy(p, b.data)
		b.data = b.data[n:]
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.read(p)
}

func (b *peekedBody) read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if cause := b.cause.Load(); cause != nil && err != nil {
		err = *cause
	}
	return n, err
}

// CloseWithError closes the body, also during a Read, which then returns err. Package apis
// calls it when a stream is silent for too long.
func (b *peekedBody) CloseWithError(err error) error {
	b.cause.CompareAndSwap(nil, &err)
	return b.ReadCloser.Close()
}

// Limits for draining a response so that its connection can be reused. Beyond them, a
// new connection is about as fast.
const (
	maxDrain     = 64 << 10
	maxDrainTime = 100 * time.Millisecond
)

// discardResponse frees the connection of a response before the wait. It is an OnRetry
// hook because only then is a retry certain; until then, the response may be the one to
// return.
func discardResponse(ctx context.Context, _ retry.Attempt, _ time.Duration) {
	e := ctx.Value(infoKey{}).(*call).failed // the error may hold another one, of Check
	if e == nil || e.body == nil {
		return
	}
	drain(e.body, e.Response.ContentLength)
	e.body = nil
}

// drain closes the body of a response that has so many bytes, or -1 if that is unknown.
func drain(body io.ReadCloser, length int64) {
	end := sync.OnceFunc(func() { _ = body.Close() })
	defer end()
	if body != http.NoBody && length <= maxDrain {
		slow := time.AfterFunc(maxDrainTime, end)
		defer slow.Stop()
		_, _ = io.CopyN(io.Discard, body, maxDrain+1)
	}
}
