package retryhttp

import (
	"errors"
	"net"
	"net/http"
	"strings"
)

// This file recognizes HTTP/2 errors of net/http by their text, because they have no
// exported values or types. If a text changes, fewer requests are retried, which is
// safe.

// isGoAway reports whether err proves that no server has processed the request: it was
// not written, or its stream is above the last that a GOAWAY accepts.
func isGoAway(err error) bool {
	return hasText(err, func(text string) bool {
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

// isRefused reports whether err means that a stream was reset with REFUSED_STREAM. RFC
// 9113, section 8.7, promises that the request was not processed, but HAProxy also
// sends REFUSED_STREAM when a server closes the connection after executing the request
// (haproxy/haproxy issue 3414).
func isRefused(err error) bool {
	return hasText(err, func(text string) bool {
		return strings.HasPrefix(text, "stream error: stream ID ") && strings.HasSuffix(strings.TrimSuffix(text, "; received from peer"), "; REFUSED_STREAM")
	})
}

// isDial reports whether err means that no connection could be established. It does not
// look into joined errors, because one of them may be about a request that was sent.
func isDial(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if op, ok := err.(*net.OpError); ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect") {
			return true
		}
	}
	return false
}

// proxyRefusal returns the status with which a proxy refused CONNECT, or 0. net/http's
// error contains only the reason phrase.
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

// notUsable replaces an error text that net/http uses only for requests without a
// GetBody. The error means that HTTP/2 had no usable connection when the request was
// about to be written.
const notUsable = "http2: connection became unusable before the request was written"

// legible rewrites errors about a missing GetBody, because the Transport itself removed
// GetBody.
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

type clearerError struct {
	text string
	err  error
}

func (e *clearerError) Error() string { return e.text }
func (e *clearerError) Unwrap() error { return e.err }
