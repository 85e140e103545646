package apis_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
	"github.com/gobackoff/retry/retrytest"
)

// A sample is a response as its source shows it.
type sample struct {
	api    string
	status int
	header []string // "name: value"
	body   string
	class  retry.Class // ClassUnknown: a success
	wait   time.Duration
	source string
}

const (
	unknown   = retry.ClassUnknown
	permanent = retry.ClassPermanent
	transient = retry.ClassTransient
	throttled = retry.ClassThrottled
)

func (s sample) response() *http.Response {
	resp := &http.Response{StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.body)), ContentLength: int64(len(s.body))}
	for _, line := range s.header {
		name, value, _ := strings.Cut(line, ": ")
		resp.Header.Add(name, value)
	}
	resp.Header.Set("Date", "Mon, 02 Nov 2026 12:00:00 GMT")
	switch {
	case resp.Header.Get("Content-Type") != "" || s.body == "":
	case strings.HasPrefix(s.body, "{"), strings.HasPrefix(s.body, "["):
		resp.Header.Set("Content-Type", "application/json; charset=utf-8")
	default:
		resp.Header.Set("Content-Type", "text/event-stream")
	}
	return resp
}

// verdict returns the verdict of a Transport on the sample, whose body it returns whole.
func (s sample) verdict(t *testing.T) retry.Verdict {
	t.Helper()
	var ended retry.Attempt
	p := retry.Policy{MaxAttempts: 1, Clock: &retrytest.Clock{}, Hooks: retry.Hooks{
		OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
			return nil, func(a retry.Attempt) { ended = a }
		},
	}}
	base := roundTripper(func(*http.Request) (*http.Response, error) { return s.response(), nil })
	req, err := http.NewRequestWithContext(t.Context(), "POST", "https://api.example/", nil)
	require.NoError(t, err)
	resp, err := (&retryhttp.Transport{Base: base, Policy: p, Check: apis.Check}).RoundTrip(req)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, s.body, string(body))
	return ended.Verdict
}

// TestCorpus: a Transport understands each sample, and docs/reference/apis.md lists the failures.
func TestCorpus(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/apis.md")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(corpus), 50)
	for _, s := range corpus {
		t.Run(s.api, func(t *testing.T) {
			v := s.verdict(t)
			assert.Equal(t, s.class, v.Class)
			assert.Equal(t, s.wait, v.Hint)
			assert.Less(t, s.wait, 48*time.Hour)
		})
	}
	rows := rows()
	assert.Contains(t, string(page), rows, "docs/reference/apis.md should contain:\n%s", rows)
}

// rows returns the table of the failures, with a row for each API.
func rows() string {
	type row struct {
		api   string      // with a link to the first source
		cells [3][]string // transient, throttled, permanent
	}
	var all []*row
	named := map[string]*row{}
	for _, s := range corpus {
		if s.class == unknown {
			continue
		}
		api, name, _ := strings.Cut(s.api, ", ")
		if named[api] == nil {
			_, link, _ := strings.Cut(s.source, "](")
			named[api] = &row{api: fmt.Sprintf("[%s](%s", api, link)}
			all = append(all, named[api])
		}
		text := strings.TrimSpace(fmt.Sprint(s.status, " ", name))
		if s.wait > 0 {
			text += fmt.Sprintf(" (%v)", s.wait)
		}
		cell := &named[api].cells[slices.Index([]retry.Class{transient, throttled, permanent}, s.class)]
		*cell = append(*cell, text)
	}
	var table strings.Builder
	for _, r := range all {
		fmt.Fprintf(&table, "| %s", r.api)
		for _, cell := range r.cells {
			fmt.Fprintf(&table, " | %s", strings.Join(cell, "; "))
		}
		table.WriteString(" |\n")
	}
	return table.String()
}

// TestSecondaryLimit: GitHub's page "Rate limits for the REST API" says to wait for at least a
// minute if there is no Retry-After and something remains of the primary limit.
func TestSecondaryLimit(t *testing.T) {
	for _, s := range []sample{
		{"GitHub, secondary limit", 403, []string{"X-RateLimit-Limit: 5000", "X-RateLimit-Remaining: 4821", "X-RateLimit-Reset: 1793622600", "X-RateLimit-Resource: core"}, `{"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits","message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, throttled, time.Minute, ""},
		{"GitHub, secondary limit with 429", 429, []string{"X-RateLimit-Remaining: 4821", "X-RateLimit-Reset: 1793622600"}, `{"message":"You have exceeded a secondary rate limit."}`, throttled, time.Minute, ""},
		{"GitHub, secondary limit with Retry-After", 403, []string{"Retry-After: 90"}, `{"message":"You have exceeded a secondary rate limit."}`, throttled, 90 * time.Second, ""},
		{"GitHub, abuse detection", 403, nil, `{"documentation_url":"https://developer.github.com/v3/#abuse-rate-limits","message":"You have triggered an abuse detection mechanism. Please wait a few minutes before you try again."}`, throttled, time.Minute, ""},
		{"GitHub, GraphQL", 200, nil, `{"errors":[{"message":"You have exceeded a secondary rate limit."}]}`, throttled, time.Minute, ""},
		{"GitHub, no rights", 403, []string{"X-RateLimit-Remaining: 4821", "X-RateLimit-Reset: 1793622600", "X-RateLimit-Resource: core"}, `{"documentation_url":"https://docs.github.com/rest/repos/contents#get-repository-content","message":"Resource not accessible by integration","status":"403"}`, permanent, 0, ""},
	} {
		t.Run(s.api, func(t *testing.T) {
			v := s.verdict(t)
			assert.Equal(t, s.class, v.Class)
			assert.Equal(t, s.wait, v.Hint)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestStreamIsNotHeldUp: a response is returned once its stream has output. The streams of
// other requests than POST, and other bodies, are not read at all.
func TestStreamIsNotHeldUp(t *testing.T) {
	for _, tt := range []struct{ name, method, kind, begin string }{
		{"Anthropic", "POST", "text/event-stream", ": processing\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\nevent: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"Hi\"}}\n\n"},
		{"OpenAI, CRLF", "POST", "text/event-stream; charset=utf-8", "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\r\n\r\n"},
		{"CR", "POST", "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\r\r"},
		{"Ollama", "POST", "application/x-ndjson", "{\"model\":\"m\",\"response\":\"Hi\",\"done\":false}\n"},
		{"another protocol", "POST", "text/event-stream", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"},
		{"an id to resume from", "POST", "text/event-stream", "id: 1\ndata:\n\n"},
		{"longer than 2 MiB", "POST", "text/event-stream", strings.Repeat(": waiting\n\n", 200_000)},
		{"notifications", "GET", "text/event-stream", ""},
		{"lines of notifications", "GET", "application/x-ndjson", ""},
		{"JSON", "POST", "application/json", `{"id":"chatcmpl-1","object":"chat.completion"`},
		{"HTML", "POST", "text/html", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := io.Pipe()
			go func() { _, _ = io.WriteString(w, tt.begin) }()
			base := roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {tt.kind}}, Body: r, ContentLength: -1}, nil
			})
			req, err := http.NewRequestWithContext(t.Context(), tt.method, "https://api.example/", nil)
			require.NoError(t, err)
			resp, err := (&retryhttp.Transport{Base: base, Check: apis.CheckWithin(time.Hour)}).RoundTrip(req)
			require.NoError(t, err)
			go func() {
				_, _ = io.WriteString(w, "rest")
				_ = w.Close()
			}()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.True(t, tt.begin+"rest" == string(body))
		})
	}
}

// TestExecuted: with status 200, a POST is repeated only if the body says that the whole
// request failed.
func TestExecuted(t *testing.T) {
	for _, tt := range []struct {
		name, kind, body string
		sent             int32
	}{
		{"partial data", "application/json", `{"errors":[{"message":"Throttled","path":["second"],"extensions":{"code":"THROTTLED"}}],"data":{"first":{"orderId":1},"second":null}}`, 1},
		{"data nulled by an error within it", "application/json", `{"errors":[{"message":"Throttled","path":["first","customer"],"extensions":{"code":"THROTTLED"}}],"data":null}`, 1},
		{"data that is no object", "application/json", `{"errors":[{"extensions":{"code":"THROTTLED"}}],"data":[7]}`, 1},
		{"no data", "application/json", `{"errors":[{"extensions":{"code":"THROTTLED"}}],"data":{"first":null,"second":null}}`, 3},
		{"a batch", "application/json", `[{"errors":[{"extensions":{"code":"THROTTLED"}}]},{"data":{"first":{"orderId":1}}}]`, 1},
		{"a batch of one", "application/json", `[{"errors":[{"extensions":{"code":"THROTTLED"}}]}]`, 3},
		{"null error", "application/json", `{"error":null,"status":"rate_limited","id":7}`, 1},
		{"empty error", "application/json", `{"error":"","status":"rate_limited","id":7}`, 1},
		{"a result", "application/json", `{"error":["EAPI:Rate limit exceeded"],"result":{"txid":["1"]}}`, 1},
		{"no result", "application/json", `{"error":["EAPI:Rate limit exceeded"]}`, 3},
		{"empty errors", "application/json", `{"errors":[],"status":"rate_limited","message":"created","id":7}`, 1},
		{"code of a success", "application/json", `{"error":{"message":"none"},"code":"rate_limited","extensions":{"code":"THROTTLED"}}`, 1},
		{"error", "application/json", `{"error":"rate_limited"}`, 3},
		{"null error in an event", "text/event-stream", "data: {\"error\":null,\"status\":\"rate_limited\"}\n\n", 1},
		{"event of an error", "text/event-stream", "event: error\ndata: {\"code\":\"rate_limit_exceeded\"}\n\n", 3},
		{"typed event", "text/event-stream", "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\"}\n\n", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sent atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent.Add(1)
				w.Header().Set("Content-Type", tt.kind)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			p := retry.Policy{MaxAttempts: 3, Backoff: retry.NoDelay{}}
			client := &http.Client{Transport: &retryhttp.Transport{Policy: p, Check: apis.Check}}
			resp, err := client.Post(server.URL, "application/json", strings.NewReader(`{}`))
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, tt.body, string(body))
			assert.Equal(t, tt.sent, sent.Load())
		})
	}
}

// TestQuotaOfADay: a wait, in a header or in the body, outweighs a message that mentions a
// quota of a day, but not an identifier.
func TestQuotaOfADay(t *testing.T) {
	const rpd = `{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on requests per day (RPD): Limit 10000, Used 10000, Requested 1.%s","type":"requests","param":null,"code":"rate_limit_exceeded"}}`
	for _, tt := range []struct {
		name   string
		header []string
		body   string
		want   retry.Verdict
	}{
		{"nothing", nil, fmt.Sprintf(rpd, ""), retry.Verdict{Class: permanent}},
		{"header", []string{"Retry-After: 9"}, fmt.Sprintf(rpd, ""), retry.Verdict{Class: throttled, Hint: 9 * time.Second}},
		{"message", nil, fmt.Sprintf(rpd, " Please try again in 8.64s."), retry.Verdict{Class: throttled, Hint: 8640 * time.Millisecond}},
		{"both", []string{"Retry-After: 9"}, fmt.Sprintf(rpd, " Please try again in 8.64s."), retry.Verdict{Class: throttled, Hint: 9 * time.Second}},
		{"field", nil, `{"error":"100 calls per day","code":"rate_limited","retry_after":5}`, retry.Verdict{Class: throttled, Hint: 5 * time.Second}},
		{"identifier", []string{"Retry-After: 9"}, `{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}}`, retry.Verdict{Class: permanent, Hint: 9 * time.Second}},
	} {
		resp := sample{status: 429, header: tt.header, body: tt.body}.response()
		err := apis.Check(resp, func(n int) ([]byte, error) { return []byte(tt.body[:min(n, len(tt.body))]), nil })
		assert.Equal(t, tt.want, retry.Policy{}.Classify(err), tt.name)
	}
}

// TestWaits: the waits in sentences and fields; what is not one is no wait.
func TestWaits(t *testing.T) {
	message := func(text string) string { return fmt.Sprintf(`{"message":%q}`, text) }
	const day = 24 * time.Hour
	for body, want := range map[string]time.Duration{
		message("Please try again in 6.3s."):                                    6300 * time.Millisecond,
		message("Try again in 500 ms."):                                         500 * time.Millisecond,
		message("try again in 5 min"):                                           5 * time.Minute,
		message("Try again in 1 hour."):                                         time.Hour,
		message("try again in 24 hours"):                                        day,
		message("Try again in 7 days"):                                          7 * day,
		message("Retry in 1 hour, 5 minutes and 3 seconds."):                    time.Hour + 5*time.Minute + 3*time.Second,
		message("Please retry your request after 1h2m3s."):                      time.Hour + 2*time.Minute + 3*time.Second,
		message("retry after 45"):                                               45 * time.Second,
		message("Retry after 2026-11-02T12:01:00Z."):                            time.Minute,
		message("Retry after 2026-11-02 12:01:00 UTC, please."):                 time.Minute,
		message("Try again at Mon, 02 Nov 2026 12:00:30 GMT"):                   30 * time.Second,
		message("Retry after 1793620845."):                                      45 * time.Second,
		message("Please wait 20 seconds before trying again."):                  20 * time.Second,
		message("The limit resets in about 2 minutes"):                          2 * time.Minute,
		message("Retry after 2020-01-01T00:00:00Z."):                            0,
		message("Try again in a few minutes"):                                   0,
		message("Request timed out after 30 seconds, waiting for 2 replies"):    0,
		message("You may retry up to 3 times in 5 minutes"):                     0,
		message("Retry in 3 attempts"):                                          0,
		message("You can make 40 requests in 1 second"):                         0,
		message("try again in 99999999999999999999 hours"):                      0,
		`{"retry_after":1.5}`:                                                   1500 * time.Millisecond,
		`{"a":{"b":[{"c":{"d":{"e":{"retryAfterMs":250}}}}]}}`:                  250 * time.Millisecond,
		`{"a":{"b":{"c":{"d":{"e":{"f":{"retry_after":9}}}}}}}`:                 0, // too deep
		`{"RETRY_AFTER_SECONDS":"7"}`:                                           7 * time.Second,
		`{"retryDelay":"1m30s"}`:                                                90 * time.Second,
		`{"retryafter":3}`:                                                      3 * time.Second,
		`{"retry_in_minutes":2}`:                                                2 * time.Minute,
		`{"backoff_seconds":30}`:                                                30 * time.Second,
		`{"retryAt":"2026-11-02T12:00:17Z"}`:                                    17 * time.Second,
		`{"retry_after":1793620845}`:                                            45 * time.Second,
		`{"retry_after":1793620845000}`:                                         45 * time.Second,
		`{"retry_after":7,"message":"try again in 9s"}`:                         7 * time.Second,
		`{"retry_in_minutes":999999999}`:                                        1 << 62,
		`{"retry_after":-5}`:                                                    0,
		`{"retry_after":1e300}`:                                                 0,
		`{"retry_time":5}`:                                                      0, // perhaps a count
		`{"retry_interval":5,"retrying":5,"retry_count":5,"max_retry_delay":5}`: 0,
	} {
		v := sample{status: 429, body: body}.verdict(t)
		assert.Equal(t, want, v.Hint, body)
		assert.Equal(t, map[bool]retry.Class{true: permanent, false: throttled}[want > time.Hour], v.Class, body)
	}
}

// TestContentType: a body of a failed status is read if it begins like JSON, one with
// status 200 only if its Content-Type says so.
func TestContentType(t *testing.T) {
	const body = " \n{\"error\":{\"code\":\"insufficient_quota\"}}"
	for _, tt := range []struct {
		status     int
		kind, body string
		want       retry.Class
	}{
		{429, "application/problem+json", body, permanent},
		{429, "application/x-amz-json-1.0", body, permanent},
		{429, "text/plain; charset=utf-8", body, permanent},
		{429, "", body, permanent},
		{429, "text/html", "<html>" + body, unknown},
		{200, "application/json", body, permanent},
		{200, "text/plain", body, unknown},
	} {
		resp := &http.Response{StatusCode: tt.status, Header: http.Header{"Content-Type": {tt.kind}}}
		most := 0
		err := apis.Check(resp, func(n int) ([]byte, error) {
			most = max(most, n)
			return []byte(tt.body[:min(n, len(tt.body))]), nil
		})
		if tt.want == unknown {
			assert.NoError(t, err, "%d %s", tt.status, tt.kind)
			assert.Less(t, most, len(tt.body), "%d %s", tt.status, tt.kind)
			continue
		}
		assert.Equal(t, tt.want, retry.Policy{}.Classify(err).Class, "%d %s", tt.status, tt.kind)
	}
}

// TestLongBodies: what is longer than 32 KiB, or no valid JSON, is left to the status.
func TestLongBodies(t *testing.T) {
	for _, body := range []string{
		`{"error":{"code":"insufficient_quota","message":"` + strings.Repeat("x", 40<<10) + `"}}`,
		`{"error":{"code":"insufficient_quota"`,
		`"insufficient_quota"`,
		`[]`,
	} {
		resp := sample{status: 429, body: body, header: []string{"Content-Type: application/json"}}.response()
		assert.NoError(t, apis.Check(resp, func(n int) ([]byte, error) { return []byte(body[:min(n, len(body))]), nil }))
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range corpus {
		f.Add(s.status, s.response().Header.Get("Content-Type"), s.body)
	}
	f.Fuzz(func(t *testing.T, status int, kind, body string) {
		most := 0
		resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}}
		err := apis.Check(resp, func(n int) ([]byte, error) {
			most = max(most, n)
			return []byte(body[:min(n, len(body))]), nil
		})
		assert.LessOrEqual(t, most, 2<<20)
		if err != nil {
			v := retry.Policy{}.Classify(err)
			assert.NotEqual(t, retry.ClassUnknown, v.Class)
			assert.GreaterOrEqual(t, v.Hint, time.Duration(0))
		}
	})
}

// fill returns texts of about size bytes.
func fill(before, repeated, after string) func(size int) string {
	return func(size int) string {
		return before + strings.Repeat(repeated, max(0, size-len(before)-len(after))/len(repeated)) + after
	}
}

// TestCheckIsLinear: what a server sends cannot keep a client busy.
func TestCheckIsLinear(t *testing.T) {
	for name, body := range map[string]func(size int) string{
		"errors":           fill(`{"errors":[{}`, `,{}`, `]}`),
		"codes":            fill(`{"errors":[{}`, `,{"code":"x"}`, `]}`),
		"waits":            fill(`{"errors":[{}`, `,{"retry_after":"x"}`, `]}`),
		"keys":             fill(`{"errors":[{"":1`, `,"":1`, `}]}`),
		"nested errors":    fill(``, `{"error":`, ``),
		"lists":            fill(`{"errors":`, `[`, ``),
		"digits":           fill(`{"error":{"retry_after":`, `7`, `}}`),
		"long wait":        fill(`{"error":{"retry_after":"`, `7`, `"}}`),
		"long code":        fill(`{"error":{"code":"`, `perda`, `"}}`),
		"message":          fill(`{"error":{"message":"`, `try again in `, `"}}`),
		"phrases":          fill(`{"error":{"message":"`, `wait 1h again in 2020-01-01T00:00:00Z `, `"}}`),
		"many messages":    fill(`{"error":[{}`, `,{"message":"retry after Mon, 02 Jan"}`, `]}`),
		"amounts":          fill(`{"error":{"message":"retry in `, `1h`, `"}}`),
		"a long key":       fill(`{"error":{"`, `retry_`, `after":1}}`),
		"many keys":        fill(`{"error":{"":1`, `,"retryAfter":"x"`, `}}`),
		"message of words": fill(`{"error":{"message":"try again in `, `1 `, `"}}`),
		"quotes":           fill(`{"error":"`, `"`, `}`),
		"backslashes":      fill(`{"error":"`, `\`, `"}`),
		"escapes":          fill(`{"error":"`, `\u0001`, `"}`),
		"spaces":           fill(``, ` `, `{}`),
		"events":           fill(``, "event: ping\ndata: {}\n\n", ""),
		"lines of data":    fill("", "data: {\"type\":\"ping\"}\n", ""),
		"empty lines":      fill("", "\n", ""),
		"one line":         fill("data: ", "x", ""),
		"quiet events":     fill("", "data: {\"choices\":[{\"index\":0,\"delta\":{}}]}\n\n", ""),
		"many choices":     fill("data: {\"choices\":[{}", ",{\"index\":1}", "]}\n\n"),
		"bare lines":       fill("{\n", "}\n", "\n"),
		"a line of pings":  fill("data: ", `"type":"ping`, "\n"),
		"a line of errors": fill("data: {\"error\"", `"type":"error"`, "\n"),
	} {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			sizes := []int{32 << 10} // the longest body that is read
			if name == "errors" {
				sizes = append(sizes, 1<<20) // one that is not
			}
			for _, size := range sizes {
				t.Run(fmt.Sprint(name, " ", kind, " ", size), func(t *testing.T) {
					linear.Check(t, size, func(size int) func() {
						text := body(size)
						return func() {
							resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text))}
							if kind == "application/json" {
								resp.StatusCode = 429
							}
							transport := &retryhttp.Transport{Check: apis.Check, Policy: retry.Policy{MaxAttempts: 1}}
							transport.Base = roundTripper(func(*http.Request) (*http.Response, error) { return resp, nil })
							req, err := http.NewRequest("POST", "http://api.example/", nil)
							require.NoError(t, err)
							_, err = transport.RoundTrip(req)
							require.NoError(t, err)
						}
					})
				})
			}
		}
	}
}

func TestContentTypeIsReadInLinearTime(t *testing.T) {
	for name, kind := range map[string]func(size int) string{
		"parameters": func(size int) string {
			text := []byte("application/json")
			for i := 0; len(text) < size; i++ {
				text = fmt.Appendf(text, ";p%x=1", i)
			}
			return string(text)
		},
		"parts":   fill("application/json; ", "a*0*=''x; ", ""),
		"spaces":  fill("application/json; ", " ", "x"),
		"letters": fill("", "J", ""),
		"slashes": fill("application/json; a=\"", "\\\\", "\""),
	} {
		t.Run(name, func(t *testing.T) {
			linear.Check(t, 1<<20, func(size int) func() {
				resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind(size)}}}
				return func() { assert.NoError(t, apis.Check(resp, func(int) ([]byte, error) { return nil, nil })) }
			})
		})
	}
}
