// Package interop tests package retryhttp against what its authors did not
// write: the HTTP/2 of net/http and of golang.org/x/net, talking to a server
// that is made of frames and misbehaves on purpose; nginx, HAProxy, Caddy, node and
// gunicorn, behind a proxy that counts what leaves; the spans of OpenTelemetry,
// above and below a Transport; and go-retryablehttp, beside which it does the
// same work, and whose tests it passes. The parser of structured fields is
// compared with httpsfv. It is a module of its own, so that nobody else has to
// download those. Servers that are not installed are skipped.
package interop
