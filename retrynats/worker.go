package retrynats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// A Worker defines how messages are handled and what happens to those that are given up. The
// zero Worker uses the zero [retry.Policy] and stores no dead letters. A Worker is a plain
// value without state; any number of consumers may share one.
type Worker struct {
	// Policy decides what happens after a failure. The package comment describes its fields.
	Policy retry.Policy

	// DeadLetter is the subject to which messages that are given up are published, with the
	// headers named by the Header constants. A stream must store and keep it: see Handle,
	// whose checks are repeated for each letter. If storing the dead letter fails, the
	// message is redelivered after the policy's delay, at least a second and at most
	// AckWait. If DeadLetter is empty, messages are terminated without a copy.
	DeadLetter string

	// JetStream publishes the dead letters. It may be nil if DeadLetter is empty. If it is
	// set and the function panics, the connection is flushed before the panic continues: the
	// server receives the outcome even if the program then ends.
	JetStream jetstream.JetStream

	// MaxDeliveries limits the deliveries of a message; 0 means no limit. A message
	// delivered more often is given up without another call of the function. The limit is
	// for messages that crash their worker before it can report a failure. Deliveries that
	// were fetched but not handled also count, so leave room: use ten times MaxAttempts.
	MaxDeliveries int

	// OneByOne declares that messages are fetched one at a time, either with
	// jetstream.PullMaxMessages(1), Next or Fetch(1), or because MaxAckPending is 1 to
	// preserve their order. Check then accepts a MaxAckPending of 1, and an AckWait shorter
	// than AttemptTimeout.
	OneByOne bool

	// OnError, if not nil, is called when the outcome of a message could not be sent to the
	// server or its dead letter could not be stored. The message is not lost: it is
	// redelivered. OnError must be safe for concurrent use if the handler is.
	OnError func(msg jetstream.Msg, err error)
}

// Handle calls [Worker.Handle] on a Worker with only a Policy.
func Handle(ctx context.Context, consumer Consumer, policy retry.Policy, fn func(context.Context, jetstream.Msg) error) (jetstream.MessageHandler, error) {
	return Worker{Policy: policy}.Handle(ctx, consumer, fn)
}

// Consumer is the part of [jetstream.Consumer] and [jetstream.PushConsumer] that Handle uses.
type Consumer interface {
	Info(context.Context) (*jetstream.ConsumerInfo, error)
}

// Handle returns a handler for the consumer's Consume method, or for loops over the messages
// from Fetch, Messages and Next. The handler calls fn for each message and sends the outcome
// to the server, in the caller's goroutine. Consume therefore handles one message at a time;
// to handle several, call Consume again or start more workers. The handler is safe for
// concurrent use if fn is.
//
// Handle requests the consumer's configuration from the server. It returns an error if
//
//   - [Worker.Check] rejects the configuration or the policy,
//   - fn is nil,
//   - DeadLetter is set and JetStream is nil,
//   - no stream stores DeadLetter, or it has wildcards,
//   - the dead letters' stream would lose letters or not accept them: because of interest
//     retention, memory storage, NoAck, an asynchronous PersistMode, MaxMsgSize, a MaxAge
//     below seven days, MaxMsgs, MaxBytes or MaxMsgsPerSubject that remove old messages,
//     a SubjectTransform, or because it is sealed, a mirror or for counters,
//   - HeadersOnly would make the dead letters empty,
//   - the consumer itself would receive its dead letters,
//   - the dead letters' stream has a duplicate window that ends before the message of a
//     crashed worker is redelivered, or
//   - the MaxAge of the messages' stream is below the sum of the policy's delays, so that
//     no letter would remain of an expired message.
//
// The error lists all faults and matches [retry.ErrInvalid]. Errors from the server are
// returned unchanged.
//
// The context of fn is derived from ctx. When ctx ends, the current message is redelivered
// unless fn succeeds, fails permanently or may have taken effect. Later messages are not
// handled; the server delivers them to other workers. Stop consuming when ctx ends, or before.
func (w Worker) Handle(ctx context.Context, consumer Consumer, fn func(context.Context, jetstream.Msg) error) (jetstream.MessageHandler, error) {
	info, err := consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	faults := w.faults(info.Config)
	if fn == nil {
		faults = append(faults, "the function is nil")
	}
	dead, err := w.deadLetterFaults(ctx, info)
	if err != nil {
		return nil, err
	}
	if err := invalid(append(faults, dead...)); err != nil {
		return nil, err
	}
	h := &handler{Worker: w, ctx: ctx, consumer: info, fn: fn, once: w.Policy, ackWait: ackWait(info.Config)}
	h.pulse = &pulse{every: h.ackWait / 4}
	// Do makes a single attempt; delivery.fail decides whether another follows.
	h.watched = w.Policy.OnAttempt != nil || w.Policy.AttemptTimeout != 0
	h.counted = w.Policy.OnAttempt != nil || w.Policy.Budget != nil || w.MaxDeliveries > 0
	h.once.MaxAttempts, h.once.MaxElapsed, h.once.Budget, h.once.Hooks = 1, 0, nil, retry.Hooks{}
	return h.handle, nil
}

type handler struct {
	Worker
	ctx      context.Context
	consumer *jetstream.ConsumerInfo
	fn       func(context.Context, jetstream.Msg) error
	once     retry.Policy // for a single attempt
	ackWait  time.Duration
	pulse    *pulse
	watched  bool // each attempt has its own context
	counted  bool // even successes need the delivery number
}

func (h *handler) handle(msg jetstream.Msg) {
	if h.ctx.Err() != nil {
		return // redelivered after AckWait; after a Nak this worker could get the message at once
	}
	d := &delivery{handler: h, msg: msg, failure: noReturn}
	if h.counted && !d.count() {
		return
	}
	defer d.settle()
	if !d.tooMany() {
		d.attempt()
	}
}

func (h *handler) report(msg jetstream.Msg, err error) {
	// ErrMsgAlreadyAckd: the function has settled the message itself.
	if err != nil && !errors.Is(adapt.Finite(err), jetstream.ErrMsgAlreadyAckd) && h.OnError != nil {
		h.OnError(msg, err)
	}
}
