package retryhttp_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryhttp"
)

// TestProtocolIsRemembered: over HTTP/2, a wrapped Base receives a POST without a body
// with an empty one. The first exchange with a host is held to find out; over HTTP/1 the
// request stays as it is.
func TestProtocolIsRemembered(t *testing.T) {
	for protocol, bodies := range map[string][]bool{http1: {false, false}, http2: {false, true, true}} {
		s := newServer(t, protocol, ok)
		transport := s.transport()
		var given []bool
		transport.Base = roundTripper(func(req *http.Request) (*http.Response, error) {
			given = append(given, req.Body != nil)
			return s.base.RoundTrip(req.Clone(req.Context()))
		})
		for range 2 {
			req := request(t, "POST", "")
			req.URL = parse(t, s.URL)
			resp, err := transport.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			info, _ := retryhttp.InfoOf(retryhttp.CheckStatus(&http.Response{StatusCode: 400, Request: resp.Request}))
			assert.Equal(t, 1, info.Attempt)
		}
		assert.Equal(t, bodies, given, protocol)
		arrived, executed := s.seen()
		assert.Len(t, arrived, 2, protocol)
		assert.Equal(t, []string{"", ""}, executed, protocol)
	}
}
