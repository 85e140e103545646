package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// answers is a server.
type answers func(*http.Request) (int, http.Header)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := (retry.SystemClock{}).Sleep(r.Context(), 10*time.Millisecond); err != nil {
		return nil, err
	}
	status, h := f(r)
	return &http.Response{StatusCode: status, Header: h, Body: http.NoBody, Request: r, ProtoMajor: 1}, nil
}

func told(limit, left int, reset time.Duration) http.Header {
	return http.Header{
		"X-Ratelimit-Limit":     {strconv.Itoa(limit)},
		"X-Ratelimit-Remaining": {strconv.Itoa(left)},
		"X-Ratelimit-Reset":     {strconv.Itoa(int(reset.Seconds()))},
		"Retry-After":           {strconv.Itoa(int(reset.Seconds()))},
	}
}

func send(t *testing.T, client http.RoundTripper, limit time.Duration, change func(*http.Request)) (*http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://api.test/v1/things", nil)
	require.NoError(t, err)
	if change != nil {
		change(req)
	}
	return client.RoundTrip(req)
}

// TestProlongedBan: each request to a server that has banned the caller makes the ban last for
// two minutes more.
func TestProlongedBan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var until time.Time
		sent, refused := 0, 0
		client := &retryhttp.Transport{Base: answers(func(*http.Request) (int, http.Header) {
			sent++
			if sent > 1 && !time.Now().Before(until) {
				return 200, http.Header{}
			}
			refused++
			until = time.Now().Add(2 * time.Minute)
			return 429, http.Header{"Retry-After": {"120"}}
		})}
		for time.Since(start) < 10*time.Minute {
			_, err := send(t, client, 30*time.Second, nil)
			if err != nil {
				assert.ErrorIs(t, err, retry.ErrHint)
				var e *retry.Error
				if assert.ErrorAs(t, err, &e) {
					assert.Positive(t, e.Next)
					assert.Zero(t, e.Attempts)
				}
			}
			time.Sleep(time.Second)
		}
		assert.LessOrEqual(t, refused, 5, "of %d requests", sent)
		assert.Greater(t, sent, 400)
	})
}

// TestUsedUp: of a limit of an hour, nothing is left for 57 minutes.
func TestUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, sent := time.Now(), 0
		end := start.Add(57 * time.Minute)
		client := &retryhttp.Transport{Base: answers(func(*http.Request) (int, http.Header) {
			sent++
			return 429, told(5000, 0, time.Until(end))
		})}
		for time.Since(start) < 10*time.Minute {
			_, err := send(t, client, 30*time.Second, nil)
			var e *ratelimit.UsedUpError
			if errors.As(err, &e) {
				assert.InDelta(t, time.Until(end).Seconds(), e.After.Seconds(), 2)
			}
			time.Sleep(time.Second)
		}
		assert.LessOrEqual(t, sent, 62, "one in ten seconds")
		assert.GreaterOrEqual(t, sent, 55)
	})
}

// TestWrappedLimiter: a Limiter in a type of the user's, as for a log, hears the headers.
func TestWrappedLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := &ratelimit.Limiter{}
		client := &retryhttp.Transport{
			Policy: retry.Policy{Limiter: struct{ *ratelimit.Limiter }{limiter}},
			Base:   answers(func(*http.Request) (int, http.Header) { return 200, told(5000, 9, 5*time.Second) }),
		}
		_, err := send(t, client, time.Minute, nil)
		assert.NoError(t, err)
		assert.Len(t, limiter.Stats().States, 1)
	})
}

// TestScopeOfALimit: a limit is that of one host and credential, whatever carries the credential.
func TestScopeOfALimit(t *testing.T) {
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	query := func(q string) func(*http.Request) { return func(r *http.Request) { r.URL.RawQuery = q } }
	const aws = "AWS4-HMAC-SHA256 Credential=%s/20261128/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=%s"
	for _, tt := range []struct {
		name       string
		one, other func(*http.Request)
		same       bool
	}{
		{"nothing", nil, nil, true},
		{"Authorization", header("Authorization", "Bearer a"), header("Authorization", "Bearer b"), false},
		{"one Authorization", header("Authorization", "Bearer a"), header("Authorization", "Bearer a"), true},
		{"X-Api-Key", header("X-Api-Key", "a"), header("X-Api-Key", "b"), false},
		{"Api-Key", header("Api-Key", "a"), header("Api-Key", "b"), false},
		{"X-Goog-Api-Key", header("X-Goog-Api-Key", "a"), header("X-Goog-Api-Key", "b"), false},
		{"Private-Token", header("Private-Token", "a"), header("Private-Token", "b"), false},
		{"X-Shopify-Access-Token", header("X-Shopify-Access-Token", "a"), header("X-Shopify-Access-Token", "b"), false},
		{"a key in the query", query("q=1&key=a"), query("q=1&key=b"), false},
		{"another query", query("token=a&q=1"), query("token=a&q=2"), true},
		{"user in the URL", func(r *http.Request) { r.URL.User = nil }, func(r *http.Request) { r.URL.Host = "me@api.test" }, false},
		{"what is no credential", header("Idempotency-Key", "a"), header("Idempotency-Key", "b"), true},
		{"a trace", header("Traceparent", "a"), header("Traceparent", "b"), true},
		{"a signature", header("Authorization", fmt.Sprintf(aws, "AKID", "1")), header("Authorization", fmt.Sprintf(aws, "AKID", "2")), true},
		{"a signature of another", header("Authorization", fmt.Sprintf(aws, "AKID", "1")), header("Authorization", fmt.Sprintf(aws, "OTHER", "1")), false},
		{"OAuth 1", header("Authorization", `OAuth oauth_consumer_key="a", oauth_nonce="1", oauth_token="b"`), header("Authorization", `OAuth oauth_consumer_key="a", oauth_nonce="2", oauth_token="b"`), true},
		{"OAuth 1 of another", header("Authorization", `OAuth oauth_consumer_key="a", oauth_token="b"`), header("Authorization", `OAuth oauth_consumer_key="a", oauth_token="c"`), false},
		{"Azure", header("Authorization", "SharedKey me:1"), header("Authorization", "SharedKey me:2"), true},
		{"a header that is empty", func(r *http.Request) { r.Header["X-Api-Key"] = nil }, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &retryhttp.Transport{Base: answers(func(*http.Request) (int, http.Header) { return 429, told(100, 0, time.Hour) })}
				_, _ = send(t, client, time.Second, tt.one)
				_, err := send(t, client, time.Second, tt.one) // a probe
				assert.NoError(t, err)
				_, err = send(t, client, time.Second, tt.one)
				var e *ratelimit.UsedUpError
				require.ErrorAs(t, err, &e)
				_, err = send(t, client, time.Second, tt.other)
				assert.Equal(t, tt.same, errors.As(err, &e), "%v", err)
			})
		})
	}
}

// TestCredentialOfAnAttempt: the credential that Sign adds to an attempt counts.
func TestCredentialOfAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type user struct{}
		as := func(name string) func(*http.Request) {
			return func(r *http.Request) { *r = *r.WithContext(context.WithValue(r.Context(), user{}, name)) }
		}
		sent := map[string]int{}
		client := &retryhttp.Transport{
			Sign: func(req *http.Request) (retryhttp.Refused, error) {
				req.Header.Set("Authorization", req.Context().Value(user{}).(string))
				return nil, nil
			},
			Base: answers(func(r *http.Request) (int, http.Header) {
				name := r.Header.Get("Authorization")
				r.Header.Set("Authorization", "changed by the Base")
				sent[name]++
				if name == "busy" {
					return 429, told(100, 0, time.Hour)
				}
				return 200, http.Header{}
			}),
		}
		for range 20 {
			_, err := send(t, client, time.Second, as("quiet"))
			assert.NoError(t, err)
			_, _ = send(t, client, time.Second, as("busy"))
		}
		assert.Equal(t, map[string]int{"quiet": 20, "busy": 2}, sent)
		_, err := send(t, client, time.Second, as("busy"))
		var e *ratelimit.UsedUpError
		assert.ErrorAs(t, err, &e)
	})
}

// TestQuietRoute: a route does not wait for the limit of another.
func TestQuietRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &retryhttp.Transport{Base: answers(func(r *http.Request) (int, http.Header) {
			if r.URL.Path == "/quiet" {
				return 200, told(5000, 4000, time.Hour)
			}
			return 429, told(100, 0, 20*time.Second)
		})}
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() { _, _ = send(t, client, 15*time.Second, nil) })
		}
		time.Sleep(time.Second)
		for range 10 {
			start := time.Now()
			_, err := send(t, client, 15*time.Second, func(r *http.Request) { r.URL.Path = "/quiet" })
			assert.NoError(t, err)
			assert.Equal(t, 10*time.Millisecond, time.Since(start))
		}
		calls.Wait()
	})
}

// TestUnlimited: neither limits that are told nor refusals make a call wait or end.
func TestUnlimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &retryhttp.Transport{
			PerScope: retryhttp.Unlimited(),
			Base:     answers(func(*http.Request) (int, http.Header) { return 429, told(100, 0, time.Hour) }),
		}
		for range 10 {
			resp, err := send(t, client, time.Second, nil)
			require.NoError(t, err)
			assert.Equal(t, 429, resp.StatusCode)
		}
	})
}

// TestNoLimitCostsNothing: as long as no response refuses or tells a limit, a call allocates no
// more than without Limiters.
func TestNoLimitCostsNothing(t *testing.T) {
	header := http.Header{"Content-Type": {"text/plain"}, "Date": {"Sat, 28 Nov 2026 12:00:00 GMT"}}
	allocs := func(perScope *retryhttp.PerScope) float64 {
		client := &retryhttp.Transport{PerScope: perScope, Base: roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: header, Body: http.NoBody, Request: r}, nil
		})}
		return testing.AllocsPerRun(200, func() {
			req, _ := http.NewRequest("GET", "http://api.test/v1", nil)
			_, _ = client.RoundTrip(req)
		})
	}
	assert.LessOrEqual(t, allocs(nil), allocs(retryhttp.Unlimited()))
}
