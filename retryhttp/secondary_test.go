package retryhttp_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

const (
	secondary = `{"documentation_url":"https://docs.github.com/rest/overview/rate-limits#about-secondary-rate-limits","message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	forbidden = `{"message":"Resource not accessible by integration","status":"403"}`
)

// answering responds to all requests in the same way, apart from those that nothing says.
func answering(sent *int, status int, body string, headers ...string) roundTripper {
	return func(req *http.Request) (*http.Response, error) {
		*sent++
		h := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			h.Set(name, value)
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: req, ContentLength: -1}, nil
	}
}

// TestSecondaryLimit: GitHub's secondary limit, which only the body names, is throttling, and the
// wait is at least a minute unless a header names another one.
func TestSecondaryLimit(t *testing.T) {
	const minute = time.Minute
	for name, tt := range map[string]struct {
		status  int
		body    string
		headers []string
		sent    int
		first   time.Duration // the least first wait
	}{
		"403":                              {403, secondary, []string{"X-RateLimit-Resource: core"}, 3, minute},
		"403, something remains":           {403, secondary, []string{"X-RateLimit-Remaining: 4821", "X-RateLimit-Reset: 1793622600"}, 3, minute},
		"429":                              {429, secondary, nil, 3, minute},
		"429, something remains":           {429, secondary, []string{"X-RateLimit-Remaining: 4821", "X-RateLimit-Reset: 3000"}, 3, minute},
		"as text":                          {403, secondary, []string{"Content-Type: text/plain; charset=utf-8"}, 3, minute},
		"an older sentence":                {403, `{"message":"You have triggered an abuse detection mechanism."}`, nil, 3, minute},
		"Retry-After":                      {403, secondary, []string{"Retry-After: 20"}, 3, 20 * time.Second},
		"nothing remains":                  {403, secondary, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 30"}, 3, 30 * time.Second},
		"no permission":                    {403, forbidden, []string{"X-RateLimit-Remaining: 4821"}, 1, 0},
		"a page":                           {403, "<p>secondary rate limit", []string{"Content-Type: text/html"}, 1, 0},
		"another status":                   {404, secondary, nil, 1, 0},
		"a long body without the limit":    {403, strings.Repeat(forbidden, 100), nil, 1, 0},
		"a body that breaks off":           {403, secondary[:len(secondary)-3], nil, 3, minute},
		"a body that is empty":             {403, "", nil, 1, 0},
		"throttling that nothing explains": {429, forbidden, nil, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent int
				transport := &retryhttp.Transport{Base: answering(&sent, tt.status, tt.body, tt.headers...)}
				began := time.Now()
				resp, err := (&http.Client{Transport: transport}).Post("http://api/", "", nil)
				require.NoError(t, err)
				assert.Equal(t, tt.sent, sent)
				assert.GreaterOrEqual(t, time.Since(began), time.Duration(tt.sent-1)*tt.first)
				assert.LessOrEqual(t, time.Since(began), time.Duration(tt.sent-1)*(tt.first+tt.first/5+2*time.Second))
				content, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				assert.Equal(t, tt.body, string(content))
				require.NoError(t, resp.Body.Close())
				if tt.first >= minute {
					err := retryhttp.CheckStatus(resp)
					assert.ErrorContains(t, err, "secondary rate limit")
					assert.Equal(t, retry.ClassThrottled, retry.Policy{}.Classify(err).Class)
				}
			})
		})
	}
}

// TestSecondaryLimitHoldsOthers: the calls after a refusal wait, too, as after one with Retry-After.
func TestSecondaryLimitHoldsOthers(t *testing.T) {
	for name, limiter := range map[string]retry.Limiter{"by default": nil, "a Limiter of the Policy": &ratelimit.Limiter{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent int
				policy := retry.Policy{MaxAttempts: retry.NoRetry, MaxElapsed: 10 * time.Second, Limiter: limiter}
				client := &http.Client{Transport: &retryhttp.Transport{Base: answering(&sent, 403, secondary), Policy: policy}}
				var ended int
				for range 30 {
					resp, err := client.Get("http://api/")
					if err != nil {
						ended++
						continue
					}
					require.NoError(t, resp.Body.Close())
				}
				assert.LessOrEqual(t, sent, 5)
				assert.Equal(t, 30-sent, ended)
			})
		})
	}
}

// TestSecondaryLimitBeside: a body that does not arrive delays the response by a second at most, and a
// Check that says nothing does not hide the limit.
func TestSecondaryLimitBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			go func() {
				_, _ = io.WriteString(writer, forbidden[:20])
				time.Sleep(time.Minute)
				_, _ = io.WriteString(writer, forbidden[20:])
				_ = writer.Close()
			}()
			h := http.Header{"Content-Type": {"application/json"}}
			return &http.Response{StatusCode: 403, Header: h, Body: reader, Request: req, ContentLength: -1}, nil
		})
		began := time.Now()
		resp, err := (&http.Client{Transport: &retryhttp.Transport{Base: base}}).Get("http://api/")
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(began))
		content, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, forbidden, string(content))

		var sent int
		check := func(_ *http.Response, peek func(int) ([]byte, error)) error {
			begin, err := peek(10)
			if !bytes.HasPrefix(begin, []byte("{")) {
				return errors.Join(errors.New("no JSON"), err)
			}
			return nil
		}
		client := &http.Client{Transport: &retryhttp.Transport{Base: answering(&sent, 403, secondary), Check: check}}
		resp, err = client.Get("http://api/")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 3, sent)
	})
}

// TestSecondaryLimitOfPool: the limit is one of the token, which rests, and another one is used at once.
func TestSecondaryLimitOfPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := map[string]int{}
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			token := req.Header.Get("Authorization")
			sent[token]++
			if token == "one" {
				var ignored int
				return answering(&ignored, 403, secondary)(req)
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		})
		pool := &retryhttp.Pool[string]{Values: []string{"one", "two"}, Set: retryhttp.InHeader("Authorization", "")}
		client := &http.Client{Transport: &retryhttp.Transport{Base: base, Sign: pool.Sign}}
		began := time.Now()
		for range 20 {
			resp, err := client.Get("http://api/")
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, 200, resp.StatusCode)
		}
		assert.Zero(t, time.Since(began))
		assert.Equal(t, map[string]int{"one": 1, "two": 20}, sent)
	})
}
