package queue

import (
	"context"
	"log"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/segmentio/kafka-go"
)

func handle(ctx context.Context, p retry.Policy, msg jetstream.Msg, work func(context.Context, []byte) error) error {
	if err := msg.Ack(); err != nil { // want `this acknowledges the message before the work is done, so a failure loses it: acknowledge it after the work`
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, msg.Data()) })
}

func whatever(ctx context.Context, p retry.Policy, msg jetstream.Msg, work func(context.Context, []byte) error) error {
	defer msg.Ack() // want `this acknowledges the message even if the work fails`
	return retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, msg.Data()) })
}

func after(ctx context.Context, p retry.Policy, msg jetstream.Msg, work func(context.Context, []byte) error) error {
	if msg.Subject() == "ping" {
		return msg.Ack()
	}
	if len(msg.Data()) == 0 {
		if err := msg.Ack(); err != nil {
			return err
		}
		return nil
	}
	if err := retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, msg.Data()) }); err != nil {
		return msg.NakWithDelay(time.Minute)
	}
	return retry.Do(ctx, p, func(ctx context.Context) error { return msg.DoubleAck(ctx) })
}

func worker(ctx context.Context, consumer jetstream.Consumer, p retry.Policy, work func(context.Context, []byte) error) error {
	_, err := retrynats.Handle(ctx, consumer, p, func(ctx context.Context, msg jetstream.Msg) error {
		if err := msg.DoubleAck(ctx); err != nil { // want `this acknowledges the message before the work is done`
			return err
		}
		return work(ctx, msg.Data())
	})
	if err != nil {
		return err
	}
	_, err = retrynats.Handle(ctx, consumer, p, func(ctx context.Context, msg jetstream.Msg) error {
		if err := work(ctx, msg.Data()); err != nil {
			return err
		}
		return msg.DoubleAck(ctx)
	})
	return err
}

func reads(ctx context.Context, p retry.Policy, work func(context.Context, []byte) error) error {
	group := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{"kafka:9092"}, GroupID: "orders", Topic: "orders"})
	single := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{"kafka:9092"}, Topic: "orders"})
	for {
		message, err := group.ReadMessage(ctx) // want `the client acknowledges each message before the work is done, so a failure loses it: use FetchMessage, and CommitMessages after the work`
		if err != nil {
			return err
		}
		if err := retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, message.Value) }); err != nil {
			return err
		}
		other, err := single.ReadMessage(ctx)
		if err != nil {
			return err
		}
		if err := retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, other.Value) }); err != nil {
			return err
		}
		fetched, err := group.FetchMessage(ctx)
		if err != nil {
			return err
		}
		if err := retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, fetched.Value) }); err != nil {
			return err
		}
		if err := group.CommitMessages(ctx, fetched); err != nil {
			return err
		}
	}
}

func logsOnly(ctx context.Context, p retry.Policy, msg jetstream.Msg, work func(context.Context, []byte) error) error {
	err := retry.Do(ctx, p, func(ctx context.Context) error { return work(ctx, msg.Data()) })
	if err != nil {
		log.Print(err)
	}
	return msg.Ack() // want `the message is acknowledged although the error of retry.Do was only logged, so it is lost`
}
