// Package interop tests package retryhttp against what its authors did not
// write: the HTTP/2 of net/http and of golang.org/x/net, talking to a server
// that is made of frames and misbehaves on purpose; the spans of OpenTelemetry,
// above and below a Transport; and go-retryablehttp, beside which it does the
// same work. It is a module of its own, so that nobody else has to download
// those.
package interop
