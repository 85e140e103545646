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

// TestInfo: hooks and the Classifier can read the request's Info, without its secrets.
func TestInfo(t *testing.T) {
	base := &script{replies: []reply{{status: 503}, {err: errReset}, {status: 200}}}
	var before, after, retries, failures []retryhttp.Info
	take := func(list *[]retryhttp.Info, info retryhttp.Info, ok bool) {
		assert.True(t, ok)
		*list = append(*list, info)
	}
	fromContext := func(list *[]retryhttp.Info, ctx context.Context) {
		info, ok := retryhttp.InfoFrom(ctx)
		take(list, info, ok)
	}
	p := quick()
	p.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		fromContext(&before, ctx)
		return nil, func(retry.Attempt) { fromContext(&after, ctx) }
	}
	p.OnRetry = func(ctx context.Context, _ retry.Attempt, _ time.Duration) { fromContext(&retries, ctx) }
	p.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Verdict {
		info, ok := retryhttp.InfoOf(err)
		take(&failures, info, ok)
		return retry.Verdict{Class: retry.ClassUnknown}
	}), retry.DefaultClassifier{})
	req := request(t, "PUT", "content")
	req.URL = parse(t, "https://user:password@host:8443/a%2Fb/c?key=secret#token")
	resp, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	info := func(attempt, status int) retryhttp.Info {
		return retryhttp.Info{Method: "PUT", URL: "https://host:8443/a%2Fb/c", Attempt: attempt, Status: status}
	}
	assert.Equal(t, []retryhttp.Info{info(0, 0), info(1, 503), info(2, 0)}, before)
	assert.Equal(t, []retryhttp.Info{info(1, 503), info(2, 0), info(3, 200)}, after)
	assert.Equal(t, []retryhttp.Info{info(1, 503), info(2, 0)}, retries)
	assert.Equal(t, []retryhttp.Info{info(1, 503), info(2, 0)}, failures)
}

func TestInfoElsewhere(t *testing.T) {
	p := quick()
	p.OnGiveUp = func(ctx context.Context, e *retry.Error) {
		info, ok := retryhttp.InfoFrom(ctx)
		assert.True(t, ok)
		assert.Equal(t, 3, info.Attempt)
	}
	req := request(t, "", "")
	_, err := (&retryhttp.Transport{Base: &script{replies: []reply{{err: errReset}}}, Policy: p}).RoundTrip(req)
	info, ok := retryhttp.InfoOf(err)
	assert.True(t, ok)
	assert.Equal(t, retryhttp.Info{Method: "GET", URL: "http://host/path", Attempt: 3}, info)
	assert.ErrorIs(t, err, errReset)

	info, ok = retryhttp.InfoOf(retryhttp.CheckStatus(&http.Response{StatusCode: 404, Request: req}))
	assert.True(t, ok)
	assert.Equal(t, retryhttp.Info{Method: "GET", URL: "http://host/path", Status: 404}, info)

	for _, err := range []error{nil, errReset, retryhttp.CheckStatus(&http.Response{StatusCode: 404})} {
		_, ok = retryhttp.InfoOf(err)
		assert.False(t, ok)
	}
	_, ok = retryhttp.InfoFrom(t.Context())
	assert.False(t, ok)
}
