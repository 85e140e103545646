package apis_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// verdictOf returns the class and the wait that check finds in a response of a host.
func verdictOf(t *testing.T, check func(*http.Response, func(int) ([]byte, error)) error, host string, status int, kind, body string) retry.Verdict {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+"/", nil)
	require.NoError(t, err)
	resp := &http.Response{
		StatusCode: status, Request: req, ContentLength: -1,
		Header: http.Header{"Content-Type": {kind}, "Date": {"Mon, 02 Nov 2026 12:00:00 GMT"}},
	}
	err = check(resp, func(n int) ([]byte, error) { return []byte(body[:min(n, len(body))]), nil })
	if err == nil {
		return retry.Verdict{}
	}
	return retry.Policy{}.Classify(err)
}

// TestUserRow: a row of a user makes a Transport repeat what it did not know, and nothing else.
func TestUserRow(t *testing.T) {
	failed := `{"data":{},"state":{"code":"Node-Busy","retry_after":2}}`
	for _, tt := range []struct {
		name string
		row  apis.Row
		body string
		sent int
	}{
		{"throttled", apis.Row{Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 3},
		{"its host", apis.Row{Host: "127.0.0.1", Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 3},
		{"its status", apis.Row{Status: 200, Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 3},
		{"its protocol", apis.Row{Has: "data", Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 3},
		{"permanent", apis.Row{Path: "state.code", Value: "node_busy", Means: apis.Permanent}, failed, 1},
		{"another host", apis.Row{Host: "api.example", Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 1},
		{"another status", apis.Row{Status: 500, Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 1},
		{"another protocol", apis.Row{Has: "state.node", Path: "state.code", Value: "node_busy", Means: apis.Throttled}, failed, 1},
		{"another path", apis.Row{Path: "code", Value: "node_busy", Means: apis.Throttled}, failed, 1},
		{"another value", apis.Row{Path: "state.code", Value: "node", Means: apis.Throttled}, failed, 1},
		{"a list", apis.Row{Path: "items.state", Value: "BUSY", Means: apis.Throttled}, `{"items":[{"state":"ok"},[{"state":"busy"}]]}`, 3},
		{"a stored object", apis.Row{Path: "error.code", Value: "BUSY", Means: apis.Throttled}, `{"id":"1","error":{"code":"busy"}}`, 3},
		{"far behind", apis.Row{Path: "code", Value: "BUSY", Means: apis.Throttled}, `{"text":"` + strings.Repeat("x", 30<<10) + `","code":"busy"}`, 3},
		{"too far behind", apis.Row{Path: "code", Value: "BUSY", Means: apis.Throttled}, `{"text":"` + strings.Repeat("x", 40<<10) + `","code":"busy"}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.row.Source = "https://api.example/errors"
			table, err := apis.With(tt.row)
			require.NoError(t, err)
			sent := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent++
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			p := retry.Policy{MaxAttempts: 3, Backoff: retry.NoDelay{}, Hint: retry.HintIgnore{}}
			client := &http.Client{Transport: &retryhttp.Transport{Policy: p, Check: table.Check}}
			resp, err := client.Post(server.URL, "application/json", nil)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, tt.body, string(body))
			assert.Equal(t, tt.sent, sent)
		})
	}
}

// TestUserRowsComeFirst: a row of a user outweighs those of the package, and says more than
// a status or a sentence.
func TestUserRowsComeFirst(t *testing.T) {
	const (
		json  = "application/json"
		limit = `{"error":{"code":"rate_limit_exceeded","message":"100 calls per day"}}`
	)
	for _, tt := range []struct {
		name   string
		rows   []apis.Row
		status int
		kind   string
		body   string
		want   retry.Verdict
	}{
		{"none", nil, 429, json, limit, retry.Verdict{Class: permanent}},
		{"throttled, whatever the sentence says", []apis.Row{{Path: "error.code", Value: "rate_limit_exceeded", Means: apis.Throttled}}, 429, json, limit, retry.Verdict{Class: throttled}},
		{"the status decides", []apis.Row{{Path: "error.code", Value: "rate_limit_exceeded", Means: apis.Ordinary}}, 429, json, limit, retry.Verdict{}},
		{"a code anywhere", []apis.Row{{Value: "rate_limit_exceeded", Means: apis.Transient}}, 200, json, limit, retry.Verdict{Class: transient}},
		{"the first of two", []apis.Row{{Path: "error.code", Value: "*_exceeded", Means: apis.Transient}, {Path: "error.code", Value: "rate_limit_exceeded", Means: apis.Throttled}}, 429, json, limit, retry.Verdict{Class: transient}},
		{"one status", []apis.Row{{Status: 409, Path: "reason", Value: "locked", Means: apis.Transient}}, 409, json, `{"reason":"LOCKED","retry_after":3}`, retry.Verdict{Class: transient, Hint: 3 * time.Second}},
		{"a wait of more than an hour", []apis.Row{{Path: "reason", Value: "locked", Means: apis.Throttled}}, 409, json, `{"reason":"LOCKED","retry_after":7200}`, retry.Verdict{Class: permanent, Hint: 2 * time.Hour}},
		{"a failure of an unknown class", []apis.Row{{Path: "reason", Value: "locked", Means: apis.Failed}}, 409, json, `{"reason":"LOCKED"}`, retry.Verdict{}},
		{"a failure of a known class", []apis.Row{{Path: "reason", Value: "locked", Means: apis.Failed}}, 200, json, `{"reason":"LOCKED","code":"overloaded"}`, retry.Verdict{Class: throttled}},
		{"XML", []apis.Row{{Path: "Reply.Result.Code", Value: "4012", Means: apis.Throttled}}, 200, "text/xml", `<?xml version="1.0"?><Reply><Result><Text>a &amp; b</Text><Code>4012</Code></Result></Reply>`, retry.Verdict{Class: throttled}},
		{"an escape", []apis.Row{{Path: "code", Value: "a/b", Means: apis.Throttled}}, 200, json, `{"code":"a\/\u0062"}`, retry.Verdict{Class: throttled}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table, err := apis.With(tt.rows...)
			require.NoError(t, err)
			assert.Equal(t, tt.want, verdictOf(t, table.Check, "api.example", tt.status, tt.kind, tt.body))
		})
	}
}

// TestRowsOfThePage: the rows that docs/reference/apis.md shows.
func TestRowsOfThePage(t *testing.T) {
	table, err := apis.With(
		apis.Row{Host: "api.example.com", Path: "state.code", Value: "BUSY", Means: apis.Throttled},
		apis.Row{Host: "api.example.com", Status: 409, Path: "reason", Value: "locked*", Means: apis.Transient},
	)

	require.NoError(t, err)
	const json = "application/json"
	assert.Equal(t, throttled, verdictOf(t, table.Check, "api.example.com", 200, json, `{"state":{"code":"busy"}}`).Class)
	assert.Equal(t, transient, verdictOf(t, table.Check, "api.example.com", 409, json, `{"reason":"locked_by_job"}`).Class)
	assert.Equal(t, unknown, verdictOf(t, table.Check, "api.example.com", 409, json, `{"reason":"exists"}`).Class)
}

// TestUserStream: rows of a user tell Check, Events and Complete the events of another protocol.
func TestUserStream(t *testing.T) {
	table, err := apis.With(
		apis.Row{Path: "kind", Value: "hello", Means: apis.Begun}, // no output yet
		apis.Row{Path: "kind", Value: "word", Means: apis.Output},
		apis.Row{Path: "kind", Value: "bye", Means: apis.Last}, // the answer is complete
		apis.Row{Path: "kind", Value: "busy", Means: apis.Throttled},
		apis.Row{Path: "event:", Value: "tick", Means: apis.Quiet}, // the name of an event
	)

	require.NoError(t, err)
	const (
		hello = "data: {\"kind\":\"hello\"}\n\n"
		tick  = "event: tick\ndata: now\n\n"
		word  = "data: {\"kind\":\"word\"}\n\n"
		bye   = "data: {\"kind\":\"bye\"}\n\n"
		busy  = "data: {\"kind\":\"busy\",\"retry_after\":4}\n\n"
	)
	for _, tt := range []struct {
		stream           string
		check            retry.Class
		events, complete string
	}{
		{hello + tick + word + bye, unknown, "", ""},
		{hello + tick, transient, "the stream broke before its first output: the stream ended before the answer was complete: unexpected EOF", "the stream ended before the answer was complete: unexpected EOF"},
		{hello + tick + word, unknown, "the stream broke after its first output: the stream ended before the answer was complete: unexpected EOF", "the stream ended before the answer was complete: unexpected EOF"},
		{tick + busy, throttled, "the stream broke before its first output: busy (reported in the body)", ""},
	} {
		assert.Equal(t, tt.check, verdictOf(t, table.Check, "api.example", 200, "text/event-stream", tt.stream).Class, tt.stream)
		var got error
		for _, err := range table.Events(stream("text/event-stream", strings.NewReader(tt.stream)), 0) {
			got = err
		}
		assert.Equal(t, tt.events, textOfError(got), tt.stream)
		next := roundTripper(func(*http.Request) (*http.Response, error) {
			return stream("text/event-stream", iotest.OneByteReader(strings.NewReader(tt.stream))), nil
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example/", nil)
		require.NoError(t, err)
		resp, err := table.Complete(next).RoundTrip(req)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		assert.Equal(t, tt.complete, textOfError(err), tt.stream)
	}
}

func textOfError(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestWithRefuses: a row that could never apply is refused, and the error names it.
func TestWithRefuses(t *testing.T) {
	good := apis.Row{Path: "code", Value: "BUSY", Means: apis.Throttled}
	for _, tt := range []struct {
		change func(*apis.Row)
		want   string
	}{
		{func(r *apis.Row) { r.Means = 0 }, "Means is 0, which is none of the constants"},
		{func(r *apis.Row) { r.Means = apis.Last + 1 }, "which is none of the constants"},
		{func(r *apis.Row) { r.Value = "" }, "Value is empty"},
		{func(r *apis.Row) { r.Value = strings.Repeat("x", 257) }, "Value has more than 256 bytes"},
		{func(r *apis.Row) { r.Value = "*a*b*" }, "Value has more than two asterisks"},
		{func(r *apis.Row) { r.Status = 301 }, "Status is 301"},
		{func(r *apis.Row) { r.Status = -1 }, "Status is -1"},
		{func(r *apis.Row) { r.Host = "https://api.example" }, `Host "https://api.example" has more than a host`},
		{func(r *apis.Row) { r.Host = "api.example:443" }, "has more than a host"},
		{func(r *apis.Row) { r.Path = "error..code" }, "Path has an empty key"},
		{func(r *apis.Row) { r.Has = ".code" }, `Has ".code" has an empty key`},
		{func(r *apis.Row) { r.Path = ""; r.Means = apis.Quiet }, "Path is empty"},
	} {
		row := good
		tt.change(&row)
		table, err := apis.With(good, row)
		assert.ErrorContains(t, err, tt.want)
		assert.ErrorContains(t, err, "apis: row 2 ")
		assert.Nil(t, table)
	}
	_, err := apis.With(good)
	require.NoError(t, err)
}

// TestTableWithoutRows: a Table without rows of a user is the package.
func TestTableWithoutRows(t *testing.T) {
	for name, table := range map[string]*apis.Table{"nil": nil, "zero": {}} {
		got := verdictOf(t, table.Check, "api.example", 429, "application/json", `{"error":{"code":"insufficient_quota"}}`)
		assert.Equal(t, permanent, got.Class, name)
	}
}

// TestValues: what a Value stands for.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		value, in string // a value of JSON
		want      bool
	}{
		{"rate_limit", `"RATE-LIMIT"`, true},
		{"rate_limit", `"rateLimit"`, true},
		{"rateLimit", `"rate limit"`, false},
		{"rate limit", `"Rate limit"`, true},
		{"rate_limit", `"rate_limits"`, false},
		{"rate_limit", `{"rate_limit":1}`, false},
		{"-1", "-1", true},
		{"-1", "1", false},
		{"1", "-1", false},
		{"12", "1.2", false},
		{"12", `"12"`, true},
		{"12", "120", false},
		{"true", "true", true},
		{"false", "true", false},
		{"null", "null", true},
		{"!0", "7", true},
		{"!0", "0", false},
		{"!0", `"7"`, false},
		{"!0", "null", false},
		{"any", `"x"`, true},
		{"any", `""`, false},
		{"any", `{"x":1}`, true},
		{"any", `{}`, false},
		{"any", "7", false},
		{"any", "null", false},
		{`""`, `""`, true},
		{`""`, `"x"`, false},
		{"*_limit", `"rate_limit"`, true},
		{"*_limit", `"_limit"`, true},
		{"*limit", `"over the limit"`, false},
		{"*rate limit", `"EAPI:Rate limit"`, true},
		{"*rate limit", `"no rate limit"`, false},
		{"limit_?*", `"limit"`, false},
		{"limit_?*", `"limit_reached"`, true},
		{"limit_?*", `"limit of a day"`, false},
		{"a*b", `"a...b"`, true},
		{"a*b", `"ab"`, true},
		{"a*b", `"a b"`, false},
		{"4??", "429", true},
		{"4??", "4290", false},
		{"系统*", `"系统繁忙"`, true},
	} {
		table, err := apis.With(apis.Row{Path: "state", Value: tt.value, Means: apis.Throttled})
		require.NoError(t, err)
		got := verdictOf(t, table.Check, "api.example", 200, "application/json", fmt.Sprintf(`{"state":%s}`, tt.in))
		assert.Equal(t, tt.want, got.Class == throttled, "%s: %s", tt.value, tt.in)
	}
}

// TestHosts: a Host is that of the request, or a domain above it.
func TestHosts(t *testing.T) {
	table, err := apis.With(apis.Row{Host: "Example.com", Path: "state", Value: "busy", Means: apis.Throttled})
	require.NoError(t, err)
	for host, want := range map[string]bool{
		"example.com": true, "api.example.com": true, "API.EXAMPLE.COM:8443": true,
		"anexample.com": false, "example.com.invalid": false, "com": false, "api.example": false,
	} {
		got := verdictOf(t, table.Check, host, 200, "application/json", `{"state":"busy"}`)
		assert.Equal(t, want, got.Class == throttled, host)
	}
	err = table.Check(&http.Response{StatusCode: 429, Body: http.NoBody}, func(int) ([]byte, error) { return nil, nil })
	assert.NoError(t, err, "a response without a request")
	google := `{"results":[],"status":"UNKNOWN_ERROR"}`
	assert.Equal(t, unknown, verdictOf(t, apis.Check, "api.example", 200, "application/json", google).Class)
}

// TestSuccesses: what looks like a failure, and is none, is a success.
func TestSuccesses(t *testing.T) {
	for name, body := range map[string]string{
		"a job that failed":            `{"error":{"code":"rate_limit_exceeded","message":"Rate limit exceeded"},"id":"job_1","status":"failed"}`,
		"an operation that failed":     `{"error":{"code":8,"status":"RESOURCE_EXHAUSTED"},"name":"operations/1","done":true}`,
		"a run that failed":            `{"error":{"code":"server_error"},"object":"thread.run","id":"run_1","created_at":1}`,
		"a task that failed":           `{"error":"rate_limited","task_id":"1"}`,
		"a job with a code":            `{"error_code":18,"error_msg":"Open api qps request limit reached","id":"1"}`,
		"a response that failed":       `{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error"}}`,
		"an event that was stored":     `{"type":"error","id":"evt_1","message":"Too many requests"}`,
		"a test with a status":         `{"success":false,"id":"1","errors":[{"code":"rate_limited"}]}`,
		"an error behind":              `{"job":"1","error":"rate_limited"}`,
		"a state with an error":        `{"state":"failed","error":{"code":"server_error"}}`,
		"a notification":               `{"title":"Limit","type":"error","message":"Too many requests"}`,
		"a code that is 0":             `{"code":0,"msg":"request trigger frequency limit"}`,
		"an answer that quotes":        `{"id":"1","finish_reason":"COMPLETE","message":{"content":[{"text":"{\"error\":\"rate_limited\"}"}]}}`,
		"an empty error":               `{"error":{},"code":"rate_limited"}`,
		"an error of a name":           `{"name":"error","type":"rate_limited"}`,
		"a number":                     `{"error":0.25,"step":7}`,
		"a result beside a code":       `{"error_code":18,"error_msg":"limit reached","result":{"a":1}}`,
		"data beside a code":           `{"ok":false,"error":"rate_limited","data":{"a":1}}`,
		"a list of which one failed":   `[{"errcode":-1,"errmsg":"busy"},{"errcode":0,"errmsg":"ok"}]`,
		"partial data":                 `{"data":{"a":1},"errors":[{"message":"Too many requests"}]}`,
		"no data, and no errors":       `{"data":null,"code":"rate_limited"}`,
		"a log line with a code of 18": `{"log_id":18,"words_result":[]}`,
		"an S3 listing as JSON":        `{"Error":{"Code":"NoSuchKey"},"Bucket":"b"}`,
	} {
		assert.Equal(t, unknown, verdictOf(t, apis.Check, "api.example", 200, "application/json", body).Class, "%s: %s", name, body)
		s := sample{api: name, status: 200, body: body}
		assert.Equal(t, unknown, s.verdict(t).Class, "%s, with a Content-Length: %s", name, body)
	}
	for name, body := range map[string]string{
		"JSON-RPC":       `{"error":{"code":429,"message":"limit"},"id":1,"jsonrpc":"2.0"}`,
		"older JSON-RPC": `{"result":null,"error":{"code":429,"message":"limit"},"id":1}`,
		"GraphQL":        `{"data":null,"errors":[{"extensions":{"code":"RATE_LIMITED"}}]}`,
	} {
		s := sample{api: name, status: 200, body: body}
		assert.Equal(t, throttled, s.verdict(t).Class, name)
	}
}

// TestEventsThatAreNoFailures: events of protocols that nobody described are output.
func TestEventsThatAreNoFailures(t *testing.T) {
	for name, text := range map[string]string{
		"a metric":         "data: {\"error\":0.25,\"step\":7}\n\n",
		"a flag":           "data: {\"error\":true,\"step\":7}\n\n",
		"a check":          "data: {\"ok\":false,\"check\":\"disk\"}\n\n",
		"a row with codes": "data: {\"error_code\":7,\"count\":3}\n\n",
		"no errors":        "data: {\"errors\":[],\"step\":7}\n\n",
		"a log":            "data: {\"event\":\"error\",\"level\":\"info\"}\n\n",
		"a finished step":  "data: {\"success\":false,\"data\":null}\n\n",
		"a code of a step": "data: {\"status\":\"0\",\"code\":0}\n\n",
	} {
		assert.Equal(t, unknown, verdictOf(t, apis.Check, "api.example", 200, "text/event-stream", text).Class, name)
	}
}

// TestRowsAreLinear: a server cannot keep a client busy with what rows lead to.
func TestRowsAreLinear(t *testing.T) {
	table, err := apis.With(
		apis.Row{Path: "a.b", Value: "*x*y", Means: apis.Throttled},
		apis.Row{Path: "a.b", Value: "?*z", Has: "a.c", Means: apis.Throttled},
		apis.Row{Path: "kind", Value: "x", Means: apis.Begun},
	)
	require.NoError(t, err)
	for name, body := range map[string]func(size int) string{
		"values":      fill(`{"a":[{}`, `,{"b":"xxxxxxxxxxxx","c":1}`, `]}`),
		"lists":       fill(`{"a":`, `[`, ``),
		"a value":     fill(`{"a":{"b":"`, `x`, `"}}`),
		"escapes":     fill(`{"a":{"b":"`, `\"`, `"}}`),
		"backslashes": fill(`{"a":{"b":"`, `\\`, `"}}`),
		"keys":        fill(`{"a":{"":1`, `,"b":"x"`, `}}`),
		"elements":    fill(`<a>`, `<b>xx</b>`, `</a>`),
		"open ones":   fill(`<a>`, `<b>`, ``),
		"tags":        fill(`<a>`, `<`, ``),
		"events":      fill("", "data: {\"kind\":\"x\",\"a\":{\"b\":\"xxxx\"}}\n\n", ""),
	} {
		for _, kind := range []string{"application/json", "application/xml", "text/event-stream"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				linear.Check(t, 32<<10, func(size int) func() {
					text := []byte(body(size))
					return func() {
						resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: http.NoBody}
						_ = table.Check(resp, func(n int) ([]byte, error) { return text[:min(n, len(text))], io.EOF })
					}
				})
			})
		}
	}
}

// TestRowsFindWhatADecoderFinds: in random documents, the first of three rows applies whose
// path leads to its value in what encoding/json decodes.
func TestRowsFindWhatADecoderFinds(t *testing.T) {
	paths := []string{"a.b", "b", "a.d.b"}
	means := []apis.Meaning{apis.Throttled, apis.Transient, apis.Permanent}
	classes := []retry.Class{throttled, transient, permanent}
	var rows []apis.Row
	for i, path := range paths {
		rows = append(rows, apis.Row{Path: path, Value: "x", Means: means[i]})
	}
	table, err := apis.With(rows...)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 5_000 {
		value := map[string]any{"": randomValue(random, 0), "a": randomValue(random, 0), "B": randomValue(random, 0)}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		if random.IntN(2) == 0 {
			text, err = json.MarshalIndent(value, " ", "\t")
			require.NoError(t, err)
		}
		want := unknown
		for i, path := range paths {
			if leads(value, strings.Split(path, ".")) {
				want = classes[i]
				found++
				break
			}
		}
		got := verdictOf(t, table.Check, "api.example", 409, "application/json", string(text))
		require.Equal(t, want, got.Class, "%s", text)
	}
	assert.Greater(t, found, 500)
}

func randomValue(random *rand.Rand, depth int) any {
	leaves := []any{"x", 7, nil, true, "q\\\"uo{te[}]", []any{}, map[string]any{}}
	keys := []string{"a", "b", "A", "c\"", "d"}
	choice := random.IntN(len(leaves) + 6)
	switch {
	case choice < len(leaves) || depth > 4:
		return leaves[choice%len(leaves)]
	case choice == len(leaves):
		return []any{randomValue(random, depth+1), randomValue(random, depth+1)}
	}
	object := map[string]any{}
	for range random.IntN(4) {
		object[keys[random.IntN(len(keys))]] = randomValue(random, depth+1)
	}
	return object
}

// leads reports whether a path leads to x.
func leads(value any, path []string) bool {
	list, isList := value.([]any)
	if isList {
		return slices.ContainsFunc(list, func(element any) bool { return leads(element, path) })
	}
	if len(path) == 0 {
		return value == "x"
	}
	object, _ := value.(map[string]any)
	for key, inside := range object {
		if strings.EqualFold(key, path[0]) && leads(inside, path[1:]) {
			return true
		}
	}
	return false
}
