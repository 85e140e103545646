package llm

import (
	"context"
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

func newTransport(base *http.Transport) *retryhttp.Transport {
	base.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	return &retryhttp.Transport{
		Base:             base,
		Policy:           retry.Policy{MaxAttempts: 5, MaxElapsed: 10 * time.Minute},
		Check:            apis.CheckWithin(time.Minute), // a stream is silent before its first output
		FirstByteTimeout: 5 * time.Minute,               // an answer that is no stream takes so long
		StallTimeout:     2 * time.Minute,               // a body is silent
		MayRepeat:        mayRepeat,
	}
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
