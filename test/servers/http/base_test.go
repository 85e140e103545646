package http_test

//lint:file-ignore SA1019 http2.Transport has users, and its errors are not those of net/http

import (
	"context"
	"crypto/tls"
	"go/build"
	"net"
	"net/http"
	"slices"

	"golang.org/x/net/http2"
)

// go127 reports whether net/http is that of Go 1.27 or later: it does not resend a request
// after PROTOCOL_ERROR, and it drains a short response body that is closed.
var go127 = slices.Contains(build.Default.ReleaseTags, "go1.27")

type base struct {
	name string
	make func() http.RoundTripper
}

var bases = []base{
	{"net/http", func() http.RoundTripper {
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		return &http.Transport{Protocols: protocols}
	}},
	{"x/net", func() http.RoundTripper {
		return &http2.Transport{
			AllowHTTP: true,
			DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, address)
			},
		}
	}},
}
