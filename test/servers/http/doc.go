// Package http tests package retryhttp with independent software:
//
//   - the HTTP/2 clients of net/http and golang.org/x/net, with a misbehaving server
//     that sends raw frames;
//   - nginx, HAProxy, Caddy, node and gunicorn, behind a proxy that counts requests;
//   - OpenTelemetry, with spans recorded above and below a Transport;
//   - go-retryablehttp: its tests run with a Transport, and both libraries make the
//     same calls;
//   - httpsfv, as a reference for the RateLimit fields.
//
// Tests that need a program that is not installed are skipped.
package http
