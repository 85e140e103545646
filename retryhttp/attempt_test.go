package retryhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryhttp"
)

// TestTraceOfTheCaller: the context that the Base receives has the caller's trace, values
// and deadline, even if the Transport adds a trace.
func TestTraceOfTheCaller(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	type key struct{}
	for _, content := range []string{"", "content"} {
		conns := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { conns++ }})
		ctx, cancel := context.WithTimeout(context.WithValue(ctx, key{}, "value"), time.Minute)
		transport := &retryhttp.Transport{Base: roundTripper(func(req *http.Request) (*http.Response, error) {
			assert.Equal(t, "value", req.Context().Value(key{}))
			assert.Equal(t, 1, retryhttp.AttemptNumber(req.Context()))
			_, limited := req.Context().Deadline()
			assert.True(t, limited)
			assert.NoError(t, req.Context().Err())
			return http.DefaultTransport.RoundTrip(req)
		})}
		req := request(t, "POST", content).WithContext(ctx)
		req.URL = parse(t, server.URL)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 1, conns)
		cancel()
	}
}

func TestAmbiguous(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replies []reply
		want    bool
	}{
		{"lost", []reply{{err: errReset}, {status: 412}}, true},
		{"lost, two attempts ago", []reply{{err: errReset}, {status: 429}, {status: 412}}, true},
		{"a proxy's error", []reply{{status: 502}, {status: 412}}, true},
		{"500", []reply{{status: 500}, {status: 412}}, true},
		{"421", []reply{{status: 421}, {status: 412}}, false},
		{"408", []reply{{status: 408}, {status: 412}}, false},
		{"not sent", []reply{{err: errDial}, {status: 412}}, false},
		{"refused", []reply{{status: 429}, {status: 412}}, false},
		{"at once", []reply{{status: 412}}, false},
	} {
		for content, limit := range map[string]time.Duration{"": 0, "content": time.Hour} {
			p := quick()
			p.AttemptTimeout = limit
			req := request(t, "PUT", content)
			req.Header.Set("If-None-Match", "*")
			resp, err := (&retryhttp.Transport{Base: &script{replies: tt.replies}, Policy: p}).RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, tt.want, retryhttp.Ambiguous(resp), tt.name)
			text := "412 Precondition Failed"
			if tt.want {
				text += " (an earlier attempt may have succeeded)"
			}
			assert.EqualError(t, retryhttp.CheckStatus(resp), text, tt.name)
		}
	}
	assert.False(t, retryhttp.Ambiguous(&http.Response{}))
}
