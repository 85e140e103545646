package retryhttp

import (
	"errors"
	"net"
	"net/http"
	"strings"
)

// Package net/http has no values or types for the errors of HTTP/2, so they are
// known by their text; a text that is not known any more keeps requests from
// being repeated, and not the other way round.

// isGoAway reports whether err proves that no server has processed the request: it
// was not written, or its stream is above the last that a GOAWAY accepts.
func isGoAway(err error) bool {
	return says(err, func(text string) bool {
		switch text {
		case "http2: Transport received Server's graceful shutdown GOAWAY",
			"http2: client conn not usable",
			"http2: client conn could not be established",
			"http2: no cached connection was available",
			notUsable:
			return true
		}
		return strings.HasPrefix(text, "http2: Transport received GOAWAY from server ErrCode:")
	})
}

// isRefused reports whether err says that a stream was reset with REFUSED_STREAM.
// By section 8.7 of RFC 9113 the request was not processed; but HAProxy also
// resets so when a server has closed the connection after it had executed the
// request (haproxy/haproxy issue 3414).
func isRefused(err error) bool {
	return says(err, func(text string) bool {
		return strings.HasPrefix(text, "stream error: stream ID ") && strings.HasSuffix(strings.TrimSuffix(text, "; received from peer"), "; REFUSED_STREAM")
	})
}

// isDial reports whether err says that there was no connection. Only what err
// wraps one by one counts: of several errors at once, another may be of a
// request that was sent.
func isDial(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if op, ok := err.(*net.OpError); ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect") {
			return true
		}
	}
	return false
}

// proxyRefusal returns the status with which a proxy has refused CONNECT, 0 if err
// is something else. Package net/http makes an error of the reason phrase alone.
func proxyRefusal(err error) int {
	if errors.Unwrap(err) != nil {
		return 0
	}
	text := err.Error()
	for status := 400; status < 600; status++ {
		if text != "" && http.StatusText(status) == text {
			return status
		}
	}
	return 0
}

// notUsable is what legible makes of an error that package net/http, for lack of
// a GetBody, has for a single case: HTTP/2 found no connection that it may use
// when the request was to be written.
const notUsable = "http2: connection became unusable before the request was written"

// legible returns err without what package net/http says because the request has
// no GetBody, which Transport has taken away.
func legible(err error) error {
	text := err.Error()
	if text == "net/http: cannot rewind body after connection loss" {
		return &clearerError{notUsable, err}
	}
	if text, ok := strings.CutPrefix(text, "http2: Transport: cannot retry err ["); ok {
		if text, _, ok = strings.Cut(text, "] after Request.Body was written"); ok {
			return &clearerError{text, err}
		}
	}
	return err
}

// clearerError is an error with a text of its own.
type clearerError struct {
	text string
	err  error
}

func (e *clearerError) Error() string { return e.text }
func (e *clearerError) Unwrap() error { return e.err }
