package retryhttp_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestWithPolicy: one request under another policy.
func TestWithPolicy(t *testing.T) {
	base := &script{replies: []reply{{status: 503}}}
	transport := &retryhttp.Transport{Base: base, Policy: quick()}
	p := quick()
	p.MaxAttempts = 5
	req := request(t, "GET", "")
	resp, err := transport.RoundTrip(req.WithContext(retryhttp.WithPolicy(req.Context(), p)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Len(t, base.requests, 5)
	resp, err = transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Len(t, base.requests, 5+3)
}

// TestWithoutRetry: the request reaches Base as it is, whatever the Transport's fields
// say.
func TestWithoutRetry(t *testing.T) {
	base := &script{replies: []reply{{status: 429}}}
	p := quick()
	p.AttemptTimeout = time.Hour
	p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { panic("observed") }
	transport := &retryhttp.Transport{Base: base, Policy: p, AttemptHeader: "Attempt", MaxBuffer: 100}
	req := request(t, "PUT", "content")
	req = req.WithContext(retryhttp.WithoutRetry(req.Context()))
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, 429, resp.StatusCode)
	require.Len(t, base.requests, 1)
	assert.Same(t, req, base.requests[0])
	// The last word is the inner one's.
	req = req.WithContext(retryhttp.WithPolicy(req.Context(), quick()))
	req.Body, _ = req.GetBody()
	_, err = transport.RoundTrip(req)
	require.NoError(t, err)
	assert.Len(t, base.requests, 1+3)
}

// TestSDKAbove: a client that says that it retries is not retried for.
func TestSDKAbove(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		sent        int
	}{
		{"Amz-Sdk-Request", "attempt=1; max=3", 1},
		{"Amz-Sdk-Request", "ttl=20261102T120000Z; attempt=2; max=3", 1},
		{"Amz-Sdk-Request", "attempt=1; max=1", 3},
		{"Amz-Sdk-Request", "attempt=1", 3},
		{"X-Stainless-Retry-Count", "0", 3},
		{"X-Stainless-Retry-Count", "1", 1},
		{"X-Stainless-Retry-Count", "many", 3},
	} {
		base := &script{replies: []reply{{status: 503}}}
		req := request(t, "GET", "")
		req.Header.Set(tt.name, tt.value)
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		require.NoError(t, err)
		assert.Len(t, base.requests, tt.sent, "%s: %s", tt.name, tt.value)
	}
}

// TestAmbiguous: the response to a conditional write tells that an earlier attempt may
// have won.
func TestAmbiguous(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replies []reply
		want    bool
	}{
		{"lost", []reply{{err: errReset}, {status: 412}}, true},
		{"lost, two attempts ago", []reply{{err: errReset}, {status: 429}, {status: 412}}, true},
		{"a proxy's error", []reply{{status: 502}, {status: 412}}, true},
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

// TestOwnHeaders: a Base that changes headers in place, as some signers do, changes
// those of its attempt alone.
func TestOwnHeaders(t *testing.T) {
	for _, header := range []http.Header{{"A": {"1"}}, nil} {
		sent := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			sent++
			assert.Empty(t, req.Header["Signature"])
			req.Header.Add("Signature", "s")
			req.Header.Add("A", "2")
			assert.Len(t, req.Header["A"], len(header)+1)
			return &http.Response{StatusCode: 503}, nil
		})
		req := request(t, "GET", "")
		req.Header = header
		_, err := (&retryhttp.Transport{Base: base, Policy: quick()}).RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, 3, sent)
		assert.Len(t, header, min(1, len(header)))
	}
}
