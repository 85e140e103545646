package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/retrynats"
	"github.com/nats-io/nats.go/jetstream"
)

type invoice struct{ ID, To string }

func serves(ctx context.Context, consumer jetstream.Consumer, p retry.Policy, send func(ctx context.Context, id string) error) error {
	_, err := retrynats.Handle(ctx, consumer, p, func(ctx context.Context, msg jetstream.Msg) error {
		var in invoice
		err := json.Unmarshal(msg.Data(), &in)
		if err != nil {
			return retry.Permanent(err)
		}
		err = msg.Ack() // want `this acknowledges the message before the work is done, so a failure loses it`
		if err != nil {
			return err
		}
		return send(ctx, in.ID)
	})
	if err != nil {
		return err
	}
	_, err = retrynats.Handle(ctx, consumer, p, func(ctx context.Context, msg jetstream.Msg) error {
		id := string(msg.Data())
		defer msg.Ack() // want `this acknowledges the message even if the work fails`
		if id == "" {
			return retry.Permanent(errors.New("no id"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = retrynats.Handle(ctx, consumer, p, func(ctx context.Context, msg jetstream.Msg) error {
		if msg.Subject() == "ping" {
			_ = msg.Ack()
			return nil
		}
		switch msg.Subject() {
		case "pong":
			return msg.Ack()
		}
		id := string(msg.Data())
		if err := send(ctx, id); err != nil {
			return err
		}
		err := msg.DoubleAck(ctx)
		if err != nil {
			return err
		}
		return nil
	})
	return err
}

func converts(ctx context.Context, stream jetstream.Stream, p retry.Policy, convert func(context.Context, jetstream.Msg) error) error {
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "converter", MaxAckPending: -1})
	if err != nil {
		return err
	}
	worker := retrynats.Worker{Policy: p, OneByOne: true}
	handle, err := worker.Handle(ctx, consumer, convert)
	if err != nil {
		return err
	}
	_, err = consumer.Consume(handle) // want `the Worker says OneByOne, but Consume fetches 500 messages`
	if err != nil {
		return err
	}
	_, err = consumer.Consume(handle, jetstream.PullMaxMessages(1))
	if err != nil {
		return err
	}
	many, err := retrynats.Worker{Policy: p}.Handle(ctx, consumer, convert)
	if err != nil {
		return err
	}
	_, err = consumer.Consume(many)
	return err
}

type task struct {
	Kind, ID string
	topic    string
}

func (t *task) Topic() string { return t.topic }

func delays(p retry.Policy, t *task, failed int, err error) []time.Duration {
	kind, _ := adapt.DelayFor(p, t.Kind, failed, err)     // want `many jobs have this id, so those that failed together are retried together`
	topic, _ := adapt.DelayFor(p, t.Topic(), failed, err) // want `many jobs have this id`
	same, _ := adapt.DelayFor(p, "task", failed, err)     // want `many jobs have this id`
	own, _ := adapt.DelayFor(p, t.ID, failed, err)
	both, _ := adapt.DelayFor(p, t.Kind+"/"+t.ID, failed, err)
	return []time.Duration{kind, topic, same, own, both}
}
