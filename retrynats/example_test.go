package retrynats_test

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
)

func ExampleWorker_Handle() {
	ctx := context.Background()
	conn, err := nats.Connect(nats.DefaultURL)
	if err != nil {
		panic(err)
	}
	defer conn.Drain() // sends the outcomes that are still buffered
	js, err := jetstream.New(conn)
	if err != nil {
		panic(err)
	}
	consumer, err := js.CreateOrUpdateConsumer(ctx, "ORDERS", jetstream.ConsumerConfig{
		Durable: "billing", MaxAckPending: -1, MaxDeliver: -1,
	})
	if err != nil {
		panic(err)
	}
	worker := retrynats.Worker{
		Policy:     retry.Policy{Backoff: retry.FullJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 10},
		JetStream:  js,
		DeadLetter: "dead.billing",
	}
	handle, err := worker.Handle(ctx, consumer, func(ctx context.Context, msg jetstream.Msg) error {
		return nil // send the bill
	})
	if err != nil {
		panic(err)
	}
	consuming, err := consumer.Consume(handle)
	if err != nil {
		panic(err)
	}
	defer consuming.Stop()
}

// A configuration can be tested without a server.
func ExampleWorker_Check() {
	worker := retrynats.Worker{Policy: retry.Policy{MaxAttempts: 10}}
	fmt.Println(worker.Check(jetstream.ConsumerConfig{
		Durable:       "billing",
		MaxDeliver:    5,
		MaxAckPending: 1,
	}))
	// Output:
	// invalid consumer: MaxDeliver (5) is not above the 10 deliveries that may be needed: the server would silently stop there; set -1; MaxAckPending (1) is too small: if 10 messages a second fail, 256 wait for their redelivery, and the server holds up all others; set -1
}
