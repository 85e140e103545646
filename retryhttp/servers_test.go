package retryhttp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var exampleTime = time.Date(2026, time.November, 2, 12, 0, 0, 0, time.UTC)

// servers are what servers send according to standards, and how a Transport interprets it.
// Package apis has those of vendors.
var servers = []struct {
	api     string
	status  int
	headers []string // "name: value"
	class   retry.Class
	wait    time.Duration
}{
	{"RFC 9110", 503, []string{"Retry-After: 120"}, retry.ClassTransient, 2 * time.Minute},
	{"RFC 9110", 503, []string{"Retry-After: Mon, 02 Nov 2026 12:00:30 GMT"}, retry.ClassTransient, 30 * time.Second},
	{"RFC 9110", 413, []string{"Retry-After: 120"}, retry.ClassTransient, 2 * time.Minute},
	{"RFC 9110", 413, nil, retry.ClassPermanent, 0},
	{"RFC 6585", 429, []string{"Retry-After: 3600"}, retry.ClassThrottled, time.Hour},
	{"RateLimit, draft 8 to 11", 429, []string{`RateLimit: "default";r=0;t=30`}, retry.ClassThrottled, 30 * time.Second},
	{"RateLimit, draft 8 to 11", 429, []string{`RateLimit-Policy: "burst";q=100;w=60, "daily";q=1000;w=86400`, `RateLimit: "burst";r=0, "daily";r=17;t=9000`}, retry.ClassThrottled, time.Minute},
	{"RateLimit, draft 8 to 11", 503, []string{`RateLimit: "default";r=50;t=30`}, retry.ClassTransient, 0},
	{"RateLimit, draft 7", 429, []string{"RateLimit: limit=100, remaining=0, reset=5"}, retry.ClassThrottled, 5 * time.Second},
	{"RateLimit, to draft 6", 429, []string{"RateLimit-Limit: 100", "RateLimit-Remaining: 0", "RateLimit-Reset: 50"}, retry.ClassThrottled, 50 * time.Second},
	{"Azure SDKs", 503, []string{"Retry-After-Ms: 1500"}, retry.ClassTransient, 1500 * time.Millisecond},
	{"AWS", 503, []string{"X-Amz-Retry-After: 1500"}, retry.ClassTransient, 1500 * time.Millisecond},
	{"any other", 409, nil, retry.ClassPermanent, 0},
}

func header(lines []string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

func TestServers(t *testing.T) {
	for _, server := range servers {
		t.Run(server.api, func(t *testing.T) {
			resp := &http.Response{StatusCode: server.status, Header: header(server.headers)}
			assert.Equal(t, server.wait, retryhttp.RetryAfter(resp, exampleTime))
			failed := retryhttp.CheckStatus(resp)
			assert.Equal(t, server.class, retry.Policy{}.Classify(failed).Class)
			e, ok := failed.(interface{ Unwrap() error })
			if status, _ := failed.(*retryhttp.StatusError); !ok {
				require.NotNil(t, status)
			} else {
				assert.IsType(t, status, e.Unwrap(), "a Classifier finds the status")
			}
		})
	}
}
