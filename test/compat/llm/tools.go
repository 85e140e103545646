package llm

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
)

// A Reply is what a model answers: text, or a tool to run.
type Reply struct {
	Text string
	Tool string
	Args string
}

// run lets a model use tools until it answers. Only calls of the model are retried. An error
// after a tool has run is unrepeatable, so that no caller starts the run again.
func run(ctx context.Context, ask func(ctx context.Context, messages []string) (Reply, error), tool func(ctx context.Context, name, args string) string, question string) (string, error) {
	messages := []string{question}
	policy := retry.Policy{MaxAttempts: 5}
	for turn := range 20 {
		reply, err := retry.DoValue(ctx, policy, func(ctx context.Context) (Reply, error) { return ask(ctx, messages) })
		switch {
		case err != nil && turn > 0:
			return "", retry.Unrepeatable(err)
		case err != nil:
			return "", err
		case reply.Tool == "":
			return reply.Text, nil
		}
		result := tool(ctx, reply.Tool, reply.Args) // outside of Do; a failure is a result, too
		messages = append(messages, reply.Tool+" "+reply.Args, result)
	}
	return "", retry.Unrepeatable(errors.New("the model did not answer after 20 tools"))
}
