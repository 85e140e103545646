package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// stream prints the answer to a question as it arrives, and returns what it has printed.
func stream(ctx context.Context, client *http.Client, url, question string, print func(string)) (string, error) {
	body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, question)
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	var answer strings.Builder
	for event, err := range apis.Events(resp, 2*time.Minute) {
		if err != nil {
			return answer.String(), err
		}
		text := textOf(event.Data)
		print(text)
		answer.WriteString(text)
	}
	return answer.String(), nil
}

// textOf returns the text of a chunk.
func textOf(data []byte) string {
	var chunk struct {
		Choices []struct{ Delta struct{ Content string } }
	}
	_ = json.Unmarshal(data, &chunk) // [DONE] is no JSON
	if len(chunk.Choices) == 0 {
		return ""
	}
	return chunk.Choices[0].Delta.Content
}

// streamAll prints an answer whose stream may break: it asks for the rest of an answer that
// has begun.
func streamAll(ctx context.Context, client *http.Client, url, question string, print func(string)) error {
	soFar := ""
	policy := retry.Policy{MaxAttempts: 3}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		ask := question
		if soFar != "" {
			ask += "\n\nContinue this answer exactly where it ends:\n" + soFar
		}
		part, err := stream(ctx, client, url, ask, print)
		soFar += part
		if broken, ok := errors.AsType[*apis.BrokenError](err); ok && broken.Output {
			return retry.Transient(err) // without it, Do would not ask again after output
		}
		return err
	})
}
