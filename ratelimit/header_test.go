package ratelimit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/ratelimit"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// header returns a header from lines such as "Name: value".
func header(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

type states = []ratelimit.State

// TestReadDocumented has the headers that vendors document, with the values of their pages
// where these have some.
func TestReadDocumented(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		want   states
	}{
		{"OpenAI", header( // platform.openai.com/docs/guides/rate-limits
			"x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 59", "x-ratelimit-reset-requests: 1s",
			"x-ratelimit-limit-tokens: 150000", "x-ratelimit-remaining-tokens: 149984", "x-ratelimit-reset-tokens: 6m0s",
		), states{
			{Name: "requests", Limit: 60, Remaining: 59, Reset: time.Second},
			{Name: "tokens", Limit: 150000, Remaining: 149984, Reset: 6 * time.Minute},
		}},
		{"OpenAI, milliseconds", header(
			"x-ratelimit-limit-tokens: 160000", "x-ratelimit-remaining-tokens: 159976", "x-ratelimit-reset-tokens: 9ms",
		), states{{Name: "tokens", Limit: 160000, Remaining: 159976, Reset: 9 * time.Millisecond}}},
		{"Anthropic", header( // docs.anthropic.com/en/api/rate-limits
			"Date: Mon, 02 Nov 2026 11:59:30 GMT",
			"anthropic-ratelimit-requests-limit: 1000", "anthropic-ratelimit-requests-remaining: 999", "anthropic-ratelimit-requests-reset: 2026-11-02T11:59:31Z",
			"anthropic-ratelimit-input-tokens-limit: 80000", "anthropic-ratelimit-input-tokens-remaining: 79000", "anthropic-ratelimit-input-tokens-reset: 2026-11-02T11:59:33Z",
			"anthropic-ratelimit-output-tokens-limit: 16000", "anthropic-ratelimit-output-tokens-remaining: 16000", "anthropic-ratelimit-output-tokens-reset: 2026-11-02T11:59:29Z",
		), states{
			{Name: "anthropic-input-tokens", Limit: 80000, Remaining: 79000, Reset: 3 * time.Second},
			{Name: "anthropic-output-tokens", Limit: 16000, Remaining: 16000},
			{Name: "anthropic-requests", Limit: 1000, Remaining: 999, Reset: time.Second},
		}},
		{"Groq", header( // console.groq.com/docs/rate-limits
			"retry-after: 2",
			"x-ratelimit-limit-requests: 14400", "x-ratelimit-remaining-requests: 14370", "x-ratelimit-reset-requests: 2m59.56s",
			"x-ratelimit-limit-tokens: 18000", "x-ratelimit-remaining-tokens: 17997", "x-ratelimit-reset-tokens: 7.66s",
		), states{
			{Name: "requests", Limit: 14400, Remaining: 14370, Reset: 179560 * time.Millisecond},
			{Name: "tokens", Limit: 18000, Remaining: 17997, Reset: 7660 * time.Millisecond},
		}},
		{"GitHub", header( // docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
			"x-ratelimit-limit: 5000", "x-ratelimit-remaining: 4985", "x-ratelimit-used: 15", "x-ratelimit-reset: 1793621400", "x-ratelimit-resource: core",
		), states{{Name: "core", Limit: 5000, Remaining: 4985, Reset: 10 * time.Minute}}},
		{"IETF draft, list", header(
			`RateLimit: "burst";r=50;t=30, "day";r=900`, `RateLimit-Policy: "burst";q=100;w=60,"day";q=1000;w=86400`,
		), states{
			{Name: "burst", Limit: 100, Remaining: 50, Reset: 30 * time.Second, Window: time.Minute},
			{Name: "day", Limit: 1000, Remaining: 900, Reset: 24 * time.Hour, Window: 24 * time.Hour},
		}},
		{"IETF draft, dictionary", header("RateLimit: limit=100, remaining=50, reset=5", "RateLimit-Policy: 10;w=1, 100;w=60"),
			states{{Limit: 100, Remaining: 50, Reset: 5 * time.Second, Window: time.Minute}}},
		{"IETF draft, three headers", header("RateLimit-Limit: 10, 10;w=1, 50;w=60", "RateLimit-Remaining: 9", "RateLimit-Reset: 1"),
			states{{Limit: 10, Remaining: 9, Reset: time.Second, Window: time.Second}}},
		{"Discord", header("X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793620801.5", "X-RateLimit-Reset-After: 1.25", "X-RateLimit-Bucket: abcd1234"),
			states{{Limit: 5, Reset: 1250 * time.Millisecond}}},
		{"OpenRouter, milliseconds since 1970", header("X-RateLimit-Limit: 20", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793620807500"),
			states{{Limit: 20, Reset: 7500 * time.Millisecond}}},
		{"Reddit, no limit", header("X-Ratelimit-Used: 3", "X-Ratelimit-Remaining: 597.0", "X-Ratelimit-Reset: 240"),
			states{{Remaining: 597, Reset: 4 * time.Minute}}},
		{"Fitbit, with a dash", header("Fitbit-Rate-Limit-Limit: 150", "Fitbit-Rate-Limit-Remaining: 149", "Fitbit-Rate-Limit-Reset: 1478"),
			states{{Name: "fitbit", Limit: 150, Remaining: 149, Reset: 1478 * time.Second}}},
		{"Docker Hub, windows without a reset", header("ratelimit-limit: 100;w=21600", "ratelimit-remaining: 76;w=21600"), // docs.docker.com/docker-hub/usage/pulls
			states{{Limit: 100, Remaining: 76, Reset: 6 * time.Hour, Window: 6 * time.Hour}}},
		{"gRPC metadata", http.Header{"ratelimit-limit": {"10"}, "ratelimit-remaining": {"9"}, "ratelimit-reset": {"1"}},
			states{{Limit: 10, Remaining: 9, Reset: time.Second}}},
		{"Yelp, ResetTime", header("RateLimit-DailyLimit: 500", "RateLimit-Remaining: 0", "RateLimit-ResetTime: 2026-11-03T00:00:00+00:00"),
			states{{Reset: 12 * time.Hour}}},
		{"GitLab, a ResetTime that is not understood", header("RateLimit-Limit: 60", "RateLimit-Remaining: 0", "RateLimit-Reset: 7", "RateLimit-ResetTime: noon"),
			states{{Limit: 60, Reset: 7 * time.Second}}},
		{"a window without a reset", header("X-HubSpot-RateLimit-Max: 100", "X-HubSpot-RateLimit-Remaining: 7", "X-HubSpot-RateLimit-Interval-Milliseconds: 10000"),
			[]ratelimit.State{{Name: "hubspot", Limit: 100, Remaining: 7, Reset: 10 * time.Second, Window: 10 * time.Second}}},
		{"milliseconds", header("X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 1", "X-RateLimit-Reset-Ms: 1500"),
			states{{Limit: 5, Remaining: 1, Reset: 1500 * time.Millisecond}}},
		{"two windows", header("RateLimit-Remaining: 7;w=3600, 0;w=60"),
			states{{Reset: time.Minute, Window: time.Minute}}},
		{"two prefixes", header("X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 9", "RateLimit-Limit: 6", "RateLimit-Remaining: 0", "RateLimit-Reset: 8"),
			states{{Limit: 6, Reset: 8 * time.Second}}},
		{"a bad time and a window", header(`RateLimit: "a";r=1;t=soon`, `RateLimit-Policy: "a";q=3;w=4`),
			states{{Name: "a", Limit: 3, Remaining: 1, Reset: 4 * time.Second, Window: 4 * time.Second}}},
		{"a reset in the past", header("X-RateLimit-Limit: 20", "X-RateLimit-Remaining: 3", "X-RateLimit-Reset: 1793620700"),
			states{{Limit: 20, Remaining: 3}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, ratelimit.Read(tt.header, noon))
		})
	}
}

// TestReadIgnores: a limit with a wrong value is no limit.
func TestReadIgnores(t *testing.T) {
	for name, lines := range map[string][]string{
		"no header":            nil,
		"a limit of 0":         {"X-RateLimit-Limit: 0", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1"},
		"negative":             {"X-RateLimit-Limit: 5", "X-RateLimit-Remaining: -1", "X-RateLimit-Reset: 1"},
		"NaN":                  {"X-RateLimit-Limit: 5", "X-RateLimit-Remaining: NaN", "X-RateLimit-Reset: 1"},
		"infinite":             {"X-RateLimit-Limit: Inf", "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 1"},
		"an exponent":          {"X-RateLimit-Limit: 1e3", "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 1"},
		"a word":               {"X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: soon"},
		"nothing remains of":   {"X-RateLimit-Limit: 5", "X-RateLimit-Reset: 1"},
		"no reset":             {"X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 1"},
		"a long value":         {"X-RateLimit-Limit: 5", "X-RateLimit-Remaining: " + strings.Repeat("0", 300), "X-RateLimit-Reset: 1"},
		"no time":              {`RateLimit: "a";r=1`, `RateLimit-Policy: "a";q=9`},
		"a string with no end": {`RateLimit: "a;r=1;t=2`},
		"bytes":                {`RateLimit: "a";r=1;t=2`, `RateLimit-Policy: "a";q=9;w=5;qu="content-bytes"`},
		"concurrent requests":  {`RateLimit: "a";r=1;t=2`, `RateLimit-Policy: "a";q=9;qu="concurrent-requests"`},
		"two counts of Riot":   {"X-App-Rate-Limit: 20:1,100:120", "X-App-Rate-Limit-Count: 1:1,1:120"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, ratelimit.Read(header(lines...), noon))
		})
	}
}

func TestReadIsBounded(t *testing.T) {
	h := http.Header{}
	for i := range 100 {
		for _, word := range []string{"Limit", "Remaining", "Reset"} {
			h.Set(fmt.Sprintf("X-RateLimit-%s-%02d", word, i), "5")
		}
	}
	got := ratelimit.Read(h, noon)
	assert.Len(t, got, 8)
	assert.Equal(t, "00", got[0].Name, "the same ones each time")
}

// TestReadTakesLinearTime: neither many headers nor long ones keep a client busy.
func TestReadTakesLinearTime(t *testing.T) {
	for name, make := range map[string]func(size int) http.Header{
		"many": func(size int) http.Header {
			h := http.Header{}
			for i := range size / 100 {
				h[fmt.Sprintf("X-Ratelimit-Reset-%012x", i)] = []string{"60"}
				h[fmt.Sprintf("X-Ratelimit-Remaining-%012x", i)] = []string{"60"}
			}
			return h
		},
		"a long name": func(size int) http.Header {
			return http.Header{"Ratelimit-" + strings.Repeat("Reset-", size/6): {"60"}}
		},
		"a long value": func(size int) http.Header { return http.Header{"Ratelimit": {strings.Repeat(`"a";r=1;t=2,`, size/12)}} },
		"many values": func(size int) http.Header {
			return http.Header{"Ratelimit": strings.Fields(strings.Repeat(`"a";r=1;t=2 `, size/12))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			linear.Check(t, 1<<20, func(size int) func() {
				h := make(size)
				return func() { ratelimit.Read(h, noon) }
			})
		})
	}
}

// FuzzRead: whatever a server sends, the States are in their ranges.
func FuzzRead(f *testing.F) {
	f.Add("Ratelimit", `"a";r=1;t=2`, "Ratelimit-Policy", `"a";q=3;w=4`, "Date", "Mon, 02 Nov 2026 12:00:00 GMT")
	f.Add("X-Ratelimit-Limit", "100, 100;w=60", "X-Ratelimit-Remaining", "1", "X-Ratelimit-Reset", "1793620807")
	f.Add("Anthropic-Ratelimit-Tokens-Limit", "1", "Anthropic-Ratelimit-Tokens-Remaining", "1.5", "Anthropic-Ratelimit-Tokens-Reset", "2026-11-02T12:00:00Z")
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2, n3, v3 string) {
		h := http.Header{n1: {v1}, n2: {v2}, n3: {v3, v1}}
		got := ratelimit.Read(h, noon)
		assert.LessOrEqual(t, len(got), 8)
		for _, s := range got {
			assert.True(t, s.Limit >= 0 && s.Limit <= 1e15 && s.Remaining >= 0 && s.Remaining <= 1e15 && s.Reset >= 0 && s.Window >= 0, "%+v", s)
			assert.LessOrEqual(t, len(s.Name), 300)
		}
		assert.Equal(t, got, ratelimit.Read(h, noon))
	})
}

// TestResponseOf: how a status and headers are read together.
func TestResponseOf(t *testing.T) {
	const told, usedUp = "RateLimit: limit=9, remaining=4, reset=5", "RateLimit: limit=9, remaining=0, reset=5"
	some, none := states{{Limit: 9, Remaining: 4, Reset: 5 * sec}}, states{{Limit: 9, Reset: 5 * sec}}
	for name, tt := range map[string]struct {
		status int
		lines  []string
		want   ratelimit.Response
	}{
		"success":                   {200, nil, ratelimit.Response{OK: true}},
		"success with a limit":      {200, []string{told}, ratelimit.Response{OK: true, States: some}},
		"the last success":          {200, []string{usedUp}, ratelimit.Response{OK: true, Hint: 5 * sec, States: none}},
		"a failure of the client":   {404, []string{told}, ratelimit.Response{OK: true, States: some}},
		"a failure of the server":   {500, []string{"Retry-After: 3"}, ratelimit.Response{Hint: 3 * sec}},
		"overloaded":                {503, []string{told}, ratelimit.Response{States: some}},
		"overloaded, with a wait":   {503, []string{told, "Retry-After: 3"}, ratelimit.Response{Refused: true, Hint: 3 * sec, States: some}},
		"refused":                   {429, []string{usedUp}, ratelimit.Response{Refused: true, Hint: 5 * sec, States: none}},
		"refused, without a wait":   {429, nil, ratelimit.Response{Refused: true}},
		"forbidden":                 {403, []string{told}, ratelimit.Response{OK: true, States: some}},
		"forbidden by a used limit": {403, []string{usedUp}, ratelimit.Response{Refused: true, Hint: 5 * sec, States: none}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, ratelimit.ResponseOf(tt.status, header(tt.lines...), noon))
		})
	}
	plain := http.Header{"Content-Type": {"text/plain"}, "Date": {"today"}, "X-Rate": {"1"}}
	assert.Zero(t, testing.AllocsPerRun(100, func() { ratelimit.ResponseOf(200, plain, noon) }))
}
