// Package interop tests package retryhttp with independent software:
//
//   - the HTTP/2 clients of net/http and of golang.org/x/net, with a server that sends
//     raw frames and misbehaves on purpose;
//   - nginx, HAProxy, Caddy, node and gunicorn, behind a proxy that counts the requests;
//   - OpenTelemetry, whose spans are recorded above and below a Transport;
//   - go-retryablehttp: its tests run with a Transport, and both libraries make the
//     same calls for comparison;
//   - httpsfv, with which the parser of structured fields is compared.
//
// It is a separate module, so that users do not download these dependencies. Tests of
// servers that are not installed are skipped.
package interop
