package retryhttp_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

func TestScopes(t *testing.T) {
	get := func(change func(*http.Request)) *http.Request {
		req := request(t, "GET", "")
		req.URL = parse(t, "https://api.example/orders/1?page=2")
		req.Header.Set("Authorization", "Bearer secret")
		change(req)
		return req
	}
	first := get(func(*http.Request) {})
	for _, tt := range []struct {
		name        string
		change      func(*http.Request)
		route, host bool // the same
	}{
		{"nothing", func(*http.Request) {}, true, true},
		{"query", func(r *http.Request) { r.URL.RawQuery = "page=3" }, true, true},
		{"another header", func(r *http.Request) { r.Header.Set("X-Api-Key", "1") }, true, true},
		{"host in capitals, with its port", func(r *http.Request) { r.URL.Host = "API.example:443" }, true, true},
		{"method", func(r *http.Request) { r.Method = "POST" }, false, true},
		{"path", func(r *http.Request) { r.URL.Path = "/orders/2" }, false, true},
		{"host", func(r *http.Request) { r.URL.Host = "other.example" }, false, false},
		{"port", func(r *http.Request) { r.URL.Host = "api.example:444" }, false, false},
		{"scheme", func(r *http.Request) { r.URL.Scheme = "http" }, false, false},
		{"key", func(r *http.Request) { r.Header.Set("Authorization", "Bearer other") }, false, false},
		{"no key", func(r *http.Request) { r.Header.Del("Authorization") }, false, false},
	} {
		other := get(tt.change)
		assert.Equal(t, tt.route, retryhttp.ByRoute(first) == retryhttp.ByRoute(other), tt.name)
		assert.Equal(t, tt.host, retryhttp.ByHost(first) == retryhttp.ByHost(other), tt.name)
	}
	assert.Equal(t, "api.example:443 bffde20413347b7a", retryhttp.ByHost(first), "in every process")
	assert.NotContains(t, retryhttp.ByRoute(first), "secret")
	unset := get(func(r *http.Request) { r.Method = "" })
	assert.Equal(t, retryhttp.ByRoute(first), retryhttp.ByRoute(unset), "a method that is not set is GET")
}

// TestPerScope: calls to a route that is limited share its hints; others do not wait.
func TestPerScope(t *testing.T) {
	for _, tt := range []struct {
		name     string
		perScope *retryhttp.PerScope
		limited  func(requests float64) bool // a call of the limited route
		delayed  bool                        // calls to another route
	}{
		{"off", retryhttp.Unlimited(), func(r float64) bool { return r == 2 }, false},
		{"by route", &retryhttp.PerScope{}, func(r float64) bool { return r < 1.15 }, false},
		{"by host", &retryhttp.PerScope{Scope: retryhttp.ByHost}, func(r float64) bool { return r < 1.15 }, true},
		{"no scope", &retryhttp.PerScope{Scope: func(*http.Request) string { return "" }}, func(r float64) bool { return r == 2 }, false},
		{"no Limiter", &retryhttp.PerScope{New: func(string) retry.Limiter { return nil }}, func(r float64) bool { return r == 2 }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var requests atomic.Int64
				client := &http.Client{Transport: &retryhttp.Transport{PerScope: tt.perScope, Base: roundTripper(func(req *http.Request) (*http.Response, error) {
					resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}
					if req.URL.Path == "/limited" {
						if requests.Add(1); time.Since(start) < 2*time.Second {
							resp.StatusCode = 429
							resp.Header.Set("Retry-After", "2")
						}
					}
					return resp, nil
				})}}
				var calls sync.WaitGroup
				get := func(path string, late *bool) {
					calls.Go(func() {
						begun := time.Now()
						resp, err := client.Get("http://host" + path)
						if assert.NoError(t, err) {
							assert.Equal(t, 200, resp.StatusCode)
						}
						*late = time.Since(begun) > 0
					})
				}
				var limited [900]bool
				var others [10]bool
				for i := range limited {
					time.Sleep(time.Second / 900)
					get("/limited", &limited[i])
				}
				for i := range others {
					get("/other", &others[i])
				}
				calls.Wait()
				assert.True(t, tt.limited(float64(requests.Load())/900), "%d requests", requests.Load())
				for _, late := range others {
					assert.Equal(t, tt.delayed, late)
				}
			})
		})
	}
}

// TestPerScopeLimit: the Limiter of the scope that was used least recently is dropped.
func TestPerScopeLimit(t *testing.T) {
	var made []string
	transport := &retryhttp.Transport{Base: &script{replies: []reply{{status: 200}}}, PerScope: &retryhttp.PerScope{
		MaxScopes: 2,
		Scope:     func(r *http.Request) string { return strings.Trim(r.URL.Path, "/") },
		New: func(scope string) retry.Limiter {
			made = append(made, scope)
			return &ratelimit.Limiter{}
		},
	}}
	for _, path := range []string{"/a", "/b", "/a", "/c", "/a", "/b", "/"} {
		req := request(t, "GET", "")
		req.URL = parse(t, "http://host"+path)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, []string{"a", "b", "c", "b"}, made)

	req := request(t, "GET", "")
	req.URL = nil // for Base to refuse
	_, err := (&retryhttp.Transport{PerScope: &retryhttp.PerScope{}}).RoundTrip(req)
	assert.ErrorContains(t, err, "nil Request.URL")
}

// TestPerScopeClock: the Limiters of a PerScope use the Clock of the Policy, with or without the
// Timeout of an http.Client.
func TestPerScopeClock(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			clock := &retrytest.Clock{Start: start.AddDate(-30, 0, 0)}
			refusal := reply{status: 429, header: "RateLimit: limit=100, remaining=0, reset=20"}
			good := reply{status: 200, header: "RateLimit: limit=100, remaining=0, reset=20"}
			base := &script{replies: []reply{good, refusal, good}}
			slow := roundTripper(func(req *http.Request) (*http.Response, error) {
				time.Sleep(time.Millisecond)
				clock.Advance(time.Millisecond)
				return base.RoundTrip(req)
			})
			policy := retry.Policy{Clock: clock, MaxElapsed: time.Minute}
			client := &http.Client{Transport: &retryhttp.Transport{Base: slow, Policy: policy, PerScope: &retryhttp.PerScope{}}, Timeout: timeout}
			for range 3 {
				resp, err := client.Do(request(t, "GET", ""))
				require.NoError(t, err)
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				require.NoError(t, resp.Body.Close())
			}
			assert.Equal(t, 4*time.Millisecond, time.Since(start), "waits are those of the Clock")
		})
	}
}

// TestPerScopeAndPolicy: both Limiters see every attempt, that of the scope first.
func TestPerScopeAndPolicy(t *testing.T) {
	policys, scopes := &countingLimiter{}, &countingLimiter{}
	transport := &retryhttp.Transport{
		Base:     &script{replies: []reply{{status: 503}, {status: 200}}},
		Policy:   quick(),
		PerScope: &retryhttp.PerScope{New: func(string) retry.Limiter { return scopes }},
	}
	transport.Policy.Limiter = policys
	_, err := transport.RoundTrip(request(t, "GET", ""))
	require.NoError(t, err)
	assert.Equal(t, countingLimiter{2, 2}, *policys)
	assert.Equal(t, countingLimiter{2, 2}, *scopes)

	transport = &retryhttp.Transport{Policy: transport.Policy, PerScope: &retryhttp.PerScope{New: func(string) retry.Limiter { return limiter(0) }}}
	_, err = transport.RoundTrip(request(t, "GET", ""))
	assert.ErrorIs(t, err, errRefused)
	assert.Equal(t, countingLimiter{2, 2}, *policys)
}

type countingLimiter struct{ waits, observed int }

func (l *countingLimiter) Wait(context.Context) error { l.waits++; return nil }
func (l *countingLimiter) Observe(retry.Attempt)      { l.observed++ }
