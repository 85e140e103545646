package retryhttp

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxAhead is how long a body of undeclared length is read within the attempt. After that, it
// may be a stream, whose reader must not wait for its end.
const maxAhead = time.Second

// streams are the types of content whose parts are read as they arrive.
var streams = map[string]bool{
	"application/vnd.amazon.eventstream": true,
	"application/x-ndjson":               true,
	"multipart/x-mixed-replace":          true,
	"text/event-stream":                  true,
}

// readsAhead reports whether the body of the response is read within the attempt: see
// Transport.MaxRead.
func (c *call) readsAhead() bool {
	resp := c.response
	if c.transport.MaxRead <= 0 || !c.mayRepeat || !c.resendable() || resp.Body == http.NoBody {
		return false
	}
	if resp.ContentLength > c.transport.MaxRead || resp.StatusCode == http.StatusSwitchingProtocols {
		return false
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return !streams[strings.ToLower(strings.TrimSpace(kind))]
}

// readAhead reads the body of the response, if it is not too long and does not take too long.
func (c *call) readAhead(ctx, limited context.Context) error {
	body := &aheadBody{ReadCloser: c.response.Body, most: c.transport.MaxRead}
	if c.response.ContentLength >= 0 {
		body.fill(c.response.ContentLength)
	} else {
		body.fillFor(maxAhead)
	}
	n, err := body.state()
	switch err {
	case nil:
		c.response.Body = body
	case io.EOF:
		c.haveRead(body)
	default:
		return c.brokeOff(ctx, limited, n, err)
	}
	return nil
}

// aheadBody is a body that is read before its reader asks for it. One goroutine at a time
// reads the ReadCloser: that of fillFor, then the reader.
type aheadBody struct {
	io.ReadCloser
	most int64

	mu     sync.Mutex
	change sync.Cond // of the fields below
	data   []byte
	next   int   // index in data of what the reader has not got
	err    error // of the ReadCloser, after data
	busy   bool  // fill is reading
	passed bool  // fill is to end
}

// fill reads until the body ends, more than most bytes have arrived, or the body has been
// passed on. declared is the length of the body, or -1.
func (b *aheadBody) fill(declared int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if declared >= 0 { // the end is found without growing; a very long body may not come
		b.data = make([]byte, 0, min(declared, defaultMaxRead)+1)
	}
	for !b.passed && b.err == nil && int64(len(b.data)) <= b.most {
		if len(b.data) == cap(b.data) {
			b.data = slices.Grow(b.data, max(4<<10, len(b.data)))
		}
		free := b.data[len(b.data):cap(b.data)]
		if left := b.most - int64(len(b.data)); int64(len(free))-1 > left {
			free = free[:left+1]
		}
		b.mu.Unlock() // nobody else writes to free
		n, err := b.ReadCloser.Read(free)
		b.mu.Lock()
		b.data, b.err = b.data[:len(b.data)+n], err
		b.change.Broadcast()
	}
}

// fillFor returns when fill has ended, or the time has passed. fill then ends with its
// current Read.
func (b *aheadBody) fillFor(most time.Duration) {
	b.change.L = &b.mu
	b.busy = true
	go func() {
		b.fill(-1)
		b.mu.Lock()
		b.busy = false
		b.change.Broadcast()
		b.mu.Unlock()
	}()
	timer := time.AfterFunc(most, func() {
		b.mu.Lock()
		b.passed = true
		b.change.Broadcast()
		b.mu.Unlock()
	})
	defer timer.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.busy && !b.passed {
		b.change.Wait()
	}
	b.passed = true
}

// state returns how many bytes have been read, and the error after them.
func (b *aheadBody) state() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.data), b.err
}

// Read returns what has been read, then the rest.
func (b *aheadBody) Read(p []byte) (int, error) {
	n, err, more := b.arrived(p)
	if more {
		return b.ReadCloser.Read(p)
	}
	return n, err
}

// arrived waits until there is data, or nobody else reads the ReadCloser, which more reports.
func (b *aheadBody) arrived(p []byte) (n int, err error, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.busy && b.next == len(b.data) && b.err == nil {
		b.change.Wait()
	}
	if b.next < len(b.data) {
		n = copy(p, b.data[b.next:])
		b.next += n
		return n, nil, false
	}
	b.data, b.next = nil, 0
	return 0, b.err, b.err == nil
}
