package http_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// quicServer is a server that may answer some requests with a fault.
type quicServer struct {
	executions
	url      string
	base     *http3.Transport
	requests atomic.Int64
}

// A quicFault takes the place of a response.
type quicFault int

const (
	none    quicFault = iota
	rejects           // H3_REQUEST_REJECTED; the others execute the request
	aborts            // H3_INTERNAL_ERROR
	closes            // the connection
)

// newQUICServer starts a server with the fault that is returned for the nth request.
func newQUICServer(t *testing.T, fault func(n int64) quicFault) *quicServer {
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	s := &quicServer{url: "https://" + conn.LocalAddr().String(), executions: executions{count: map[string]int{}}}
	type connKey struct{}
	server := &http3.Server{
		ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: certified.TLS.Certificates}),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fault := fault(s.requests.Add(1))
			if fault != rejects {
				_, _ = io.Copy(io.Discard, r.Body)
				s.execute(r)
			}
			code := http3.ErrCodeInternalError
			switch fault {
			case none:
				_, _ = io.WriteString(w, "done")
				return
			case closes:
				_ = r.Context().Value(connKey{}).(*quic.Conn).CloseWithError(quic.ApplicationErrorCode(code), "")
				return
			case rejects:
				code = http3.ErrCodeRequestRejected
			}
			stream, err := w.(http3.HTTPStreamer).HTTPStream()
			if err != nil {
				return
			}
			stream.CancelRead(quic.StreamErrorCode(code))
			stream.CancelWrite(quic.StreamErrorCode(code))
		}),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(conn) }()
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	s.base = &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com"}}
	t.Cleanup(func() {
		assert.NoError(t, s.base.Close())
		assert.NoError(t, server.Close())
		<-done
		_ = conn.Close()
	})
	return s
}

// TestQUIC: over HTTP/3, H3_REQUEST_REJECTED is proof only for requests that may be
// executed twice, or if it is trusted, and every request is reported.
func TestQUIC(t *testing.T) {
	for _, test := range []struct {
		name       string
		kind       kind
		rejections int64
		trust      bool
		requests   int64
		err        error
	}{
		{"no rejection", post, 0, false, 1, nil},
		{"GET", get, 4, false, 5, nil},
		{"GET, always", get, 100, false, 1 + 1 + 5, retry.ErrBudget},
		{"PUT", put, 4, false, 5, nil},
		{"POST", post, 1, false, 1, retry.ErrUnrepeatable},
		{"POST without body", postEmpty, 1, false, 1, retry.ErrUnrepeatable},
		{"POST, trusted", post, 4, true, 5, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newQUICServer(t, func(n int64) quicFault {
				if n <= test.rejections {
					return rejects
				}
				return none
			})
			policy, sends := counted()
			rt := &retryhttp.Transport{Base: s.base, Policy: policy, TrustRefusedStream: test.trust}
			err := sendOne(t.Context(), rt, s.url, test.kind)
			assert.ErrorIs(t, err, test.err)
			assert.Equal(t, test.requests, s.requests.Load())
			assert.EqualValues(t, test.requests, sends.Load())
			if test.err != nil {
				assert.NotErrorIs(t, err, context.Canceled)
				assert.NotContains(t, err.Error(), "GetBody")
				assert.NotContains(t, err.Error(), "http2")
				return
			}
			assert.Equal(t, 1, s.all())
		})
	}
}
