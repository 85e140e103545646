package retryhttp

import (
	"errors"
	"net"
	"strings"
)

// isRefused reports whether err says that a server has refused the stream of
// HTTP/2 without processing the request.
//
// Package net/http has no values or types for these errors, so they are known by
// their text; a text that is not known any more keeps requests from being
// repeated, and not the other way round.
func isRefused(err error) bool {
	return says(err, func(text string) bool {
		switch text {
		case "http2: Transport received Server's graceful shutdown GOAWAY",
			"http2: client conn not usable",
			"http2: client conn could not be established",
			"http2: no cached connection was available",
			notUsable:
			return true
		}
		return strings.HasPrefix(text, "http2: Transport received GOAWAY from server ErrCode:") ||
			strings.HasPrefix(text, "stream error: stream ID ") && strings.HasSuffix(strings.TrimSuffix(text, "; received from peer"), "; REFUSED_STREAM")
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
