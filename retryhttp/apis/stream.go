package apis

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/internal/gaveup"
)

const (
	maxFirst = 2 << 20  // bytes of a stream before its first output
	maxEvent = 64 << 20 // bytes of an event
)

// CheckWithin returns a function like [Check] that also fails an attempt whose stream has no
// output for longer than limit after its headers, even if comments and pings arrive. A limit
// of 0 or less means none, as Check has. The function may be shared.
//
//	transport := &retryhttp.Transport{Check: apis.CheckWithin(10 * time.Minute)}
//
// The limit should be as long as the longest answer that you would wait for: a model that
// thinks is silent for minutes before its first output, and a repeated request is paid again.
// To notice silence sooner where a server sends pings, set StallTimeout of the Transport. If
// no retry follows, the response is returned, and reading its body fails with the error, which
// matches context.DeadlineExceeded.
func CheckWithin(limit time.Duration) func(resp *http.Response, peek func(n int) ([]byte, error)) error {
	return builtin().checkWithin(limit)
}

// CheckWithin is like the function [CheckWithin], with the rows of t.
func (t *Table) CheckWithin(limit time.Duration) func(resp *http.Response, peek func(n int) ([]byte, error)) error {
	return t.rules().checkWithin(limit)
}

func (x *index) checkWithin(limit time.Duration) func(resp *http.Response, peek func(n int) ([]byte, error)) error {
	return func(resp *http.Response, peek func(n int) ([]byte, error)) error {
		return x.check(resp, peek, limit)
	}
}

// isStream reports whether a kind of content is a stream of events, and whether each line of
// it is one.
func isStream(kind string) (stream, byLine bool) {
	switch kind {
	case "text/event-stream":
		return true, false
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json":
		return true, true
	}
	return false, false
}

// firstOutput returns nil once the stream of resp has output, and otherwise the error with
// which it failed before.
func (r *report) firstOutput(resp *http.Response, peek func(n int) ([]byte, error), byLine bool, limit time.Duration) error {
	_, _ = peek(0) // which sets the body that the limit closes
	within := watch(resp.Body, &silentError{"had no output", limit})
	within.begin()
	at := 0
	next := func() (byte, error) {
		if at == maxFirst {
			return 0, errLong
		}
		at++
		text, err := peek(at)
		if len(text) < at {
			return 0, cmp.Or(err, io.EOF)
		}
		return text[at-1], nil
	}
	events := &eventReader{lines: lineReader{next: next, most: maxFirst}, heard: func() {}, byLine: byLine}
	state := streamState{index: r.index, resp: resp}
	for {
		e, err := events.next()
		means, failure := state.read(e)
		resumable := len(e.Data) == 0 && e.LastID != "" // by its id
		if err == nil && failure == nil && means == Quiet && !resumable {
			continue
		}
		if !within.pause() {
			return retry.Transient(within.err)
		}
		switch {
		case failure != nil:
			return r.failure(resp, failure)
		case errfacts.Is(err, errLong):
			return nil // whatever it is, the response is not held back any longer
		case err == io.EOF && (means == End || means == Last || means == Output && json.Valid(e.Data)):
			return nil // only the blank line is missing
		case err != nil:
			return retry.Transient(endedEarly(err))
		}
		return nil
	}
}

// failure returns the error of an event that reports one.
func (r *report) failure(resp *http.Response, f *failure) error {
	r.failed = true
	r.rule = f.rule
	r.read(f.object, 0)
	return r.verdict(resp)
}

func endedEarly(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the stream ended before the first output: %w", err)
}

// A BrokenError reports that a stream broke. [Events] yields it.
type BrokenError struct {
	// Err is what happened, marked with the class of the failure like the error of
	// [Check]. It is not marked if the context of the request ended.
	Err error
	// Output reports whether an event with output was yielded before. If so, the
	// BrokenError is wrapped with [retry.Unrepeatable].
	Output bool
	// LastID is the last id of the stream, for the header Last-Event-ID.
	LastID string
}

// Error says whether there was output before, and what happened.
func (e *BrokenError) Error() string {
	if e.Output {
		return fmt.Sprintf("the stream broke after its first output: %v", e.Err)
	}
	return fmt.Sprintf("the stream broke before its first output: %v", e.Err)
}

// Unwrap returns Err.
func (e *BrokenError) Unwrap() error { return e.Err }

// Events returns the events of the stream in the body of resp, and closes the body when the
// loop ends. The events can be read once. It reads server-sent events as the HTML standard says, and JSON lines such as
// Ollama's. A failed status is an error, see [retryhttp.CheckStatus], and so is a response of
// JSON that is no stream.
//
// If the stream breaks, the last pair has an error with a [*BrokenError]. A stream breaks if
// an event reports an error, if the connection is lost, if no line, not even a comment, arrives for
// longer than silence, if the last of JSON lines is cut off, or if the stream of a known protocol
// ends before the answer is complete: before [DONE], message_stop, response.completed or a finish
// reason. A silence of 0 or less means no limit. For a protocol that Events does not know, the end
// of the stream is not an error.
//
// Inside [retry.Do], the error is retried if nothing was output and no Transport below has
// already given up on the stream. It is not retried if there was output, because the caller has
// begun to use the answer. A caller that can throw it away returns retry.Transient(err)
// instead. An event of more than 64 MiB is a permanent error.
func Events(resp *http.Response, silence time.Duration) iter.Seq2[Event, error] {
	return builtin().events(resp, silence)
}

// Events is like the function [Events], with the rows of t.
func (t *Table) Events(resp *http.Response, silence time.Duration) iter.Seq2[Event, error] {
	return t.rules().events(resp, silence)
}

func (x *index) events(resp *http.Response, silence time.Duration) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		defer resp.Body.Close()
		if resp.StatusCode >= 400 {
			yield(Event{}, retryhttp.CheckStatus(resp))
			return
		}
		kind := kindOf(resp)
		stream, byLine := isStream(kind)
		if !stream && strings.HasSuffix(kind, "json") {
			yield(Event{}, retry.Permanent(fmt.Errorf("the response is no stream, but %s", kind)))
			return
		}
		body := bufio.NewReader(resp.Body)
		limit := watch(resp.Body, &silentError{"was silent", silence})
		events := &eventReader{lines: lineReader{next: body.ReadByte, most: maxEvent}, heard: limit.extend, byLine: byLine}
		state := streamState{index: x, resp: resp}
		broken := &BrokenError{}
		for {
			limit.begin()
			e, err := events.next()
			if !limit.pause() {
				err = limit.err
			}
			means, failure := state.read(e)
			switch {
			case failure != nil:
				err = x.newReport(resp).failure(resp, failure)
			case err == io.EOF && byLine && e.Data != nil && !state.ended && !json.Valid(e.Data):
				err = retry.Transient(fmt.Errorf("the stream ended within a line: %w", io.ErrUnexpectedEOF))
			case err == io.EOF && (means == End || means == Last || byLine && e.Data != nil):
				err = nil // only the blank line, or the end of the last line, is missing
			case err != nil && state.ended, err == io.EOF && !state.known:
				return
			case err == io.EOF:
				err = retry.Transient(fmt.Errorf("the stream ended before the answer was complete: %w", io.ErrUnexpectedEOF))
			case err != nil && resp.Request != nil && resp.Request.Context().Err() != nil:
			case errfacts.Is(err, errLong):
				err = retry.Permanent(err)
			case err != nil:
				err = retry.Transient(err)
			}
			broken.LastID = events.id
			if err != nil {
				broken.Err = err
				yield(Event{}, broken.marked(resp))
				return
			}
			broken.Output = broken.Output || means != Quiet && !e.raw
			if e.Data != nil && !e.raw && !yield(e, nil) {
				return
			}
			if state.last {
				drain(resp.Body, body)
				return
			}
		}
	}
}

// drain reads what follows the last event, so that the connection can be used again. It does
// not wait for a server that keeps the stream open.
func drain(closer io.Closer, body io.Reader) {
	slow := time.AfterFunc(100*time.Millisecond, func() { _ = closer.Close() })
	defer slow.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}

// marked returns e, marked if a repetition would deliver output twice, or as the failure with
// which a Transport gave up.
func (e *BrokenError) marked(resp *http.Response) error {
	if e.Output {
		return retry.Unrepeatable(e)
	}
	if loop := gaveup.On(resp); loop != nil {
		return gaveup.With(loop, e)
	}
	return e
}

// A silenceWatch closes the body of a response that is silent for too long.
type silenceWatch struct {
	limit time.Duration
	timer *time.Timer // nil: there is no limit
	err   error
	stop  func()
}

func watch(body io.Closer, err *silentError) *silenceWatch {
	w := &silenceWatch{limit: err.limit, err: err}
	w.stop = func() {
		if b, ok := body.(interface{ CloseWithError(error) error }); ok {
			_ = b.CloseWithError(w.err)
		} else if body != nil {
			_ = body.Close()
		}
	}
	return w
}

// begin starts the time limit.
func (w *silenceWatch) begin() {
	switch {
	case w.limit <= 0:
	case w.timer == nil:
		w.timer = time.AfterFunc(w.limit, w.stop)
	default:
		w.timer.Reset(w.limit)
	}
}

// extend starts the time limit again, unless it has passed.
func (w *silenceWatch) extend() {
	if w.timer != nil && w.timer.Stop() {
		w.timer.Reset(w.limit)
	}
}

// pause stops the time limit, and reports whether it had not passed.
func (w *silenceWatch) pause() bool {
	return w.timer == nil || w.timer.Stop()
}

// silentError is the failure of a stream that was silent for longer than a limit.
type silentError struct {
	what  string
	limit time.Duration
}

func (e *silentError) Error() string { return fmt.Sprintf("the stream %s for %v", e.what, e.limit) }
func (e *silentError) Timeout() bool { return true }

// Is reports whether target is context.DeadlineExceeded, as that of net/http's timeouts does.
func (e *silentError) Is(target error) bool { return target == context.DeadlineExceeded }
