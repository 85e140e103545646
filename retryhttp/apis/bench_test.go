package apis_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gobackoff/retry/retryhttp/apis"
)

// BenchmarkCheck has what Check adds to a response: a success, which is by far the most
// frequent, with and without a Content-Length, and a refusal.
func BenchmarkCheck(b *testing.B) {
	item := `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("word ", 60) + `"},"finish_reason":"stop"}],"usage":{"total_tokens":12}}`
	refusal := `{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 28500, Requested 4650. Please try again in 6.3s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`
	for _, bb := range []struct {
		name   string
		status int
		body   string
		length bool
	}{
		{"success", 200, item, false},
		{"success with a length", 200, item, true},
		{"long success", 200, `{"data":[` + strings.Repeat(item+",", 100) + "1]}", true},
		{"refusal", 429, refusal, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			body := []byte(bb.body)
			resp := &http.Response{StatusCode: bb.status, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1}
			if bb.length {
				resp.ContentLength = int64(len(body))
			}
			peek := func(n int) ([]byte, error) { return body[:min(n, len(body))], nil }
			b.ReportAllocs()
			for b.Loop() {
				_ = apis.Check(resp, peek)
			}
		})
	}
}

// BenchmarkEvents has what reading a stream costs for each event.
func BenchmarkEvents(b *testing.B) {
	for _, bb := range []struct{ name, event string }{
		{"OpenAI chat", "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1793620800,\"model\":\"gpt-4o\",\"system_fingerprint\":\"fp_1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"},
		{"OpenAI responses", "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\" word\",\"logprobs\":[],\"obfuscation\":\"abcdefgh\"}\n\n"},
		{"Anthropic", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n"},
		{"another protocol", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":0.5,\"total\":1}}\n\n"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			const events = 1000
			text := []byte(strings.Repeat(bb.event, events))
			b.ReportAllocs()
			for b.Loop() {
				resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(text))}
				for range apis.Events(resp, 0) {
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
	}
}
