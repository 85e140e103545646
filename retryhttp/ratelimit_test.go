package retryhttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retryhttp"
)

func TestRateLimitHeaders(t *testing.T) {
	for _, tt := range []struct {
		name    string
		status  int
		headers []string
		want    time.Duration
	}{
		{"another prefix", 429, []string{"Fitbit-Rate-Limit-Reset: 600"}, 10 * time.Minute},
		{"another word", 429, []string{"RateLimit-Remaining: 1", "RateLimit-ResetTime: 2026-11-02T12:00:30+00:00", "Date: Mon, 02 Nov 2026 12:00:00 GMT"}, 30 * time.Second},
		{"the minute is used up", 429, []string{"X-RateLimit-Reset-Tokens-Day: 9000", "X-RateLimit-Remaining-Tokens-Minute: 0", "X-RateLimit-Reset-Tokens-Minute: 11.5"}, 11500 * time.Millisecond},
		{"with a reset, but no rate limit", 429, []string{"X-Reset: 5", "X-Limit-Reset: 5"}, 0},
		{"several are used up", 429, []string{`RateLimit: "a";r=0;t=5, "b";r=0;t=9, "c";r=1;t=99`}, 9 * time.Second},
		{"none is used up", 429, []string{`RateLimit: "a";r=3;t=5, "b";r=1;t=9`}, 5 * time.Second},
		{"used up, another status", 500, []string{`RateLimit: "a";r=0;t=5`}, 5 * time.Second},
		{"two lines", 429, []string{`RateLimit: "a";r=1;t=5`, `RateLimit: "b";r=0;t=9`}, 9 * time.Second},
		{"no time and no policy", 429, []string{`RateLimit: "a";r=0`}, 0},
		{"no time, policy of another name", 429, []string{`RateLimit: "a";r=0`, `RateLimit-Policy: "b";q=1;w=5`}, 0},
		{"no time, broken policy", 429, []string{`RateLimit: "a";r=0`, `RateLimit-Policy: "a`}, 0},
		{"negative time", 429, []string{`RateLimit: "a";r=0;t=-5`}, 0},
		{"time of another type", 429, []string{`RateLimit: "a";r=0;t=soon`}, 0},
		{"the longest time", 429, []string{`RateLimit: "a";r=0;t=999999999999999`}, time.Duration(1<<63 - 1)},
		{"a name with separators", 429, []string{`RateLimit: "a,b;c\",t=1";r=0;t=5;pk=:aGk=:, "d";r=1;t=9`}, 5 * time.Second},
		{"no time, policy of this name", 429, []string{`RateLimit: "a\"";r=0`, `RateLimit-Policy: "b";w=1, "a\"";q=1;qu="requests, sent";w=5`}, 5 * time.Second},
		{"no time, a name without quotes", 429, []string{"RateLimit: a;r=0", "RateLimit-Policy: a;q=1;w=5"}, 5 * time.Second},
		{"broken", 429, []string{`RateLimit: "a`, "RateLimit-Reset: 7"}, 7 * time.Second},
		{"older form, without reset", 429, []string{"RateLimit: limit=100, remaining=0", "RateLimit-Reset: 7"}, 7 * time.Second},
		{"older form, used up, another status", 500, []string{"RateLimit: limit=100, remaining=0, reset=7"}, 7 * time.Second},
		{"older form, not used up, another status", 500, []string{"RateLimit: limit=100, remaining=1, reset=7"}, 0},
		{"13 digits", 429, []string{"X-RateLimit-Reset: 1793620807000"}, 7 * time.Second},
		{"a date", 429, []string{"X-RateLimit-Reset: " + exampleTime.Add(7*time.Second).Format(time.RFC3339)}, 7 * time.Second},
		{"a date of JavaScript", 429, []string{"X-RateLimit-Reset: Mon Nov 02 2026 13:00:07 GMT+0100 (Central European Standard Time)", "Date: Mon, 02 Nov 2026 12:00:00 GMT"}, 7 * time.Second},
		{"Retry-After before all", 429, []string{`RateLimit: "a";r=0;t=5`, "Retry-After: 3"}, 3 * time.Second},
		{"reset in the past", 429, []string{"X-RateLimit-Reset: 1793620799"}, 0},
		{"negative duration", 429, []string{"X-RateLimit-Reset-Requests: -1s"}, 0},
		{"short duration", 429, []string{"X-RateLimit-Reset-Requests: 20ms"}, 20 * time.Millisecond},
		{"neither", 429, []string{"X-RateLimit-Reset: soon"}, 0},
		{"used up beside RateLimit", 429, []string{`RateLimit: "a";r=3;t=5`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 9"}, 9 * time.Second},
		{"used up with a fraction", 500, []string{"X-RateLimit-Remaining: 0.0", "X-RateLimit-Reset: 7"}, 7 * time.Second},
		{"used up with a window and a reset", 500, []string{"RateLimit-Remaining: 0;w=21600", "RateLimit-Reset: 7"}, 7 * time.Second},
		{"used up with a window and a bad reset", 429, []string{"RateLimit-Remaining: 0;w=60", "RateLimit-Reset: soon"}, time.Minute},
		{"something remains, no time", 429, []string{`RateLimit: "a";r=3`, `RateLimit-Policy: "a";q=9;w=60`}, 0},
		{"nothing remains, 403", 403, []string{"X-RateLimit-Remaining: 0"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := &http.Response{StatusCode: tt.status, Header: header(tt.headers)}
			assert.Equal(t, tt.want, retryhttp.RetryAfter(resp, exampleTime))
		})
	}
}

// TestResetHeadersAreReadInLinearTime: neither many headers that limit a rate nor a long
// name keep a client busy.
func TestResetHeadersAreReadInLinearTime(t *testing.T) {
	for name, header := range map[string]func(size int) http.Header{
		"many": func(size int) http.Header {
			h := http.Header{}
			for i := range size / 32 {
				h[fmt.Sprintf("X-Ratelimit-Reset-%012x", i)] = []string{"60"}
			}
			return h
		},
		"a long name": func(size int) http.Header {
			return http.Header{"Ratelimit-" + strings.Repeat("Reset-", size/6): {"60"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			linear.Check(t, 1<<20, func(size int) func() {
				resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: header(size)}
				return func() { assert.Equal(t, time.Minute, retryhttp.RetryAfter(resp, time.Now())) }
			})
		})
	}
}
