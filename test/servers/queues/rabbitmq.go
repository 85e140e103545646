package queues

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/retrykeep"
)

// The headers that Rabbit adds to a message that has failed.
const (
	headerFailed   = "Retry-Failed"       // the number of failures
	headerExchange = "Retry-Exchange"     // to which the message was published
	headerKey      = "Retry-Routing-Key"  // with which it was published
	headerReason   = "Dead-Letter-Reason" // see retry.Error.ReasonLabel
	headerError    = "Dead-Letter-Error"
)

// Rabbit consumes a durable queue of RabbitMQ. A message that waits for its next attempt is in one
// of the queues NAME.retry.N, which lead back to the queue, and one that was given up is in
// NAME.dead. Rabbit declares all of them. To handle several messages at a time, run several
// Keepers.
type Rabbit struct {
	URL    string
	Queue  string
	Policy retry.Policy // with an AttemptTimeout below the consumer_timeout of the server, 30 minutes
	Handle func(context.Context, amqp.Delivery) error
}

// Session is for a [retrykeep.Keeper]. When ctx ends, the current message is settled first.
func (r Rabbit) Session(ctx context.Context, up func()) error {
	err := check(r.Policy)
	if err != nil {
		return err
	}
	conn, err := amqp.DialConfig(r.URL, amqp.Config{Heartbeat: 10 * time.Second, Dial: amqp.DefaultDial(10 * time.Second)})
	if err != nil {
		return err
	}
	defer conn.Close() // what was delivered and not settled returns to the queue
	channel, err := conn.Channel()
	if err != nil {
		return err
	}
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	returned := channel.NotifyReturn(make(chan amqp.Return, 1))
	err = r.declare(channel)
	if err != nil {
		return err
	}
	deliveries, err := channel.Consume(r.Queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	up()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d, open := <-deliveries:
			if !open {
				return ended(closed)
			}
			err := r.settle(ctx, channel, returned, d)
			if err != nil {
				return err // the next session declares the queues again, in case that one is missing
			}
		}
	}
}

// ended returns why there are no more deliveries. If the queue was deleted, the channel is open.
func ended(closed <-chan *amqp.Error) error {
	select {
	case err := <-closed:
		if err != nil {
			return err
		}
	default:
	}
	return retrykeep.ErrEnded
}

func (r Rabbit) declare(channel *amqp.Channel) error {
	// Without at-least-once, RabbitMQ moves an expired message without waiting until it is
	// stored, so a message whose wait ends while the server is down is lost.
	leadsTo := func(queue string) amqp.Table {
		return amqp.Table{
			"x-queue-type":              "quorum",
			"x-dead-letter-exchange":    "",
			"x-dead-letter-routing-key": queue,
			"x-dead-letter-strategy":    "at-least-once",
			"x-overflow":                "reject-publish",
		}
	}
	queues := map[string]amqp.Table{
		r.Queue:  leadsTo(r.dead()),
		r.dead(): {"x-queue-type": "quorum"},
	}
	queues[r.Queue]["x-delivery-limit"] = 20 // a message that kills its worker becomes a dead letter
	for n := range rungs {
		queues[r.waiting(n)] = leadsTo(r.Queue)
	}
	for name, arguments := range queues {
		_, err := channel.QueueDeclare(name, true, false, false, false, arguments)
		if err != nil {
			return err
		}
	}
	err := channel.Confirm(false)
	if err != nil {
		return err
	}
	// All messages that a dying worker has fetched count the delivery. With more than one, those
	// that wait behind a message that kills its worker would become dead letters, too.
	return channel.Qos(1, 0, false)
}

// rungs is the number of queues for waits. RabbitMQ ends only the wait of the first message of a
// queue. So queue n is for waits of 2^n to 2^(n+1) seconds: no message is early, and none waits
// twice as long as it should. The first one is for all shorter waits, too, and the last one, from
// 9 hours on, for all longer ones.
const rungs = 16

func (r Rabbit) waiting(n int) string { return fmt.Sprintf("%s.retry.%d", r.Queue, n) }

func (r Rabbit) dead() string { return r.Queue + ".dead" }

// settle handles a message and tells the server what to do with it. The error is the server's.
func (r Rabbit) settle(ctx context.Context, channel *amqp.Channel, returned <-chan amqp.Return, d amqp.Delivery) error {
	failed := restore(&d)
	o := attempt(ctx, r.Policy, d.MessageId, failed+1, func(ctx context.Context) error { return r.Handle(ctx, d) })
	to, next := r.Queue, again(d, failed)
	switch o.Action {
	case adapt.Ack:
		return d.Ack(false)
	case adapt.Redeliver:
		next.Headers[headerFailed] = int32(min(failed+1, math.MaxInt32))
		if o.Wait > 0 {
			ms := min(o.Wait.Milliseconds()+1, math.MaxUint32) // rounded up; the server's longest is 49 days
			to = r.waiting(min(rungs-1, bits.Len64(uint64(ms)/2000)))
			next.Expiration = fmt.Sprint(ms)
		}
	case adapt.DeadLetter:
		to = r.dead()
		next.Headers[headerReason], next.Headers[headerError] = reasonOf(o.Err)
	case adapt.GiveBack: // a Nak would count as a delivery
	}
	err := store(ctx, channel, returned, to, next)
	if err != nil {
		return err
	}
	return d.Ack(false)
}

// store publishes a message to a queue and waits until the server has stored it.
func store(ctx context.Context, channel *amqp.Channel, returned <-chan amqp.Return, queue string, m amqp.Publishing) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	confirmation, err := channel.PublishWithDeferredConfirmWithContext(ctx, "", queue, true, false, m)
	if err != nil {
		return err
	}
	stored, err := confirmation.WaitContext(ctx)
	if err != nil {
		return err
	}
	select {
	case <-returned: // there is no such queue; the server confirms the message all the same
		stored = false
	default:
	}
	if !stored {
		return notStored(queue, errRefused)
	}
	return nil
}

var errRefused = errors.New("the queue is full or does not exist")

// restore sets what a delivery has lost in the queues for waits, and returns the number of its
// failures.
func restore(d *amqp.Delivery) int {
	failed, ok := d.Headers[headerFailed].(int32)
	if !ok || failed < 0 {
		return 0
	}
	exchange, hasExchange := d.Headers[headerExchange].(string)
	key, hasKey := d.Headers[headerKey].(string)
	if hasExchange && hasKey {
		d.Exchange, d.RoutingKey = exchange, key
	}
	return int(failed)
}

// again returns a copy of a message that has failed. It leaves out the headers that RabbitMQ has
// added, the header CC, which would send the copy to other queues, and the user, which has to be
// the one of the connection.
func again(d amqp.Delivery, failed int) amqp.Publishing {
	headers := maps.Clone(d.Headers)
	maps.DeleteFunc(headers, func(name string, _ any) bool {
		return name == "CC" || name == "x-delivery-count" || name == "x-acquired-count" || name == "x-death" ||
			strings.HasPrefix(name, "x-first-death-") || strings.HasPrefix(name, "x-last-death-")
	})
	if headers == nil {
		headers = amqp.Table{}
	}
	headers[headerFailed] = int32(min(failed, math.MaxInt32))
	headers[headerExchange], headers[headerKey] = d.Exchange, d.RoutingKey
	return amqp.Publishing{
		Headers:         headers,
		ContentType:     d.ContentType,
		ContentEncoding: d.ContentEncoding,
		DeliveryMode:    amqp.Persistent,
		Priority:        d.Priority,
		CorrelationId:   d.CorrelationId,
		ReplyTo:         d.ReplyTo,
		MessageId:       d.MessageId,
		Timestamp:       d.Timestamp,
		Type:            d.Type,
		AppId:           d.AppId,
		Body:            d.Body,
	}
}
