package retryhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// takeBody finds out how the body of the request can be sent more than once. A
// body is never rewound: what reads the old one may still do so while the new
// one is sent.
func (c *call) takeBody() {
	c.body, c.getBody = c.request.Body, c.request.GetBody
	if c.body == nil || c.body == http.NoBody {
		c.getBody = nil
		return
	}
	if most := c.transport.MaxBuffer; c.getBody == nil && most > 0 && c.request.ContentLength <= most {
		c.recording = &recording{source: c.body, most: most}
		c.getBody = c.recording.replay
		c.body, _ = c.recording.replay()
	}
}

// rewinds reports whether the request can be sent again.
func (c *call) rewinds() bool {
	if c.recording != nil {
		return c.recording.complete()
	}
	return c.getBody != nil || c.body == nil || c.body == http.NoBody
}

// recording keeps what is read of a body, so that the next attempt reads it
// again and then goes on with the rest. It reads no more than an attempt asks
// for, so that a stream whose other end waits for the response goes on.
type recording struct {
	reading sync.Mutex // held while source is read, which may last
	source  io.ReadCloser
	most    int64

	mu      sync.Mutex
	data    []byte
	err     error // that source ended with
	tooLong bool  // data is incomplete
	current *replay
	last    bool // there will be no further attempt
	closed  bool // source is
}

// replay is one reading of a recorded body.
type replay struct {
	of     *recording
	next   int  // byte of the recording
	closed bool // guarded by of.mu
}

var (
	errTooLong = errors.New("the body is longer than MaxBuffer")
	errClosed  = errors.New("the body is closed")
)

// replay returns the body from its beginning, in the place of the one before.
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

func (r *recording) complete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.tooLong
}

// failed reports whether the body cannot be read, which another attempt does not
// change. A nil recording has not failed.
func (r *recording) failed() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil && r.err != io.EOF
}

// finish closes the source as soon as the last attempt is done with it. A nil
// recording has none.
func (r *recording) finish() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.last = true
	r.mu.Unlock()
	r.closeSource()
}

func (r *recording) closeSource() {
	r.mu.Lock()
	due := r.last && r.current.closed && !r.closed
	r.closed = r.closed || due
	r.mu.Unlock()
	if due {
		_ = r.source.Close()
	}
}

// recorded copies what is there already. ok reports that there is no need to read.
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

// Read reads what has been recorded, and after that the source.
func (b *replay) Read(p []byte) (int, error) {
	if n, err, ok := b.recorded(p); ok {
		return n, err
	}
	r := b.of
	r.reading.Lock()
	defer r.reading.Unlock()
	if n, err, ok := b.recorded(p); ok { // an earlier attempt has read on meanwhile
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

// Close ends this reading, and with the last one closes the source.
func (b *replay) Close() error {
	b.of.mu.Lock()
	b.closed = true
	b.of.mu.Unlock()
	b.of.closeSource()
	return nil
}

// keptBody ends the context that it is read with when it is closed.
type keptBody struct {
	io.ReadCloser
	cancel  context.CancelFunc
	attempt *attempt
}

func (b *keptBody) Close() error {
	defer b.attempt.release()
	defer b.cancel()
	return b.ReadCloser.Close()
}

// peekedBody is the body of a response whose beginning has been looked at.
type peekedBody struct {
	io.ReadCloser
	data []byte // that was read and not yet handed on
	err  error  // that came with it
}

// peek returns the next n bytes, or fewer if there are not so many.
func (b *peekedBody) peek(n int) ([]byte, error) {
	if missing := n - len(b.data); missing > 0 && b.err == nil {
		more, err := io.ReadAll(io.LimitReader(b.ReadCloser, int64(missing)))
		b.data = append(b.data, more...)
		if err == nil && len(more) < missing {
			err = io.EOF
		}
		b.err = err
	}
	if b.err != nil && b.err != io.EOF {
		return b.data, b.err
	}
	return b.data[:max(0, min(n, len(b.data)))], nil
}

func (b *peekedBody) Read(p []byte) (int, error) {
	if len(b.data) > 0 {
		n := copy(p, b.data)
		b.data = b.data[n:]
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.ReadCloser.Read(p)
}

// What is spent on reading a response that nobody wants, so that its connection
// can be used again: a new one takes about as long.
const (
	maxDrain     = 64 << 10
	maxDrainTime = 100 * time.Millisecond
)

// discardResponse frees the connection of a response that is followed by a retry,
// before the wait. It is an OnRetry hook, because only then is it certain that
// the response will not be the last one.
func discardResponse(_ context.Context, failed retry.Attempt, _ time.Duration) {
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
