package message

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/segmentio/kafka-go"
)

type message interface {
	Data() []byte
	Ack(ctx context.Context) error
	Nak(ctx context.Context) error
}

var policy = retry.Policy{MaxElapsed: 15 * time.Second}

type mailer struct {
	send func(ctx context.Context, mail []byte) error
	dead func(ctx context.Context, msg message) error
	lost int
}

func (m *mailer) acknowledges(ctx context.Context, msg message) error {
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
	if err != nil {
		slog.ErrorContext(ctx, "mail not sent", "error", err)
	}
	return msg.Ack(ctx) // want `the message is acknowledged although the error of retry.Do was only logged, so it is lost: return, or give the message back, after a failure`
}

func (m *mailer) inIf(ctx context.Context, msgs <-chan message) {
	for msg := range msgs {
		if err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) }); err != nil {
			log.Printf("mail not sent: %v", err)
			m.lost++
		}
		if err := msg.Ack(ctx); err != nil { // want `the message is acknowledged although the error of retry.Do was only logged`
			log.Print(err)
		}
	}
}

func (m *mailer) deferred(ctx context.Context, msg message) {
	defer msg.Ack(ctx) // want `the message is acknowledged although the error of retry.Do was only logged`
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
	if err != nil {
		log.Print(err)
	}
}

// handle returns nothing, so its callers do not know of a failure.
func (m *mailer) handle(ctx context.Context, mail []byte) {
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, mail) })
	if err != nil {
		log.Print(err)
	}
}

func (m *mailer) consumes(ctx context.Context, reader *kafka.Reader) error {
	for {
		msg, err := reader.FetchMessage(ctx)
		if err != nil {
			return err
		}
		m.handle(ctx, msg.Value)
		if err := reader.CommitMessages(ctx, msg); err != nil { // want `the message is acknowledged although the error of retry.Do was only logged`
			return err
		}
	}
}

func (m *mailer) right(ctx context.Context, msgs <-chan message) error {
	for msg := range msgs {
		err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
		if err != nil {
			log.Print(err)
			continue
		}
		_ = msg.Ack(ctx)
	}
	msg := <-msgs
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
	if err != nil {
		log.Print(err)
		return msg.Nak(ctx)
	}
	return msg.Ack(ctx)
}

func (m *mailer) deadLetters(ctx context.Context, msg message) error {
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
	if err != nil {
		log.Print(err)
		if err := m.dead(ctx, msg); err != nil {
			return err
		}
	}
	return msg.Ack(ctx)
}

func (m *mailer) decides(ctx context.Context, msg message) error {
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
	if err != nil {
		log.Print(err)
	}
	if err == nil {
		return msg.Ack(ctx)
	}
	return nil
}

func (m *mailer) metric(ctx context.Context, msg message, notify func(context.Context) error) error {
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Data()) })
	if err != nil {
		return err
	}
	if err := msg.Ack(ctx); err != nil {
		return err
	}
	if err := retry.Do(ctx, policy, notify); err != nil {
		log.Print(err) // the message has been handled
	}
	return nil
}

func (m *mailer) batch(ctx context.Context, reader *kafka.Reader, msgs []kafka.Message) error {
	for _, msg := range msgs {
		err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Value) })
		if err != nil {
			log.Print(err)
			continue
		}
		m.lost--
	}
	return reader.CommitMessages(ctx, msgs...) // want `the message is acknowledged although the error of retry.Do was only logged`
}

func (m *mailer) entries(ctx context.Context, client *sqs.Client, received []types.Message) error {
	var done []types.DeleteMessageBatchRequestEntry
	for _, msg := range received {
		if err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, []byte(*msg.Body)) }); err != nil {
			log.Print(err)
		}
		done = append(done, types.DeleteMessageBatchRequestEntry{Id: msg.MessageId, ReceiptHandle: msg.ReceiptHandle}) // want `the message is acknowledged although the error of retry.Do was only logged`
	}
	_, err := client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{Entries: done})
	return err
}

func (m *mailer) onlyDone(ctx context.Context, reader *kafka.Reader, msgs []kafka.Message) error {
	var done []kafka.Message
	for _, msg := range msgs {
		err := retry.Do(ctx, policy, func(ctx context.Context) error { return m.send(ctx, msg.Value) })
		if err != nil {
			log.Print(err)
			continue
		}
		done = append(done, msg)
	}
	return reader.CommitMessages(ctx, done...)
}

type order struct{ ID string }

func (m *mailer) decoded(ctx context.Context, msg message, book func(context.Context, order) error) error {
	var o order
	if err := json.Unmarshal(msg.Data(), &o); err != nil {
		return err
	}
	if err := retry.Do(ctx, policy, func(ctx context.Context) error { return book(ctx, o) }); err != nil {
		log.Print(err)
	} else {
		log.Print("booked", o.ID)
	}
	return msg.Ack(ctx) // want `the message is acknowledged although the error of retry.Do was only logged`
}

func (m *mailer) notifies(ctx context.Context, msg message, notify func(context.Context, []byte) error) error {
	if err := m.send(ctx, msg.Data()); err != nil {
		return err
	}
	if err := retry.Do(ctx, policy, func(ctx context.Context) error { return notify(ctx, msg.Data()) }); err != nil {
		log.Print(err) // the work has been done
	}
	return msg.Ack(ctx)
}

func (m *mailer) counts(ctx context.Context, msg message, count func(context.Context) error) error {
	if err := retry.Do(ctx, policy, count); err != nil {
		log.Print(err) // this is not about the message
	}
	if err := m.send(ctx, msg.Data()); err != nil {
		return err
	}
	return msg.Ack(ctx)
}

// ack retries the acknowledgment itself.
func (m *mailer) ack(ctx context.Context, msg message) {
	err := retry.Do(ctx, policy, func(ctx context.Context) error { return msg.Ack(ctx) })
	if err != nil {
		log.Print(err)
	}
	_ = msg.Ack(ctx)
}

type shipper struct {
	client *sqs.Client
	ship   func(ctx context.Context, order string) error
	policy retry.Policy
}

func newShipper(client *sqs.Client) *shipper {
	return &shipper{client: client, policy: retry.Policy{MaxElapsed: 2 * time.Minute}}
}

var quick = retry.Policy{MaxElapsed: 10 * time.Second}

func (s *shipper) poll(ctx context.Context) error {
	out, err := s.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{VisibilityTimeout: 30})
	if err != nil {
		return err
	}
	for _, m := range out.Messages {
		err := retry.Do(ctx, s.policy, func(ctx context.Context) error { // want `MaxElapsed 2m0s is longer than the VisibilityTimeout of 30s, after which another consumer gets the message meanwhile`
			return s.ship(ctx, aws.ToString(m.Body))
		})
		if err != nil {
			return err
		}
		err = s.order(ctx, m)
		if err != nil {
			return err
		}
		err = s.body(ctx, aws.ToString(m.Body))
		if err != nil {
			return err
		}
		err = retry.Do(ctx, quick, func(ctx context.Context) error { return s.ship(ctx, "again") })
		if err != nil {
			return err
		}
		err = s.limited(ctx, aws.ToString(m.Body))
		if err != nil {
			return err
		}
		err = retry.Do(ctx, s.policy, func(ctx context.Context) error { // which deletes it
			_, err := s.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{ReceiptHandle: m.ReceiptHandle})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *shipper) order(ctx context.Context, m types.Message) error {
	return retry.Do(ctx, s.policy, func(ctx context.Context) error { return s.ship(ctx, aws.ToString(m.Body)) }) // want `MaxElapsed 2m0s is longer than the VisibilityTimeout of 30s`
}

func (s *shipper) body(ctx context.Context, order string) error {
	return retry.Do(ctx, s.policy, func(ctx context.Context) error { return s.ship(ctx, order) }) // want `MaxElapsed 2m0s is longer than the VisibilityTimeout of 30s`
}

func (s *shipper) limited(ctx context.Context, order string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return retry.Do(ctx, s.policy, func(ctx context.Context) error { return s.ship(ctx, order) })
}

// start is not for a message.
func (s *shipper) start(ctx context.Context) error {
	return retry.Do(ctx, s.policy, func(ctx context.Context) error { return s.ship(ctx, "") })
}

type reading struct{ watts float64 }

type collector struct {
	post    func(context.Context, []reading) (map[int]error, error)
	pending []reading
	later   chan reading
}

var batch = retrybatch.Batch[reading]{MaxItems: 100}

var upserts = retrybatch.Batch[reading]{MaxItems: 100, MayRepeat: func(reading) bool { return true }}

func (c *collector) flush(ctx context.Context) error {
	readings := c.pending
	c.pending = nil
	failed, err := retrybatch.Do(ctx, batch, readings, c.post)
	if err != nil {
		c.pending = append(readings, c.pending...) // want `retrybatch.Do has sent the items that are not in its first result, so these are sent again: keep those of its first result`
		return fmt.Errorf("%d readings not sent: %w", len(failed), err)
	}
	return nil
}

func (c *collector) unchanged(ctx context.Context) error {
	if _, err := retrybatch.Do(ctx, batch, c.pending, c.post); err != nil { // want `after an error, c.pending still has the items that retrybatch.Do has sent, so they are sent again`
		return err
	}
	c.pending = c.pending[:0]
	return nil
}

func (c *collector) sendsBack(ctx context.Context, readings []reading) {
	_, err := retrybatch.Do(ctx, batch, readings, c.post)
	if err != nil {
		for _, r := range readings { // want `retrybatch.Do has sent the items that are not in its first result`
			c.later <- r
		}
	}
}

func (c *collector) requeue(readings []reading) { c.pending = append(c.pending, readings...) }

func (c *collector) requeues(ctx context.Context, readings []reading) {
	_, err := retrybatch.Do(ctx, batch, readings, c.post)
	if err != nil {
		log.Print(err)
		c.requeue(readings) // want `retrybatch.Do has sent the items that are not in its first result`
	}
}

func (c *collector) rightly(ctx context.Context) error {
	readings := c.pending
	c.pending = nil
	failed, err := retrybatch.Do(ctx, batch, readings, c.post)
	for _, f := range failed {
		if f.Fate == retrybatch.GivenUp || f.Fate == retrybatch.NotSent {
			c.pending = append(c.pending, f.Item)
		}
	}
	return err
}

func (c *collector) idempotent(ctx context.Context) error {
	readings := c.pending
	c.pending = nil
	_, err := retrybatch.Do(ctx, upserts, readings, c.post)
	if err != nil {
		c.pending = append(readings, c.pending...)
	}
	return err
}

func (c *collector) reports(ctx context.Context, readings []reading) error {
	_, err := retrybatch.Do(ctx, batch, readings, c.post)
	if err != nil {
		log.Print(len(readings), err)
	}
	c.pending = nil
	return err
}
