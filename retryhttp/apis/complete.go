package apis

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Complete returns a RoundTripper for readers that take every end of a stream for the end of
// the answer, as SDKs do. If the stream of a protocol that [Events] knows ends before the
// answer is complete, its reader gets an error that matches [io.ErrUnexpectedEOF] instead of
// io.EOF. Other responses are those of next.
//
//	client := &http.Client{Transport: apis.Complete(&retryhttp.Transport{Check: apis.Check})}
//
// It may be shared if next may be. Put it above a Transport that retries, not below.
func Complete(next http.RoundTripper) http.RoundTripper { return completing{builtin(), next} }

// Complete is like the function [Complete], with the rows of t.
func (t *Table) Complete(next http.RoundTripper) http.RoundTripper {
	return completing{t.rules(), next}
}

type completing struct {
	index *index
	next  http.RoundTripper
}

func (c completing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if stream, byLine := isStream(kindOf(resp)); stream && resp.StatusCode == http.StatusOK {
		resp.Body = &completeBody{ReadCloser: resp.Body, byLine: byLine, state: streamState{index: c.index, resp: resp}}
	}
	return resp, nil
}

// CloseIdleConnections lets that of an http.Client reach next.
func (c completing) CloseIdleConnections() {
	if next, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// A completeBody follows the lines of a stream while they are read.
type completeBody struct {
	io.ReadCloser
	byLine bool
	line   []byte
	name   string // of the event
	state  streamState
	failed bool // an event was an error, which the reader has got
}

func (b *completeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			b.line = append(b.line, rest...)
			break
		}
		b.line = append(b.line, rest[:end]...)
		b.readLine()
		rest = rest[end+1:]
	}
	if len(b.line) > maxEvent {
		b.line, b.failed = nil, true // it is not followed any longer
	}
	if err != io.EOF {
		return n, err
	}
	b.readLine()
	if b.state.known && !b.state.ended && !b.failed {
		err = fmt.Errorf("the stream ended before the answer was complete: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// readLine reads the name or the data of a line. No protocol that says when it ends has more
// than one line of data in an event.
func (b *completeBody) readLine() {
	name, isName := bytes.CutPrefix(b.line, []byte("event:"))
	data, isData := bytes.CutPrefix(b.line, []byte("data:"))
	switch {
	case isData || b.byLine:
		_, failure := b.state.read(Event{Name: b.name, Data: data})
		b.failed = b.failed || failure != nil
	case isName:
		b.name = string(bytes.TrimSpace(name))
	case len(b.line) == 0:
		b.name = ""
	}
	b.line = b.line[:0]
}
