package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// TestInfo: hooks can read the request's Info, without its secrets.
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
	p.OnRetry = func(ctx context.Context, failed retry.Attempt, _ time.Duration) {
		fromContext(&retries, ctx)
		info, ok := retryhttp.InfoOf(failed.Err)
		take(&failures, info, ok)
	}
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

// TestClassifierSeesOwnError: classifiers written for an http.Transport compare errors
// and assert their types, without unwrapping. An attempt that exceeded its time limit
// has an error of its own, which is a timeout.
func TestClassifierSeesOwnError(t *testing.T) {
	late := roundTripper(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	for _, tt := range []struct {
		name string
		base http.RoundTripper
		own  func(err error) bool
	}{
		{"comparison", &script{replies: []reply{{err: io.ErrUnexpectedEOF}}}, func(err error) bool { return err == io.ErrUnexpectedEOF }},
		{"type", &script{replies: []reply{{err: errReset}}}, func(err error) bool { e, ok := err.(*net.OpError); return ok && e.Op == "read" }},
		{"Temporary", &script{replies: []reply{{err: &net.OpError{Op: "read", Err: syscall.ETIMEDOUT}}}}, func(err error) bool {
			e, ok := err.(interface{ Temporary() bool }) // as in go-containerregistry
			return ok && e.Temporary()
		}},
		{"os.IsTimeout", &script{replies: []reply{{err: os.ErrDeadlineExceeded}}}, os.IsTimeout},
		{"limit", late, func(err error) bool { return os.IsTimeout(err) && errors.Is(err, context.DeadlineExceeded) }},
	} {
		p, asked := quick(), 0
		if p.AttemptTimeout = time.Hour; tt.name == "limit" {
			p.AttemptTimeout = time.Millisecond
		}
		p.Classifier = retry.OnlyIf(func(err error) bool {
			asked++
			assert.True(t, tt.own(err), "%s: %T %v", tt.name, err, err)
			return tt.own(err)
		})
		for _, method := range []string{"GET", "POST"} {
			_, err := (&retryhttp.Transport{Base: tt.base, Policy: p}).RoundTrip(request(t, method, "content"))
			assert.ErrorIs(t, err, map[string]error{"GET": retry.ErrMaxAttempts, "POST": retry.ErrUnrepeatable}[method], tt.name)
		}
		assert.Equal(t, 3+1, asked, tt.name)
	}
}
