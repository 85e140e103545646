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

// quicServer rejects the first requests with H3_REQUEST_REJECTED.
type quicServer struct {
	url                string
	base               *http3.Transport
	rejections         atomic.Int64 // left
	requests, executed atomic.Int64
}

func newQUICServer(t *testing.T, rejections int64) *quicServer {
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	s := &quicServer{url: "https://" + conn.LocalAddr().String()}
	s.rejections.Store(rejections)
	server := &http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: certified.TLS.Certificates}),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.requests.Add(1)
			if s.rejections.Add(-1) >= 0 {
				stream, err := w.(http3.HTTPStreamer).HTTPStream()
				if err != nil {
					return
				}
				stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
				stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			s.executed.Add(1)
			_, _ = io.WriteString(w, "done")
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
		{"GET, always", get, 100, false, 3 + 8, retry.ErrMaxAttempts},
		{"PUT", put, 4, false, 5, nil},
		{"POST", post, 1, false, 1, retry.ErrUnrepeatable},
		{"POST without body", postEmpty, 1, false, 1, retry.ErrUnrepeatable},
		{"POST, trusted", post, 4, true, 5, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newQUICServer(t, test.rejections)
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
			assert.EqualValues(t, 1, s.executed.Load())
		})
	}
}
