package llm

import (
	"context"
	"encoding/json"

	"github.com/gobackoff/retry"
)

// askFor asks until the answer parses, and tells the model what was wrong with the last one.
// ask sends messages, whose roles alternate, and has retries of its own.
func askFor[T any](ctx context.Context, ask func(ctx context.Context, messages []string) (string, error), question string) (T, error) {
	messages := []string{question}
	policy := retry.Policy{MaxAttempts: 3, Backoff: retry.NoDelay{}}
	return retry.DoValue(ctx, policy, func(ctx context.Context) (T, error) {
		var value T
		answer, err := ask(ctx, messages)
		if err != nil {
			return value, retry.Permanent(err) // the client has already retried
		}
		if err := json.Unmarshal([]byte(answer), &value); err != nil {
			messages = []string{question, answer, "This does not parse: " + err.Error() + ". Answer with JSON and nothing else."}
			return value, retry.Transient(err)
		}
		return value, nil
	})
}
