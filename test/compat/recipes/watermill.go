package recipes

import (
	"context"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/gobackoff/retry"
)

// RetryMessages is a middleware for Watermill.
func RetryMessages(policy retry.Policy) message.HandlerMiddleware {
	return func(handle message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			return retry.DoValue(m.Context(), policy, func(context.Context) ([]*message.Message, error) { return handle(m) })
		}
	}
}
