// Package interop tests package retryhttp against independent software: the HTTP/2
// of net/http and of golang.org/x/net, talking to a server that sends raw frames and
// misbehaves on purpose; nginx, HAProxy, Caddy, node and gunicorn, behind a proxy
// that counts the requests; the spans of OpenTelemetry, above and below a Transport;
// and go-retryablehttp, whose tests a Transport passes and beside which it does the
// same work. The parser of structured fields is compared with httpsfv. It is a
// separate module, so that users do not download these dependencies. Servers that
// are not installed are skipped.
package interop
