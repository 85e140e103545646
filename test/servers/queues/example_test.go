package queues

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
)

// The code of docs/durable.md.
func Example() {
	run := func(ctx context.Context, url string, db any, book func(ctx context.Context, db any, data []byte) error) error {
		consumer := Rabbit{
			URL:    url,
			Queue:  "orders",
			Policy: retry.Policy{Backoff: retry.EqualJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 20, AttemptTimeout: time.Minute},
			Handle: func(ctx context.Context, d amqp.Delivery) error { return book(ctx, db, d.Body) },
		}
		keeper := &retrykeep.Keeper{Policy: retry.Policy{AttemptTimeout: 30 * time.Second}}
		err := keeper.Run(ctx, consumer.Session)
		return err
	}
	_ = run
}
