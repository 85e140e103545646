package extended

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
	"github.com/nats-io/nats.go/jetstream"
)

var policy = retry.Policy{MaxElapsed: time.Minute}

var config = jetstream.ConsumerConfig{Durable: "orders", AckWait: 30 * time.Second}

// Work asks for more time before each attempt.
func Work(ctx context.Context, msg jetstream.Msg, work func(context.Context, []byte) error) error {
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		err := msg.InProgress()
		if err != nil {
			return err
		}
		return work(ctx, msg.Data())
	})
}
