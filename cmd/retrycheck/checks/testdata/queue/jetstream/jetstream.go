package jetstream

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
	"github.com/nats-io/nats.go/jetstream"
)

var policy = retry.Policy{MaxElapsed: time.Minute}

func consume(ctx context.Context, js jetstream.JetStream, work func(context.Context, []byte) error) error {
	consumer, err := js.CreateOrUpdateConsumer(ctx, "ORDERS", jetstream.ConsumerConfig{Durable: "orders", AckWait: 30 * time.Second})
	if err != nil {
		return err
	}
	_, err = consumer.Consume(func(msg jetstream.Msg) {
		err := retry.Do(ctx, policy, func(ctx context.Context) error { return work(ctx, msg.Data()) }) // want `MaxElapsed 1m0s is longer than the AckWait of 30s`
		if err != nil {
			_ = msg.Nak()
			return
		}
		_ = msg.Ack()
	})
	return err
}
