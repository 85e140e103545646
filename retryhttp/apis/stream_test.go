package apis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// answers are streams, event by event; quiet is the number of events before the output.
var answers = []struct {
	name, kind string
	events     []string
	quiet      int
}{
	{"Anthropic", "text/event-stream", []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"role\":\"assistant\",\"content\":[]}}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
		"event: ping\ndata: {\"type\": \"ping\"}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n",
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}, 3},
	{"OpenAI responses", "text/event-stream", []string{
		"event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"error\":null}}\n\n",
		"event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"resp_1\"}}\n\n",
		"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}\n\n",
		"event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"part\":{\"type\":\"output_text\",\"text\":\"\"}}\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello\"}\n\n",
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"error\":null}}\n\n",
	}, 4},
	{"OpenAI chat", "text/event-stream", []string{
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"finish_reason\":null}]}\n\n",
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n",
		"data: [DONE]\n\n",
	}, 1},
	{"a tool, without DONE", "text/event-stream", []string{
		": OPENROUTER PROCESSING\n\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\r\n\r\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\r\n\r\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n",
	}, 2},
	{"Gemini", "text/event-stream", []string{
		"data: {\"candidates\":[{\"content\":{\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{}}\r\n\r\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]},\"finishReason\":\"STOP\",\"index\":0}]}\r\n\r\n",
	}, 1},
	{"Ollama", "application/x-ndjson", []string{
		"{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}\n",
		"{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hello\"},\"done\":false}\n",
		"{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done_reason\":\"stop\",\"done\":true}\n",
	}, 1},
	{"Cohere", "text/event-stream", []string{
		"event: message-start\ndata: {\"type\":\"message-start\",\"delta\":{}}\n\n",
		"event: content-start\ndata: {\"type\":\"content-start\",\"delta\":{}}\n\n",
		"event: content-delta\ndata: {\"type\":\"content-delta\",\"delta\":{\"message\":{\"content\":{\"text\":\"Hello\"}}}}\n\n",
		"event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\"}}\n\n",
	}, 2},
	{"Anthropic, an empty delta", "text/event-stream", []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}, 3},
	{"OpenAI responses, an empty delta", "text/event-stream", []string{
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"error\":null}}\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"\"}\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello\"}\n\n",
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"error\":null}}\n\n",
	}, 2},
	{"Gemini, an empty part", "text/event-stream", []string{
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{}}\r\n\r\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n",
		"data: {\"candidates\":[{\"finishReason\":\"STOP\",\"index\":0}]}\r\n\r\n",
	}, 1},
	{"Cohere, an empty delta", "text/event-stream", []string{
		"event: message-start\ndata: {\"type\":\"message-start\",\"delta\":{}}\n\n",
		"event: content-delta\ndata: {\"type\":\"content-delta\",\"delta\":{\"message\":{\"content\":{\"text\":\"\"}}}}\n\n",
		"event: content-delta\ndata: {\"type\":\"content-delta\",\"delta\":{\"message\":{\"content\":{\"text\":\"Hello\"}}}}\n\n",
		"event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\"}}\n\n",
	}, 2},
	{"Dify, chat", "text/event-stream", []string{
		"data: {\"event\":\"message\",\"task_id\":\"1\",\"message_id\":\"2\",\"answer\":\"\"}\n\n",
		"data: {\"event\":\"message\",\"task_id\":\"1\",\"message_id\":\"2\",\"answer\":\"Hello\"}\n\n",
		"data: {\"event\":\"message_end\",\"task_id\":\"1\",\"metadata\":{}}\n\n",
	}, 1},
	{"Dify, workflow", "text/event-stream", []string{
		"data: {\"event\":\"workflow_started\",\"task_id\":\"1\",\"workflow_run_id\":\"2\",\"data\":{}}\n\n",
		"data: {\"event\":\"node_started\",\"task_id\":\"1\",\"workflow_run_id\":\"2\",\"data\":{}}\n\n",
		"data: {\"event\":\"node_finished\",\"task_id\":\"1\",\"workflow_run_id\":\"2\",\"data\":{\"status\":\"succeeded\"}}\n\n",
		"data: {\"event\":\"workflow_finished\",\"task_id\":\"1\",\"workflow_run_id\":\"2\",\"data\":{\"status\":\"succeeded\"}}\n\n",
	}, 2},
	{"Coze", "text/event-stream", []string{
		"event:conversation.chat.created\ndata:{\"id\":\"1\",\"last_error\":{\"code\":0,\"msg\":\"\"},\"status\":\"created\"}\n\n",
		"event:conversation.chat.in_progress\ndata:{\"id\":\"1\",\"last_error\":{\"code\":0,\"msg\":\"\"},\"status\":\"in_progress\"}\n\n",
		"event:conversation.message.delta\ndata:{\"id\":\"2\",\"role\":\"assistant\",\"type\":\"answer\",\"content\":\"\",\"content_type\":\"text\",\"chat_id\":\"1\"}\n\n",
		"event:conversation.message.delta\ndata:{\"id\":\"2\",\"role\":\"assistant\",\"type\":\"answer\",\"content\":\"Hello\",\"content_type\":\"text\",\"chat_id\":\"1\"}\n\n",
		"event:done\ndata:\"[DONE]\"\n\n",
	}, 3},
	{"AG-UI", "text/event-stream", []string{
		"data: {\"type\":\"RUN_STARTED\",\"threadId\":\"1\",\"runId\":\"2\"}\n\n",
		"data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"3\",\"role\":\"assistant\"}\n\n",
		"data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"3\",\"delta\":\"Hello\"}\n\n",
		"data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"1\",\"runId\":\"2\"}\n\n",
	}, 2},
	{"Qianfan", "text/event-stream", []string{
		"data: {\"id\":\"as-1\",\"object\":\"chat.completion\",\"sentence_id\":0,\"is_end\":false,\"result\":\"\"}\n\n",
		"data: {\"id\":\"as-1\",\"object\":\"chat.completion\",\"sentence_id\":1,\"is_end\":false,\"result\":\"Hello\"}\n\n",
		"data: {\"id\":\"as-1\",\"object\":\"chat.completion\",\"sentence_id\":2,\"is_end\":true,\"result\":\"\"}\n\n",
	}, 1},
	{"Text Generation Inference", "text/event-stream", []string{
		"data:{\"index\":1,\"token\":{\"id\":1,\"text\":\"Hello\"},\"generated_text\":null}\n\n",
		"data:{\"index\":2,\"token\":{\"id\":2,\"text\":\"\"},\"generated_text\":\"Hello\"}\n\n",
	}, 0},
}

// TestCuts: a POST whose stream ends before its output is sent again, with MayRepeat, and
// Events tells every other end from a complete answer.
func TestCuts(t *testing.T) {
	for _, tt := range answers {
		for _, kept := range append(parts(tt.events), "") {
			for _, lost := range []bool{true, false} {
				name := fmt.Sprintf("%s, %d bytes, lost %v", tt.name, len(kept), lost)
				whole, before := strings.Join(tt.events, ""), strings.Join(tt.events[:tt.quiet], "")
				early := len(kept) <= len(before)
				var requests atomic.Int32
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tt.kind)
					if requests.Add(1) > 1 {
						_, _ = io.WriteString(w, whole)
						return
					}
					_, _ = io.WriteString(w, kept)
					if lost {
						_ = http.NewResponseController(w).Flush()
						panic(http.ErrAbortHandler)
					}
				}))
				client := &http.Client{Transport: &retryhttp.Transport{
					Policy:    retry.Policy{MaxAttempts: 3, Backoff: retry.NoDelay{}},
					Check:     apis.Check,
					MayRepeat: func(*http.Request) bool { return true },
				}}
				resp, err := client.Post(server.URL, "application/json", strings.NewReader("{}"))
				require.NoError(t, err, name)
				events := 0
				var broken *apis.BrokenError
				for _, err := range apis.Events(resp, 0) {
					if errors.As(err, &broken) {
						break
					}
					require.NoError(t, err, name)
					events++
				}
				server.Close()
				switch {
				case early:
					assert.EqualValues(t, 2, requests.Load(), name)
					assert.Nil(t, broken, name)
				case kept == whole:
					assert.EqualValues(t, 1, requests.Load(), name)
					assert.Nil(t, broken, name)
					assert.Equal(t, len(slices.DeleteFunc(slices.Clone(tt.events), isComment)), events, name)
				default:
					assert.EqualValues(t, 1, requests.Load(), name)
					require.NotNil(t, broken, name)
					assert.True(t, broken.Output, name)
					v := retry.Policy{}.Classify(retry.Unrepeatable(broken))
					assert.True(t, v.Unrepeatable, name)
					assert.Equal(t, retry.ClassTransient, v.Class, name)
				}
			}
		}
	}
}

func isComment(event string) bool { return strings.HasPrefix(event, ":") }

// parts returns the beginnings of a stream, up to each event.
func parts(events []string) []string {
	var all []string
	for i := range events {
		all = append(all, strings.Join(events[:i+1], ""))
	}
	return all
}

// TestCheckWithin: a stream that has no output within the limit is requested again, whatever
// its pings say.
func TestCheckWithin(t *testing.T) {
	const start, delta = "data: {\"type\":\"message_start\"}\n\n", "data: {\"type\":\"content_block_delta\"}\n\n"
	for name, tt := range map[string]struct {
		method   string
		wait     time.Duration
		ping     string
		requests int
	}{
		"prompt":      {"POST", time.Second, "", 1},
		"silent":      {"POST", time.Hour, "", 3},
		"pings":       {"POST", 10 * time.Minute, ": ping\n\n", 3},
		"comments":    {"POST", 10 * time.Minute, ":\n", 3},
		"ping events": {"POST", 10 * time.Minute, "event: ping\ndata: {\"type\": \"ping\"}\n\n", 3},
		"in time":     {"POST", 59 * time.Second, ": ping\n\n", 1},
		"not a POST":  {"GET", time.Hour, "", 1},
		"for a while": {"POST", 61 * time.Second, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(tt.wait) // until the servers have ended
				requests := 0
				base := roundTripper(func(*http.Request) (*http.Response, error) {
					requests++
					r, w := io.Pipe()
					go func() {
						_, _ = io.WriteString(w, start)
						for range tt.wait / time.Second {
							time.Sleep(time.Second)
							if tt.ping != "" {
								_, _ = io.WriteString(w, tt.ping)
							}
						}
						_, _ = io.WriteString(w, delta)
						_ = w.Close()
					}()
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r}, nil
				})
				transport := &retryhttp.Transport{
					Base: base, Check: apis.CheckWithin(time.Minute),
					MayRepeat: func(*http.Request) bool { return true },
				}
				req, err := http.NewRequestWithContext(t.Context(), tt.method, "https://api.example/", nil)
				require.NoError(t, err)
				resp, err := transport.RoundTrip(req)
				require.NoError(t, err)
				assert.Equal(t, tt.requests, requests)
				body, err := io.ReadAll(resp.Body)
				if tt.requests > 1 {
					assert.EqualError(t, err, "the stream had no output for 1m0s")
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					assert.NotContains(t, string(body), delta)
					return
				}
				require.NoError(t, err)
				assert.Contains(t, string(body), delta)
			})
		})
	}
}

// TestEventsSilence: a stream that falls silent after its output breaks, and the time that
// the caller takes does not count.
func TestEventsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Hour) // until the server has ended
		r, w := io.Pipe()
		go func() {
			_, _ = io.WriteString(w, "id: 7\ndata: {\"type\":\"content_block_delta\"}\n\n")
			time.Sleep(time.Hour)
		}()
		start := time.Now()
		for e, err := range apis.Events(stream("text/event-stream", r), time.Minute) {
			if err == nil {
				assert.Equal(t, "7", e.LastID)
				time.Sleep(5 * time.Minute)
				continue
			}
			assert.EqualError(t, err, "the stream broke after its first output: the stream was silent for 1m0s")
			broken, _ := errors.AsType[*apis.BrokenError](err)
			assert.Equal(t, "7", broken.LastID)
		}
		assert.Equal(t, 6*time.Minute, time.Since(start))
	})
}

// TestEventsComments: a comment is a sign of life, also within an event.
func TestEventsComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			_, _ = io.WriteString(w, "event: late\n")
			for range 10 {
				time.Sleep(59 * time.Second)
				_, _ = io.WriteString(w, ": wait\n")
			}
			_, _ = io.WriteString(w, "data: a\n\n")
			_ = w.Close()
		}()
		for e, err := range apis.Events(stream("text/event-stream", r), time.Minute) {
			require.NoError(t, err)
			assert.Equal(t, "late", e.Name)
		}
	})
}

func stream(kind string, body io.Reader) *http.Response {
	closer, ok := body.(io.ReadCloser)
	if !ok {
		closer = io.NopCloser(body)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: closer}
}

// TestEvents: server-sent events are parsed as the HTML standard says.
func TestEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		want   []string // name, data, id and retry
	}{
		"line feeds":              {"data: a\n\ndata: b\n\n", []string{" a  0s", " b  0s"}},
		"carriage returns":        {"data: a\r\rdata: b\r\r", []string{" a  0s", " b  0s"}},
		"both":                    {"data: a\r\n\r\ndata: b\r\n\r\n", []string{" a  0s", " b  0s"}},
		"mixed":                   {"data: a\n\r\ndata: b\r\n\n", []string{" a  0s", " b  0s"}},
		"a byte order mark":       {"\xef\xbb\xbfdata: a\n\n", []string{" a  0s"}},
		"several lines":           {"data: YHOO\ndata: +2\ndata: 10\n\n", []string{" YHOO\n+2\n10  0s"}},
		"one space is removed":    {"data:  a\n\ndata:b\n\n", []string{"  a  0s", " b  0s"}},
		"names":                   {"event: add\ndata: 1\n\ndata: 2\n\n", []string{"add 1  0s", " 2  0s"}},
		"an id lasts":             {"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []string{" a 1 0s", " b 1 0s", " c  0s"}},
		"an id with NUL":          {"id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n", []string{" a 1 0s", " b 1 0s"}},
		"retry":                   {"retry: 1500\ndata: a\n\nretry: 1s\ndata: b\n\n", []string{" a  1.5s", " b  0s"}},
		"comments":                {": a\n\n:\ndata: a\n: b\ndata: b\n\n", []string{" a\nb  0s"}},
		"no data":                 {"event: a\n\nid: 1\n\ndata: b\n\n", []string{" b 1 0s"}},
		"empty data":              {"data\n\ndata:\ndata:\n\n", []string{"   0s", " \n  0s"}},
		"unknown fields":          {"foo: a\ndata : b\n{\ndata: c\n\n", []string{" c  0s"}},
		"an event cut off":        {"data: a\n\ndata: b\n", []string{" a  0s"}},
		"the end cut off":         {"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]", []string{" {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}  0s", " [DONE]  0s"}},
		"nothing":                 {"", nil},
		"several choices":         {"data: {\"choices\":[{\"index\":0},{\"index\":1}]}\n\ndata: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}\n\n", []string{" {\"choices\":[{\"index\":0},{\"index\":1}]}  0s", " {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}  0s", "broken"}},
		"an error after output":   {"data: a\n\nevent: error\ndata: {\"code\":\"rate_limit_exceeded\"}\n\n", []string{" a  0s", "broken"}},
		"JSON that is no event":   {"data: a\n\n{\"error\":{\"code\":503}}\n\n", []string{" a  0s", "broken"}},
		"other JSON, not of ours": {"data: a\n\n{\"x\":1}\n\ndata: b\n\n", []string{" a  0s", " b  0s"}},
	} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
			t.Run(name, func(t *testing.T) {
				var got []string
				for e, err := range apis.Events(stream("text/event-stream", wrap(strings.NewReader(tt.stream))), 0) {
					if err != nil {
						got = append(got, "broken")
						continue
					}
					got = append(got, fmt.Sprint(e.Name, " ", string(e.Data), " ", e.LastID, " ", e.Retry))
				}
				assert.Equal(t, tt.want, got)
			})
		}
	}
}

// TestBroken: what the error says about a stream that broke.
func TestBroken(t *testing.T) {
	const (
		start    = "data: {\"type\":\"message_start\"}\n\n"
		delta    = "data: {\"type\":\"content_block_delta\"}\n\n"
		overload = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	)
	for name, tt := range map[string]struct {
		resp *http.Response
		want string
		v    retry.Verdict
	}{
		"overloaded at first":  {stream("text/event-stream", strings.NewReader(start+overload)), "the stream broke before its first output: Overloaded (reported in the body)", retry.Verdict{Class: throttled}},
		"overloaded":           {stream("text/event-stream", strings.NewReader(start+delta+overload)), "the stream broke after its first output: Overloaded (reported in the body)", retry.Verdict{Class: throttled, Unrepeatable: true}},
		"lost":                 {stream("text/event-stream", io.MultiReader(strings.NewReader(start+delta), iotest.ErrReader(io.ErrUnexpectedEOF))), "the stream broke after its first output: unexpected EOF", retry.Verdict{Class: transient, Unrepeatable: true}},
		"ended":                {stream("text/event-stream", strings.NewReader(start)), "the stream broke before its first output: the stream ended before the answer was complete: unexpected EOF", retry.Verdict{Class: transient}},
		"lines":                {stream("application/x-ndjson", strings.NewReader("{\"response\":\"a\",\"done\":false}\n{\"error\":\"gone\"}")), "the stream broke after its first output: gone (reported in the body)", retry.Verdict{Class: transient, Unrepeatable: true}},
		"a line cut off":       {stream("application/x-ndjson", strings.NewReader("{\"response\":\"\",\"done\":false}\n{\"respon")), "the stream broke before its first output: the stream ended within a line: unexpected EOF", retry.Verdict{Class: transient}},
		"an unknown line":      {stream("application/x-ndjson", strings.NewReader("{\"a\":1}\n{\"a\":")), "the stream broke after its first output: the stream ended within a line: unexpected EOF", retry.Verdict{Class: transient, Unrepeatable: true}},
		"a last line":          {stream("application/x-ndjson", strings.NewReader("{\"a\":1}\n{\"a\":2}")), "", retry.Verdict{}},
		"no stream":            {stream("application/json", strings.NewReader(`{"choices":[]}`)), "the response is no stream, but application/json", retry.Verdict{Class: permanent}},
		"a status":             {&http.Response{StatusCode: 429, Body: http.NoBody}, "429 Too Many Requests", retry.Verdict{Class: throttled}},
		"lost after its end":   {stream("text/event-stream", io.MultiReader(strings.NewReader("data: [DONE]\n\n"), iotest.ErrReader(io.ErrUnexpectedEOF))), "", retry.Verdict{}},
		"of the caller's time": {canceled(stream("text/event-stream", iotest.ErrReader(context.Canceled))), "the stream broke before its first output: context canceled", retry.Policy{}.Classify(context.Canceled)},
	} {
		t.Run(name, func(t *testing.T) {
			var got error
			for _, err := range apis.Events(tt.resp, 0) {
				got = err
			}
			if tt.want == "" {
				require.NoError(t, got)
				return
			}
			require.EqualError(t, got, tt.want)
			assert.Equal(t, tt.v, retry.Policy{}.Classify(got))
		})
	}
}

func canceled(resp *http.Response) *http.Response {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	resp.Request, _ = http.NewRequestWithContext(ctx, "POST", "https://api.example/", nil)
	return resp
}

// TestComplete: a reader gets an error if a stream ends before its answer is complete, and
// otherwise the stream as it is.
func TestComplete(t *testing.T) {
	const failed = "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"
	read := func(kind, text string, status int) (string, error) {
		base := roundTripper(func(*http.Request) (*http.Response, error) {
			resp := stream(kind, iotest.OneByteReader(strings.NewReader(text)))
			resp.StatusCode = status
			return resp, nil
		})
		req, err := http.NewRequestWithContext(t.Context(), "POST", "https://api.example/", nil)
		require.NoError(t, err)
		resp, err := apis.Complete(base).RoundTrip(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	for _, tt := range answers {
		for _, text := range parts(tt.events) {
			body, err := read(tt.kind, text, 200)
			assert.Equal(t, text, body)
			if complete := text == strings.Join(tt.events, ""); complete || isComment(text) && !strings.Contains(text, "data:") {
				assert.NoError(t, err, "%s: %q", tt.name, text)
			} else {
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %q", tt.name, text)
			}
		}
	}
	for name, tt := range map[string]struct {
		kind, text string
		status     int
	}{
		"another protocol": {"text/event-stream", "data: a\n\n", 200},
		"an error":         {"text/event-stream", "data: {\"type\":\"message_start\"}\n\n" + failed, 200},
		"a failed status":  {"text/event-stream", "data: {\"type\":\"message_start\"}\n\n", 500},
		"JSON":             {"application/json", "{\"type\":\"message_start\"}", 200},
	} {
		body, err := read(tt.kind, tt.text, tt.status)
		assert.NoError(t, err, name)
		assert.Equal(t, tt.text, body, name)
	}
}

// TestEventsEnd: the loop ends with the protocol, although the server keeps the stream open.
func TestEventsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, last := range []string{"data: [DONE]\n\n", "data: {\"type\":\"message_stop\"}\n\n"} {
			r, w := io.Pipe()
			go func() { _, _ = io.WriteString(w, last) }()
			start := time.Now()
			for _, err := range apis.Events(stream("text/event-stream", r), 0) {
				assert.NoError(t, err)
			}
			assert.LessOrEqual(t, time.Since(start), time.Second)
		}
	})
}

// TestEventsAreBounded: a server cannot fill the memory with one event.
func TestEventsAreBounded(t *testing.T) {
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	var lines []io.Reader
	for range 70 {
		lines = append(lines, strings.NewReader(line))
	}
	for _, err := range apis.Events(stream("text/event-stream", io.MultiReader(lines...)), 0) {
		require.ErrorContains(t, err, "the event is too long")
		assert.Equal(t, permanent, retry.Policy{}.Classify(err).Class)
	}
}

// TestFirstEventAllocations: the allocations for a long first event do not grow with it.
func TestFirstEventAllocations(t *testing.T) {
	for _, size := range []int{3 << 10, 30 << 10, 1 << 20} {
		text := fmt.Sprintf("data: {\"type\":\"response.created\",\"response\":{\"instructions\":%q}}\n\ndata: {\"type\":\"response.output_text.delta\"}\n\n", strings.Repeat("x", size))
		allocations := testing.AllocsPerRun(10, func() { checkStream(t, text) })
		assert.Less(t, allocations, 200.0, size)
	}
}

func BenchmarkFirstEvent(b *testing.B) {
	for _, size := range []int{3 << 10, 30 << 10, 300 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size>>10, " KiB"), func(b *testing.B) {
			text := fmt.Sprintf("data: {\"type\":\"response.created\",\"response\":{\"instructions\":%q}}\n\ndata: {\"type\":\"response.output_text.delta\"}\n\n", strings.Repeat("x", size))
			b.ReportAllocs()
			for b.Loop() {
				checkStream(b, text)
			}
		})
	}
}

func checkStream(t testing.TB, text string) {
	base := roundTripper(func(*http.Request) (*http.Response, error) {
		return stream("text/event-stream", strings.NewReader(text)), nil
	})
	req, err := http.NewRequestWithContext(t.Context(), "POST", "https://api.example/", nil)
	require.NoError(t, err)
	resp, err := (&retryhttp.Transport{Base: base, Check: apis.Check}).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

// TestBrokenAfterGivingUp: a Do around a Transport that gave up on a stream before its first
// output does not retry, so attempts do not multiply.
func TestBrokenAfterGivingUp(t *testing.T) {
	for attempts, want := range map[int]int{3: 3, retry.NoRetry: 2} {
		requests := 0
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			requests++
			resp := stream("text/event-stream", strings.NewReader("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"))
			resp.Request = req
			return resp, nil
		})
		inner := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: attempts, Budget: retry.NoBudget{}}
		transport := &retryhttp.Transport{
			Base: base, Policy: inner, Check: apis.Check,
			MayRepeat: func(*http.Request) bool { return true },
		}
		err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2}, func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://host/v1/messages", nil)
			require.NoError(t, err)
			resp, err := transport.RoundTrip(req)
			require.NoError(t, err)
			for _, err = range apis.Events(resp, 0) {
			}
			return err
		})
		broken, ok := errors.AsType[*apis.BrokenError](err)
		require.True(t, ok, "%v", err)
		assert.False(t, broken.Output)
		assert.Equal(t, want, requests, "%d attempts", attempts)
	}
}

// A ring is an error that wraps itself.
type ring struct{}

func (*ring) Error() string   { return "ring" }
func (r *ring) Unwrap() error { return r }

// TestEndlessErrors: an error of a body that wraps itself ends a stream like any other.
func TestEndlessErrors(t *testing.T) {
	body := func() io.Reader {
		return io.MultiReader(strings.NewReader("data: a\n\ndata"), iotest.ErrReader(&ring{}))
	}
	var last error
	for _, err := range apis.Events(stream("text/event-stream", body()), 0) {
		last = err
	}
	assert.ErrorContains(t, last, "ring")
	base := roundTripper(func(*http.Request) (*http.Response, error) {
		return stream("text/event-stream", iotest.ErrReader(&ring{})), nil
	})
	transport := &retryhttp.Transport{Base: base, Check: apis.Check, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/", nil)
	require.NoError(t, err)
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	assert.ErrorContains(t, err, "ring")
}
