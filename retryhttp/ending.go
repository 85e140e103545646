package retryhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An ending is what is known about the server when an exchange ends.
type ending uint8

const (
	answered    ending = iota // it responded
	unsent                    // nothing of the request left
	unprocessed               // it received the request and did not act on it
	unknown
)

var endingNames = [...]string{"answered", "unsent", "unprocessed", "unknown"}

func (e ending) String() string { return endingNames[e] }

// errLost and errHidden are the errors of stopped exchanges. They replace net/http's
// error, which reports a canceled request.
const (
	errLost   lostError = "no response: the connection was lost or the stream was reset"
	errHidden lostError = errLost + " (the reason is unknown because Base hides its http.Transport: give the request an Idempotency-Key or a body)"
)

type lostError string

func (e lostError) Error() string { return string(e) }

// ConnectionError makes the error transient for retry.DefaultClassifier.
func (lostError) ConnectionError() bool { return true }

// A meaning is what the text of an error says about the request.
type meaning uint8

const (
	notKnown  meaning = iota
	malformed         // it cannot be sent at all
	notSent           // a connection ended before the request was written
	notTaken          // its stream is above the last that a GOAWAY accepts
	refused           // its stream was refused: see Transport.TrustRefusedStream
)

// messages lists errors of net/http and quic-go that have no exported value or type. If
// a text changes, fewer requests are retried, which is safe.
var messages = [...]struct {
	meaning        meaning
	prefix, suffix string // of the text
}{
	{notTaken, "http2: Transport received Server's graceful shutdown GOAWAY", ""},
	{notTaken, "http2: Transport received GOAWAY from server ErrCode:", ""},
	{notSent, "http2: client conn not usable", ""},
	{notSent, "http2: client conn could not be established", ""},
	{notSent, "http2: no cached connection was available", ""},
	{notSent, noRewind, ""},
	{notSent, "http3: conn unusable: ", ""},
	{refused, "stream error: stream ID ", "; REFUSED_STREAM"},
	{refused, "stream error: stream ID ", "; REFUSED_STREAM; received from peer"},
	{refused, "H3_REQUEST_REJECTED", ""},
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
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		for _, m := range messages {
			if strings.HasPrefix(text, m.prefix) && strings.HasSuffix(text, m.suffix) {
				return m.meaning
			}
		}
	}
	return notKnown
}

// isDial reports whether err means that no connection could be established. It does not
// look into joined errors, because one of them may be about a request that was sent.
func isDial(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if op, ok := err.(*net.OpError); ok && slices.Contains([]string{"dial", "proxyconnect", "socks connect"}, op.Op) {
			return true
		}
	}
	return false
}

// ending returns how the exchange ended with err, whose text means m, after the phase
// last. again reports whether the request should be sent again at once: not if no
// connection could be established, because a server that is down needs a wait.
func (x *exchange) ending(err error, m meaning, last phase, trust bool) (end ending, again bool) {
	switch {
	case err == nil:
		return answered, false
	case last == held:
		return unsent, true
	case last == stopped: // net/http would have sent it again; without a body, it does not say why
		return unknown, x.mayRepeat
	case last == asking, (last == quiet || !x.watched) && isDial(err):
		return unsent, false
	// After several connections, err is about the last. An http.Transport sends a request
	// that must not be executed twice over the next only if it is unsent.
	case !x.mayRepeat && x.direct == nil && last > written:
		return unknown, false
	case m == notSent:
		return unsent, true
	case m == notTaken, m == refused && (trust || x.mayRepeat):
		return unprocessed, true
	}
	return unknown, false
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
	for _, protocol := range [...]string{"http2", "http3"} {
		if text, ok := strings.CutPrefix(text, protocol+": Transport: cannot retry err ["); ok {
			if text, _, ok = strings.Cut(text, "] after Request.Body was written"); ok {
				return &clearerError{text, err}
			}
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

// connectStatus returns the status with which a proxy refused CONNECT, or 0. net/http's
// error contains only the reason phrase, so it counts only if Base is an http.Transport
// that uses a proxy for the request.
func (x *exchange) connectStatus(err error) int {
	if errors.Unwrap(err) != nil || x.direct == nil || x.direct.Proxy == nil || x.request.URL == nil || x.request.URL.Scheme != "https" {
		return 0
	}
	if proxy, failed := x.direct.Proxy(&x.request); proxy == nil || failed != nil {
		return 0
	}
	for status := 400; status < 600; status++ {
		if text := http.StatusText(status); text != "" && text == err.Error() {
			return status
		}
	}
	return 0
}

// CheckConnect is a function for the field OnProxyConnectResponse of an
// [http.Transport] that is a Transport's Base. With it, the response of a proxy that
// refuses CONNECT becomes a [*StatusError], with its Retry-After. Without it, only the
// reason phrase is known, and only a standard one is recognized.
func CheckConnect(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	return CheckStatus(resp)
}
