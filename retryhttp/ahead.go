package retryhttp

import (
	"bytes"
	"fmt"
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

// ahead is the layer that reads the bodies of responses within the attempt: see Transport.MaxRead
// and Read.
type ahead struct {
	next http.RoundTripper
	call *call
}

// RoundTrip implements [http.RoundTripper].
func (l *ahead) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err != nil || resp.Body == http.NoBody { // the declared length may be that of a GET
		return resp, err
	}
	if resp.StatusCode >= 400 || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil
	}
	switch {
	case l.call.whole:
		return l.readWhole(resp)
	case l.isDue(resp):
		return l.readAhead(resp)
	}
	return resp, nil
}

// isDue reports whether the body of a response belongs to the attempt, if it arrives soon enough. If
// there is only one attempt, it does whatever the request, because nothing is repeated: a client
// above that retries then learns that the response broke off.
func (l *ahead) isDue(resp *http.Response) bool {
	most := l.call.transport.MaxRead
	if most <= 0 || resp.ContentLength > most {
		return false
	}
	if !l.call.isOnly() && !(l.call.mayRepeat && l.call.resendable()) {
		return false
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return !streams[strings.ToLower(strings.TrimSpace(kind))]
}

// readAhead reads the body of a response, if it is not too long and does not take too long.
func (l *ahead) readAhead(resp *http.Response) (*http.Response, error) {
	body := &aheadBody{ReadCloser: resp.Body, most: l.call.transport.MaxRead}
	if resp.ContentLength >= 0 {
		body.fill(resp.ContentLength)
	} else {
		body.fillFor(maxAhead)
	}
	n, err := body.state()
	switch err {
	case nil:
		resp.Body = body
	case io.EOF:
		body.replace(resp)
	default:
		return nil, l.brokeOff(resp, n, err)
	}
	return resp, nil
}

// readWhole reads the body of a response for Read.
func (l *ahead) readWhole(resp *http.Response) (*http.Response, error) {
	body := &aheadBody{ReadCloser: resp.Body, most: max(l.call.transport.MaxRead, defaultMaxRead)}
	if resp.ContentLength <= body.most {
		body.fill(resp.ContentLength)
	}
	switch body.err {
	case nil:
		_ = resp.Body.Close()
		return nil, &tooLongError{body.most}
	case io.EOF:
		body.replace(resp)
		return resp, nil
	}
	return nil, l.brokeOff(resp, len(body.data), body.err)
}

// brokeOff returns the error for a response that broke off after n bytes. A client above that
// retries knows net/http's errors by their values.
func (l *ahead) brokeOff(resp *http.Response, n int, err error) error {
	_ = resp.Body.Close()
	if l.call.isOnly() {
		if err == io.ErrUnexpectedEOF && !l.call.mayRepeat {
			return io.EOF // of a lost connection: some clients repeat even a POST after the other one
		}
		return err
	}
	return fmt.Errorf("the response broke off after %d bytes: %w", n, err)
}

const defaultMaxRead = 64 << 20

// tooLongError is the error of Read for a content that is too long. It is permanent.
type tooLongError struct{ most int64 }

func (e *tooLongError) Error() string {
	return fmt.Sprintf("retryhttp: the content is longer than %d bytes: see Transport.MaxRead", e.most)
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

// The space for a body grows from at most firstSpace bytes, because what a server declares may
// not come.
const (
	leastSpace = 4 << 10
	firstSpace = 64 << 10
)

// fill reads until the body ends, more than most bytes have arrived, or the body has been
// passed on. declared is the length of the body, or -1.
func (b *aheadBody) fill(declared int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if declared >= 0 { // with one byte more, the end of a short body is found without growing
		b.data = make([]byte, 0, min(declared, firstSpace)+1)
	}
	for !b.passed && b.err == nil && int64(len(b.data)) <= b.most {
		if len(b.data) == cap(b.data) {
			b.data = slices.Grow(b.data, max(leastSpace, len(b.data)))
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

// replace gives what has been read to a response whose body has ended.
func (b *aheadBody) replace(resp *http.Response) {
	_ = b.ReadCloser.Close()
	resp.Body = io.NopCloser(bytes.NewReader(b.data))
}

// state returns how many bytes have been read, and the error after them.
func (b *aheadBody) state() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.data), b.err
}

// text returns what has been read.
func (b *aheadBody) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.data)
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
