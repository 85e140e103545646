package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// A handler answers the request of a number, from 1.
type handler func(w http.ResponseWriter, number int)

// serve starts a server in memory, and returns a base for clients and the number of requests.
func serve(t *testing.T, handle handler) (base *http.Transport, requests *int) {
	t.Helper()
	network := memnet.New()
	requests = new(int)
	var mu sync.Mutex
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		mu.Lock()
		*requests++
		number := *requests
		mu.Unlock()
		handle(w, number)
	})}
	go func() { _ = server.Serve(network) }()
	base = &http.Transport{DialContext: network.Dial}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		_ = server.Close()
	})
	return base, requests
}

// A provider is an API through one client.
type provider struct {
	name              string
	whole, stream     string   // a complete answer
	quiet             []string // what a stream begins with
	output            string   // an event with output
	ask               func(ctx context.Context, client *http.Client, own bool, stream bool) (string, error)
	overload, refused string // events of errors
}

const url = "http://model.example"

var providers = []provider{
	{
		name:  "openai-go, chat",
		whole: `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`,
		quiet: []string{
			"data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
		},
		output: "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n",
		stream: "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n" +
			"data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		overload: "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\",\"code\":\"server_is_overloaded\"}}\n\n",
		refused:  "data: {\"error\":{\"message\":\"Too long\",\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}\n\n",
		ask: func(ctx context.Context, client *http.Client, own, stream bool) (string, error) {
			params := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hi")}}
			options := []openaioption.RequestOption{openaioption.WithBaseURL(url), openaioption.WithAPIKey("key")}
			sdk := newOpenAI(client, options...)
			if own {
				sdk = openai.NewClient(append(options, openaioption.WithHTTPClient(client))...)
			}
			if stream {
				stream := sdk.Chat.Completions.NewStreaming(ctx, params)
				defer stream.Close()
				var answer openai.ChatCompletionAccumulator
				for stream.Next() {
					answer.AddChunk(stream.Current())
				}
				if err := stream.Err(); err != nil {
					return "", err
				}
				return textOr(answer.Choices, func(c openai.ChatCompletionChoice) string { return c.Message.Content })
			}
			answer, err := sdk.Chat.Completions.New(ctx, params)
			if err != nil {
				return "", err
			}
			return answer.Choices[0].Message.Content, nil
		},
	},
	{
		name:  "anthropic-sdk-go",
		whole: `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`,
		quiet: []string{
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\n",
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			"event: ping\ndata: {\"type\":\"ping\"}\n\n",
		},
		output: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n",
		stream: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		overload: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		refused:  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Too long\"}}\n\n",
		ask: func(ctx context.Context, client *http.Client, own, stream bool) (string, error) {
			params := anthropic.MessageNewParams{Model: "m", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hi"))}}
			options := []anthropicoption.RequestOption{anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("key")}
			sdk := newAnthropic(client, options...)
			if own {
				sdk = anthropic.NewClient(append(options, anthropicoption.WithHTTPClient(client))...)
			}
			if stream {
				stream := sdk.Messages.NewStreaming(ctx, params)
				defer stream.Close()
				var answer anthropic.Message
				for stream.Next() {
					if err := answer.Accumulate(stream.Current()); err != nil {
						return "", err
					}
				}
				if err := stream.Err(); err != nil {
					return "", err
				}
				return textOr(answer.Content, func(c anthropic.ContentBlockUnion) string { return c.Text })
			}
			answer, err := sdk.Messages.New(ctx, params)
			if err != nil {
				return "", err
			}
			return answer.Content[0].Text, nil
		},
	},
	{
		name:     "genai",
		whole:    `{"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"finishReason":"STOP"}]}`,
		quiet:    []string{"data: {\"candidates\":[{\"content\":{\"role\":\"model\"}}]}\r\n\r\n"},
		output:   "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}],\"role\":\"model\"}}]}\r\n\r\n",
		stream:   "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}],\"role\":\"model\"},\"finishReason\":\"STOP\"}]}\r\n\r\n",
		overload: "data: {\"error\":{\"code\":503,\"message\":\"Overloaded\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n",
		refused:  "data: {\"error\":{\"code\":400,\"message\":\"Too long\",\"status\":\"INVALID_ARGUMENT\"}}\r\n\r\n",
		ask: func(ctx context.Context, client *http.Client, _, stream bool) (string, error) {
			sdk, err := newGenAI(ctx, client, genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
			if err != nil {
				return "", err
			}
			if !stream {
				answer, err := sdk.Models.GenerateContent(ctx, "m", genai.Text("Hi"), nil)
				if err != nil {
					return "", err
				}
				return answer.Text(), nil
			}
			var text strings.Builder
			for part, err := range sdk.Models.GenerateContentStream(ctx, "m", genai.Text("Hi"), nil) {
				if err != nil {
					return "", err
				}
				text.WriteString(part.Text())
			}
			return text.String(), nil
		},
	},
	{
		name:     "net/http",
		whole:    `{}`,
		quiet:    []string{"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},
		output:   "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n",
		stream:   "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\ndata: [DONE]\n\n",
		overload: "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\",\"code\":\"server_is_overloaded\"}}\n\n",
		refused:  "data: {\"error\":{\"message\":\"Too long\",\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}\n\n",
		ask: func(ctx context.Context, client *http.Client, _, whole bool) (string, error) {
			if !whole {
				resp, err := client.Post(url+"/chat/completions", "application/json", strings.NewReader("{}"))
				if err != nil {
					return "", err
				}
				defer resp.Body.Close()
				if err := retryhttp.CheckStatus(resp); err != nil {
					return "", err
				}
				if _, err := io.ReadAll(resp.Body); err != nil {
					return "", err
				}
				return "Hello", nil
			}
			return stream(ctx, client, url, "Hi", func(string) {})
		},
	},
}

// textOr returns the text of the first part of an answer.
func textOr[T any](parts []T, text func(T) string) (string, error) {
	if len(parts) == 0 {
		return "", errors.New("the answer is empty")
	}
	return text(parts[0]), nil
}

func (p provider) answer(w http.ResponseWriter, stream bool) {
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, p.whole)
		return
	}
	p.begin(w)
	_, _ = io.WriteString(w, p.stream)
}

func (p provider) begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, strings.Join(p.quiet, ""))
}

func refuse(w http.ResponseWriter, status int, header ...string) {
	w.Header().Set("Content-Type", "application/json")
	if len(header) > 0 {
		w.Header().Set(header[0], header[1])
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":"Sorry"}}`, status)
}

// TestClient: with the client of the page, each SDK gets an answer whatever fails twice before.
// The log says what it gets with its own retries.
func TestClient(t *testing.T) {
	failures := map[string]func(p provider, w http.ResponseWriter){
		"503":                  func(_ provider, w http.ResponseWriter) { refuse(w, 503) },
		"429 with Retry-After": func(_ provider, w http.ResponseWriter) { refuse(w, 429, "Retry-After", "3") },
		"529":                  func(_ provider, w http.ResponseWriter) { refuse(w, 529) },
		"a lost connection":    func(provider, http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"an error event": func(p provider, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, p.overload)
		},
		"an error event at last": func(p provider, w http.ResponseWriter) { p.begin(w); _, _ = io.WriteString(w, p.overload) },
		"a stream that is lost":  func(p provider, w http.ResponseWriter) { p.begin(w); flush(w); panic(http.ErrAbortHandler) },
		"a stream that ends":     func(p provider, w http.ResponseWriter) { p.begin(w) },
		"an answer that breaks off": func(p provider, w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, p.whole)
			flush(w)
			panic(http.ErrAbortHandler)
		},
	}
	for name, fail := range failures {
		for _, p := range providers {
			for _, stream := range []bool{false, true} {
				if !stream && (strings.Contains(name, "event") || strings.Contains(name, "stream")) || stream && strings.Contains(name, "answer") {
					continue
				}
				t.Run(fmt.Sprint(name, ", ", p.name, ", stream ", stream), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						ask := func(own bool) (string, error) {
							base, _ := serve(t, func(w http.ResponseWriter, number int) {
								if number <= 2 {
									fail(p, w)
									return
								}
								p.answer(w, stream)
							})
							client := NewClient(base)
							if own {
								client = &http.Client{Transport: base}
							}
							return p.ask(t.Context(), client, own, stream)
						}
						answer, err := ask(false)
						require.NoError(t, err)
						assert.Equal(t, "Hello", answer)
						answer, err = ask(true)
						t.Logf("by itself: %q, %v", answer, err)
					})
				})
			}
		}
	}
}

// TestSilence: a model that thinks is asked once. One that gives no answer is asked once more,
// whatever its pings say, and each call ends.
func TestSilence(t *testing.T) {
	const ever = 24 * time.Hour
	for name, tt := range map[string]struct {
		think    time.Duration
		pings    bool // every 15 s
		headers  bool // before the model thinks
		stream   bool
		silent   int // requests in which the model thinks; the next one has the answer at once
		requests int
		fails    bool
	}{
		"thinks for 90 s":                    {90 * time.Second, false, true, true, 9, 1, false},
		"thinks for 90 s before its headers": {90 * time.Second, false, false, true, 9, 1, false},
		"thinks for 3 min, no stream":        {3 * time.Minute, false, false, false, 9, 1, false},
		"thinks for 9 min":                   {9 * time.Minute, false, true, true, 9, 1, false},
		"thinks for 9 min with pings":        {9 * time.Minute, true, true, true, 9, 1, false},
		"hangs once":                         {ever, false, true, true, 1, 2, false},
		"hangs once without headers":         {ever, false, false, true, 1, 2, false},
		"hangs once with pings":              {ever, true, true, true, 1, 2, false},
		"hangs":                              {ever, false, true, true, 9, 2, true},
		"hangs without headers":              {ever, false, false, true, 9, 2, true},
		"pings for ever":                     {ever, true, true, true, 9, 2, true},
	} {
		for _, p := range providers {
			if tt.pings && p.name == "genai" { // Google sends none, and genai does not know comments
				continue
			}
			t.Run(name+", "+p.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					over := make(chan struct{})
					defer synctest.Wait() // until the servers have ended
					defer close(over)
					base, requests := serve(t, func(w http.ResponseWriter, number int) {
						if number > tt.silent {
							p.answer(w, tt.stream)
							return
						}
						if tt.headers {
							p.begin(w)
							flush(w)
						}
						pause(w, tt.think, tt.pings, over)
						if tt.headers {
							_, _ = io.WriteString(w, p.stream)
							return
						}
						p.answer(w, tt.stream)
					})
					begun := time.Now()
					answer, err := p.ask(t.Context(), NewClient(base), false, tt.stream)
					assert.Equal(t, tt.requests, *requests)
					if tt.fails {
						assert.Error(t, err)
						assert.Less(t, time.Since(begun), 21*time.Minute)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, "Hello", answer)
				})
			})
		}
	}
}

// pause waits for d, or until a test is over.
func pause(w http.ResponseWriter, d time.Duration, pings bool, over <-chan struct{}) {
	for range d / (15 * time.Second) {
		select {
		case <-over:
			return
		case <-time.After(15 * time.Second):
		}
		if pings {
			_, err := io.WriteString(w, ": PROCESSING\n\n")
			if err != nil {
				return
			}
			flush(w)
		}
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// TestRefused: what a retry does not help is asked once, and the SDK reports it.
func TestRefused(t *testing.T) {
	failures := map[string]func(p provider, w http.ResponseWriter){
		"400":            func(_ provider, w http.ResponseWriter) { refuse(w, 400) },
		"401":            func(_ provider, w http.ResponseWriter) { refuse(w, 401) },
		"an error event": func(p provider, w http.ResponseWriter) { p.begin(w); _, _ = io.WriteString(w, p.refused) },
		"after output":   func(p provider, w http.ResponseWriter) { p.begin(w); _, _ = io.WriteString(w, p.output+p.overload) },
		"lost after output": func(p provider, w http.ResponseWriter) {
			p.begin(w)
			_, _ = io.WriteString(w, p.output)
			flush(w)
			panic(http.ErrAbortHandler)
		},
		"ended after output": func(p provider, w http.ResponseWriter) { p.begin(w); _, _ = io.WriteString(w, p.output) },
	}
	for name, fail := range failures {
		for _, p := range providers {
			t.Run(name+", "+p.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base, requests := serve(t, func(w http.ResponseWriter, _ int) { fail(p, w) })
					_, err := p.ask(t.Context(), NewClient(base), false, true)
					assert.Error(t, err)
					assert.Equal(t, 1, *requests)
				})
			})
		}
	}
}

// TestOtherRequests: what is no question to a model is not repeated after a lost connection.
func TestOtherRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, requests := serve(t, func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) })
		_, err := NewClient(base).Post(url+"/fine_tuning/jobs", "application/json", strings.NewReader("{}"))
		assert.Error(t, err)
		assert.Equal(t, 1, *requests)
	})
}

// TestStreamAll: a stream that breaks after output goes on where it broke.
func TestStreamAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		network := memnet.New()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, _ := io.ReadAll(req.Body)
			asked = append(asked, string(body))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"part%d \"}}]}\n\n", len(asked))
			if len(asked) < 3 {
				flush(w)
				panic(http.ErrAbortHandler)
			}
			fmt.Fprint(w, "data: [DONE]\n\n")
		})}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		var printed strings.Builder
		client := NewClient(&http.Transport{DialContext: network.Dial})
		err := streamAll(t.Context(), client, url, "Hi", func(text string) { printed.WriteString(text) })
		require.NoError(t, err)
		assert.Equal(t, "part1 part2 part3 ", printed.String())
		require.Len(t, asked, 3)
		assert.Contains(t, asked[2], "part1 part2 ")
		client.CloseIdleConnections()
	})
}

// TestStreamBreaks: inside Do, a stream that had output is not repeated by itself.
func TestStreamBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := providers[3]
		base, requests := serve(t, func(w http.ResponseWriter, _ int) {
			p.begin(w)
			_, _ = io.WriteString(w, p.output)
		})
		client := NewClient(base)
		err := retry.Do(t.Context(), retry.Policy{}, func(ctx context.Context) error {
			_, err := stream(ctx, client, url, "Hi", func(string) {})
			return err
		})
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		broken, ok := errors.AsType[*apis.BrokenError](err)
		require.True(t, ok)
		assert.True(t, broken.Output)
		assert.Equal(t, 1, *requests)
	})
}

// TestAskAny: the next model is asked if one gives up, and one that is down is left out.
func TestAskAny(t *testing.T) {
	busy := retry.After(retry.Throttled(errors.New("busy")), 20*time.Second)
	for name, tt := range map[string]struct {
		err    error
		asked  string
		waited time.Duration
		failed bool
	}{
		"a long hint":   {busy, "1 2 2", 0, false},
		"refused":       {retry.Permanent(errors.New("content policy")), "1 1", 0, true},
		"canceled":      {context.Canceled, "1", 0, true},
		"down":          {errors.New("connection refused"), "1 1 2 2", 50 * time.Millisecond, false},
		"a short hint":  {retry.After(errors.New("busy"), time.Second), "1 1 2 2", 2 * time.Second, false},
		"nothing wrong": {nil, "1 1", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var asked []string
				first := &Model{Name: "first", Ask: func(context.Context, string) (string, error) {
					asked = append(asked, "1")
					if errors.Is(tt.err, context.Canceled) {
						cancel()
					}
					return "Hello", tt.err
				}}
				second := &Model{Name: "second", Ask: func(context.Context, string) (string, error) {
					asked = append(asked, "2")
					return "Hello", nil
				}}
				start := time.Now()
				for range 2 {
					answer, err := askAny(ctx, []*Model{first, second}, "Hi")
					assert.Equal(t, tt.failed, err != nil)
					if err == nil {
						assert.Equal(t, "Hello", answer)
					}
				}
				assert.Equal(t, tt.asked, strings.Join(asked, " "))
				assert.LessOrEqual(t, time.Since(start), tt.waited)

				time.Sleep(time.Minute)
				if name == "a long hint" || name == "down" {
					asked = nil
					_, err := askAny(ctx, []*Model{first, second}, "Hi")
					require.NoError(t, err)
					assert.Equal(t, "1", asked[0], "the first model is asked again")
				}
			})
		})
	}
	_, err := askAny(t.Context(), nil, "Hi")
	assert.EqualError(t, err, "no model can answer now")
}

// TestAskAnySDK: the errors of the SDKs say whether the next model should be asked.
func TestAskAnySDK(t *testing.T) {
	for _, p := range providers[:3] {
		for status, next := range map[int]bool{503: true, 429: true, 529: true, 400: false, 401: false} {
			t.Run(fmt.Sprint(p.name, " ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base, requests := serve(t, func(w http.ResponseWriter, _ int) { refuse(w, status, "Retry-After", "20") })
					client := &http.Client{Transport: base}
					first := &Model{Name: p.name, Ask: func(ctx context.Context, _ string) (string, error) { return p.ask(ctx, client, false, false) }}
					second := &Model{Name: "second", Ask: func(context.Context, string) (string, error) { return "Hello", nil }}
					start := time.Now()
					answer, err := askAny(t.Context(), []*Model{first, second}, "Hi")
					assert.Equal(t, next, err == nil, err)
					assert.Equal(t, next, answer == "Hello")
					assert.Less(t, time.Since(start), 20*time.Second)
					t.Log(*requests, " requests, ", time.Since(start))
				})
			})
		}
	}
}

// TestAskFor: an answer that does not parse is asked for again, with the parser's message.
func TestAskFor(t *testing.T) {
	type city struct{ Name string }
	var asked [][]string
	answers := []string{"Sure! Here it is:", `{"name":1}`, `{"name":"Paris"}`}
	ask := func(_ context.Context, messages []string) (string, error) {
		asked = append(asked, messages)
		return answers[len(asked)-1], nil
	}
	value, err := askFor[city](t.Context(), ask, "Which city?")
	require.NoError(t, err)
	assert.Equal(t, city{"Paris"}, value)
	require.Len(t, asked, 3)
	assert.Equal(t, []string{"Which city?", "Sure! Here it is:", "This does not parse: invalid character 'S' looking for beginning of value. Answer with JSON and nothing else."}, asked[1])
	assert.Contains(t, asked[2][2], "cannot unmarshal number")

	asked, answers = nil, []string{"a", "b", "c", "d"}
	_, err = askFor[city](t.Context(), ask, "Which city?")
	_, isSyntax := errors.AsType[*json.SyntaxError](err)
	assert.True(t, isSyntax)
	assert.Len(t, asked, 3)

	down, calls := errors.New("down"), 0
	_, err = askFor[city](t.Context(), func(context.Context, []string) (string, error) { calls++; return "", down }, "Which city?")
	assert.ErrorIs(t, err, down)
	assert.Equal(t, 1, calls)
}

// TestRun: a card is charged once, although the model fails before and after the charge.
func TestRun(t *testing.T) {
	for name, tt := range map[string]struct {
		failures int // of the model after the charge
		failed   bool
	}{"for a while": {3, false}, "for good": {100, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				charges, asked := 0, 0
				ask := func(_ context.Context, messages []string) (Reply, error) {
					asked++
					switch {
					case asked == 1:
						return Reply{}, errors.New("overloaded")
					case len(messages) == 1:
						return Reply{Tool: "charge", Args: "9 EUR"}, nil
					case asked <= 2+tt.failures:
						return Reply{}, errors.New("overloaded")
					}
					return Reply{Text: "You paid " + messages[2]}, nil
				}
				tool := func(context.Context, string, string) string { charges++; return "9 EUR" }
				var answer string
				err := retry.Do(t.Context(), retry.Policy{}, func(ctx context.Context) error { // as a job queue would
					var err error
					answer, err = run(ctx, ask, tool, "Pay!")
					return err
				})
				assert.Equal(t, 1, charges)
				assert.Equal(t, tt.failed, err != nil)
				if !tt.failed {
					assert.Equal(t, "You paid 9 EUR", answer)
				}
			})
		})
	}
}

// TestPaced: eight agents that share a limit of tokens get all their answers. The server's
// refusals have the headers of OpenAI's.
func TestPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, cost, agents, calls = 40_000, 2_000, 8, 10
		left, renewed := limit, time.Now().Add(time.Minute)
		var mu sync.Mutex
		base, requests := serve(t, func(w http.ResponseWriter, number int) {
			time.Sleep(time.Duration(1+number%7) * 300 * time.Millisecond) // the model works
			mu.Lock()
			defer mu.Unlock()
			if !time.Now().Before(renewed) {
				left, renewed = limit, time.Now().Add(time.Minute)
			}
			accepted := left >= cost
			if accepted {
				left -= cost
			}
			w.Header().Set("X-RateLimit-Limit-Tokens", fmt.Sprint(limit))
			w.Header().Set("X-RateLimit-Remaining-Tokens", fmt.Sprint(left))
			w.Header().Set("X-RateLimit-Reset-Tokens", time.Until(renewed).String())
			if !accepted {
				w.WriteHeader(429)
				return
			}
			_, _ = io.WriteString(w, "{}")
		})
		client := &http.Client{Transport: newTransport(base)}
		start := time.Now()
		var answers atomic.Int32
		var group sync.WaitGroup
		for range agents {
			group.Go(func() {
				for range calls {
					req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/chat/completions", bytes.NewReader(make([]byte, 4000)))
					assert.NoError(t, err)
					resp, err := client.Do(withCost(req, 1000))
					assert.NoError(t, err)
					if resp.StatusCode == 200 {
						answers.Add(1)
					}
					assert.NoError(t, resp.Body.Close())
				}
			})
		}
		group.Wait()
		t.Logf("%d requests for %d calls in %v", *requests, agents*calls, time.Since(start))
		assert.EqualValues(t, agents*calls, answers.Load())
	})
}
