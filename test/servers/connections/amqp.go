package connections

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/gobackoff/retry/retrykeep"
)

// AMQP returns a session that consumes a durable queue. Heartbeats notice a dead connection.
// The broker delivers a message again if it was not acknowledged when the session ended.
func AMQP(url, queue string, handle func(amqp.Delivery) error) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error {
		conn, err := amqp.DialConfig(url, amqp.Config{Heartbeat: 10 * time.Second, Dial: amqp.DefaultDial(10 * time.Second)})
		if err != nil {
			return err
		}
		defer conn.Close()
		channel, err := conn.Channel()
		if err != nil {
			return err
		}
		closed := channel.NotifyClose(make(chan *amqp.Error, 1))
		if _, err := channel.QueueDeclare(queue, true, false, false, false, nil); err != nil {
			return err
		}
		deliveries, err := channel.ConsumeWithContext(ctx, queue, "", false, false, false, false, nil)
		if err != nil {
			return err
		}
		up()
		for delivery := range deliveries {
			if err := handle(delivery); err != nil {
				return err
			}
			if err := delivery.Ack(false); err != nil {
				return err
			}
		}
		select {
		case err := <-closed:
			if err != nil {
				return err
			}
			return retrykeep.ErrEnded
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
