package apis

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"
)

// An Event is a server-sent event, or a line of a stream of JSON lines.
type Event struct {
	// Name is the event's type, such as message_start. It is empty if the stream names none.
	Name string
	// Data is the event's data, whose lines are separated by a line feed. It is valid until
	// the next event.
	Data []byte
	// LastID is the last id of the stream so far, for the header Last-Event-ID.
	LastID string
	// Retry is the wait before a reconnection that the event asks for; 0 means none.
	Retry time.Duration

	raw bool // lines without a field, which are no event: some servers report errors so
}

var errLong = errors.New("the event is too long")

// lineReader splits text into lines, which end in CR, LF or CRLF. A line that ends in CR is
// returned at once, before it is known whether LF follows.
type lineReader struct {
	next    func() (byte, error)
	most    int // bytes of a line
	line    []byte
	afterCR bool
}

// read returns the next line, which is valid until the next call. At the end, it returns
// what follows the last line with the error.
func (l *lineReader) read() ([]byte, error) {
	l.line = l.line[:0]
	for {
		c, err := l.next()
		if err != nil {
			return l.line, err
		}
		feedOfCR := l.afterCR && c == '\n'
		l.afterCR = c == '\r'
		switch {
		case feedOfCR:
		case c == '\n', c == '\r':
			return l.line, nil
		case len(l.line) == l.most:
			return nil, errLong
		default:
			if len(l.line) == cap(l.line) {
				l.line = slices.Grow(l.line, max(128, len(l.line)))
			}
			l.line = append(l.line, c)
		}
	}
}

// eventReader parses server-sent events as the HTML standard says, section 9.2.6.
type eventReader struct {
	lines  lineReader
	heard  func() // called for each line, also a comment
	byLine bool   // each line is an event: JSON lines
	begun  bool
	id     string
	data   []byte // never nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the next event. Its Data is nil if it has none, so that it is no event for a
// user. With an error, it returns what there is of an event that is not complete.
func (r *eventReader) next() (Event, error) {
	if r.data == nil {
		r.data = []byte{}
	}
	r.data = r.data[:0]
	var e Event
	lines := 0 // of data
	for {
		line, err := r.lines.read()
		if err == nil {
			r.heard()
		}
		if !r.begun {
			line = bytes.TrimPrefix(line, byteOrderMark)
			r.begun = true
		}
		complete := err == nil && len(line) == 0
		switch {
		case r.byLine:
			e.Data = bytes.TrimSpace(line)
			return e, err
		case len(line) > 0 && lines == 0 && (line[0] == '{' || e.raw && !isField(line)):
			e.raw = true
			r.data = append(r.data, line...)
		case len(line) > 0 && (err == nil || err == io.EOF):
			if e.raw {
				e.raw = false
				r.data = r.data[:0]
			}
			lines += r.field(&e, line, lines)
		}
		if len(r.data) > r.lines.most {
			return e, errLong
		}
		if !complete && err == nil {
			continue
		}
		e.LastID = r.id
		if lines > 0 || e.raw {
			e.Data = r.data
		}
		return e, err
	}
}

// isField reports whether a line has a field of an event, or a comment.
func isField(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return true
	}
	return false
}

// field reads a line with a field of e, and returns 1 if it is data.
func (r *eventReader) field(e *Event, line []byte, lines int) int {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if lines > 0 {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		return 1
	case "event":
		e.Name = string(value)
	case "id":
		if !bytes.Contains(value, []byte{0}) {
			r.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			e.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return 0
}
