package wire

import (
	"strings"

	"github.com/gobackoff/retry/internal/errfacts"
)

// isUnsent reports whether err means that no connection could be established.
func isUnsent(err error) bool {
	facts := errfacts.Read(err)
	return facts.Fate() == errfacts.Unsent
}

// errLost and errUntold are the errors of stopped exchanges. They replace net/http's
// error, which reports a canceled request.
const (
	errLost   lostError = "no response: the connection was lost or the stream was reset"
	errUntold lostError = "set Transport.Wrap instead of a Base that wraps the http.Transport, which hides why the server refused the request: " + errLost
)

type lostError string

func (e lostError) Error() string { return string(e) }

// ConnectionError makes the error transient for retry.DefaultClassifier.
func (lostError) ConnectionError() bool { return true }

// A meaning is what the text of an error says about the request.
type meaning uint8

const (
	notKnown   meaning = iota
	malformed          // it cannot be sent at all
	notSent            // a connection ended before the request was written
	notTaken           // its stream is above the last that a GOAWAY accepts
	turnedAway         // the same, for the first request of a connection: the GOAWAY has an error code
	refused            // its stream was refused: see Transport.TrustRefusedStream
	noPool             // the http.Transport's HTTP/2 is an old golang.org/x/net/http2
)

// messages lists errors of net/http and quic-go that have no exported value or type. If
// a text changes, fewer requests are retried, which is safe.
var messages = [...]struct {
	meaning        meaning
	prefix, suffix string // of the text
}{
	{notTaken, "http2: Transport received Server's graceful shutdown GOAWAY", ""},
	{turnedAway, "http2: Transport received GOAWAY from server ErrCode:", ""},
	{notSent, "http2: client conn not usable", ""},
	{notSent, "http2: client conn could not be established", ""},
	{notSent, "http2: no cached connection was available", ""},
	{notSent, "ClientConn closed", ""}, // before it took the request
	{notSent, noRewind, ""},
	{notSent, "http3: conn unusable: ", ""},
	{refused, "stream error: stream ID ", "; REFUSED_STREAM"},
	{refused, "stream error: stream ID ", "; REFUSED_STREAM; received from peer"},
	{refused, "H3_REQUEST_REJECTED", ""},
	{noPool, "http: HTTP/2 implementation does not support NewClientConn", ""},
	{malformed, "unsupported protocol scheme ", ""},
	{malformed, "http3: unsupported protocol scheme: ", ""},
	{malformed, "net/http: invalid ", ""}, // header, trailer, method
	{malformed, "http3: invalid ", ""},
	{malformed, "net/http: request canceled", ""}, // by the caller, through its Cancel
	{malformed, "http: no Host in request URL", ""},
	{malformed, "http3: no Host in request URL", ""},
	{malformed, "http: nil Request.", ""},
	{malformed, "http3: nil Request.", ""},
	{malformed, "http: ContentLength=", ""},
	{malformed, "http: Request.ContentLength=", ""},
	{malformed, "http: server gave HTTP response to HTTPS client", ""},
	{malformed, "http2: request body larger than specified content length", ""},
	{malformed, "http2: request header list larger than peer's advertised limit", ""},
}

// noRewind is the text of net/http's error if HTTP/2 had no usable connection for a
// request that has a body and no GetBody.
const noRewind = "net/http: cannot rewind body after connection loss"

// meaningOf returns the meaning of err or of the first error within it that has one.
func meaningOf(err error) meaning {
	for e := range errfacts.Chain(err) {
		text := e.Error()
		for _, m := range messages {
			if strings.HasPrefix(text, m.prefix) && strings.HasSuffix(text, m.suffix) {
				return m.meaning
			}
		}
	}
	return notKnown
}

// legible removes from err what net/http and quic-go say about a missing GetBody,
// because the Transport itself removed it.
func legible(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if text == noRewind {
		return &clearerError{"http2: connection became unusable before the request was written", err}
	}
	if _, rest, ok := strings.Cut(text, ": Transport: cannot retry err ["); ok { // after http2 or http3
		if reason, _, ok := strings.Cut(rest, "] after Request.Body was written"); ok {
			return &clearerError{reason, err}
		}
	}
	return err
}

type clearerError struct {
	text string
	err  error
}

func (e *clearerError) Error() string { return e.text }
func (e *clearerError) Unwrap() error { return e.err }
