package retryhttp

import (
	"errors"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// isUnsent reports whether err proves that no server has processed the request:
// there was no connection, or none any more when the request was to be written,
// or the server has refused the stream of HTTP/2. Nothing follows from a
// connection that was lost later.
//
// Package net/http has no values or types for most of these errors, so they are
// known by their text; a text that is not known any more would keep requests
// from being repeated, and not the other way round.
func isUnsent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		switch op.Op {
		case "dial", "proxyconnect", "socks connect":
			return true
		}
	}
	return says(err, func(text string) bool {
		switch text {
		case errNotWritten.Error(),
			"net/http: TLS handshake timeout",
			"http2: Transport received Server's graceful shutdown GOAWAY",
			"http2: client conn not usable",
			"http2: client conn could not be established",
			"http2: no cached connection was available":
			return true
		}
		return strings.HasPrefix(text, "http2: Transport received GOAWAY from server ErrCode:") ||
			strings.HasPrefix(text, "stream error: stream ID ") && strings.HasSuffix(strings.TrimSuffix(text, "; received from peer"), "; REFUSED_STREAM")
	})
}

// legible returns err without what package net/http says because the request has
// no GetBody, and what there is in its place; Transport has taken it away.
func legible(err error) error {
	text := err.Error()
	if text == "net/http: cannot rewind body after connection loss" {
		// Without a GetBody this is said of one case only: HTTP/2 has found
		// no connection that it may use.
		return &clearerError{errNotWritten.Error(), err}
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

// errNotWritten stands for the error of a connection that was closed before
// anything was written to it.
var errNotWritten = errors.New("connection was closed before the request was written")

// notWritten is the GetBody of requests that net/http sends again only if nothing
// was written: that it is called is the proof, and its error ends the attempt.
func notWritten() (io.ReadCloser, error) { return nil, errNotWritten }

// isSentOnce reports whether a request is one that net/http, over HTTP/1, sends
// again only if nothing of it was written.
func isSentOnce(req *http.Request) bool {
	return !IsIdempotent(req) && len(req.Header["Idempotency-Key"])+len(req.Header["X-Idempotency-Key"]) == 0
}

// http1Hosts remembers hosts that answer over HTTP/1. Over HTTP/2, net/http asks
// for GetBody also if a stream was reset after it had been processed, so there
// notWritten would prove nothing; and a connection that was used before, of which
// alone it has something to tell, has brought an answer that was remembered.
//
// Hosts that fall on the same slot displace each other: then a request is not
// repeated that might be.
type http1Hosts [64]uintptr

var hostSeed = maphash.MakeSeed()

// slot returns the place for the host of u, and what stands there if it answers
// over HTTP/1.
func (h *http1Hosts) slot(u *url.URL) (*uintptr, uintptr) {
	hash := uintptr(maphash.String(hostSeed, u.Host)) &^ 1
	if u.Scheme == "https" {
		hash |= 1
	}
	return &h[hash>>1%uintptr(len(h))], hash
}

// learn remembers over what the host of u, which may be nil, has answered.
func (h *http1Hosts) learn(u *url.URL, protoMajor int) {
	if u == nil {
		return
	}
	slot, hash := h.slot(u)
	switch known := atomic.LoadUintptr(slot) == hash; {
	case protoMajor == 1 && !known:
		atomic.StoreUintptr(slot, hash)
	case protoMajor != 1 && known:
		atomic.StoreUintptr(slot, 0)
	}
}

// has reports whether the host of u, which may be nil, answers over HTTP/1.
func (h *http1Hosts) has(u *url.URL) bool {
	if u == nil {
		return false
	}
	slot, hash := h.slot(u)
	return atomic.LoadUintptr(slot) == hash
}
