package llm

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// NewClient returns the client for all calls of models. Make it once, and share it.
func NewClient(base *http.Transport) *http.Client {
	return &http.Client{Transport: apis.Complete(newTransport(base))}
}

// patience is how long the longest answer may take until its first output. A model that thinks
// is silent, and each repetition of its question is paid again.
const patience = 10 * time.Minute

func newTransport(base *http.Transport) *retryhttp.Transport {
	base.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	return &retryhttp.Transport{
		Base:             base,
		Policy:           retry.Policy{MaxAttempts: 5, MaxElapsed: 2 * patience, Backoff: retry.BackoffFunc(delay)},
		Check:            apis.CheckWithin(patience), // how long a stream may have no output; pings are none
		FirstByteTimeout: patience,                   // how long a response may take to begin
		StallTimeout:     patience,                   // how long the next byte of a body may take
		MaxRead:          16 << 20,                   // repeats an answer that breaks off, unless it is a stream
		MayRepeat:        mayRepeat,
	}
}

// delay returns the wait after a failed attempt. An attempt that the client ended because of
// silence is repeated only if it was the first one.
func delay(failed retry.Attempt, u float64) time.Duration {
	if failed.Number > 1 && errors.Is(failed.Err, context.DeadlineExceeded) {
		return -1 // no further attempt
	}
	return waits.Delay(failed, u)
}

var waits = retry.WhenThrottled{
	Throttled: retry.FullJitter{Base: time.Second, Cap: 20 * time.Second},
	Else:      retry.FullJitter{Cap: 20 * time.Second},
}

// mayRepeat reports whether a request may be executed twice. A question to a model may: it
// costs tokens again, and changes nothing.
func mayRepeat(req *http.Request) bool {
	return retryhttp.IsIdempotent(req) || slices.ContainsFunc(questions, func(end string) bool {
		return strings.HasSuffix(req.URL.Path, end)
	})
}

var questions = []string{
	"/chat/completions", "/completions", "/responses", "/embeddings", // OpenAI and most others
	"/messages", "/messages/count_tokens", // Anthropic
	":generateContent", ":streamGenerateContent", ":embedContent", // Google
	"/api/chat", "/api/generate", // Ollama
}

// The SDKs of OpenAI and Anthropic make two retries of their own, unless they are told not to.
// genai makes none by itself.

func newOpenAI(client *http.Client, options ...openaioption.RequestOption) openai.Client {
	return openai.NewClient(append(options, openaioption.WithHTTPClient(client), openaioption.WithMaxRetries(0))...)
}

func newAnthropic(client *http.Client, options ...anthropicoption.RequestOption) anthropic.Client {
	return anthropic.NewClient(append(options, anthropicoption.WithHTTPClient(client), anthropicoption.WithMaxRetries(0))...)
}

func newGenAI(ctx context.Context, client *http.Client, config genai.ClientConfig) (*genai.Client, error) {
	config.HTTPClient = client
	return genai.NewClient(ctx, &config)
}
