package retrynats

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
)

// A Worker says how messages are handled: by which policy, and what becomes of those that
// are given up. The zero Worker uses the zero [retry.Policy] and has no dead letters. It is
// a plain value that holds no progress; any number of consumers may use one.
type Worker struct {
	// Policy decides after a failure. The package comment says what each of its parts does.
	Policy retry.Policy

	// DeadLetter is the subject to which messages that were given up are published, with
	// what the Header constants name. A stream must store it, and a message is settled only
	// after the stream has. Empty: the message is terminated without a copy.
	DeadLetter string

	// JetStream publishes the dead letters. It may be nil without DeadLetter. If it is set,
	// a panic of the function waits until the server has what was sent about the message.
	JetStream jetstream.JetStream

	// MaxDeliveries gives up messages that have been delivered more often, without a further
	// call of the function. It is for messages that kill their worker before it can report a
	// failure. Deliveries of messages that a worker fetched and did not begin count, too, so
	// leave room: ten times MaxAttempts. 0: no limit.
	MaxDeliveries int

	// OneByOne says that messages are fetched one at a time: with
	// jetstream.PullMaxMessages(1), Next or Fetch(1), or because their order matters and
	// MaxAckPending is 1. Then AckWait may be shorter than AttemptTimeout, and a MaxAckPending
	// of 1 is accepted: see Check.
	OneByOne bool

	// OnError is called when the server could not be told about a message, or did not store
	// its dead letter. The message is not lost, it is delivered again. It must be
	// safe for concurrent use if the handler is. nil: no call.
	OnError func(msg jetstream.Msg, err error)
}

// Handle is Worker.Handle for a Worker that has a Policy only.
func Handle(ctx context.Context, consumer Consumer, policy retry.Policy, fn func(context.Context, jetstream.Msg) error) (jetstream.MessageHandler, error) {
	return Worker{Policy: policy}.Handle(ctx, consumer, fn)
}

// Consumer is the part of a [jetstream.Consumer] or [jetstream.PushConsumer] that is needed
// to check its configuration.
type Consumer interface {
	Info(context.Context) (*jetstream.ConsumerInfo, error)
}

// Handle returns a function for the Consume method of the consumer, and for loops over what
// Fetch, Messages and Next return. For each message it calls fn and tells the server the
// outcome, in the caller's goroutine: Consume handles one message at a time, so call it
// again, or start more workers, to handle several. It is safe for concurrent use if fn is.
//
// Handle first asks the server how the consumer is configured and refuses what [Worker.Check]
// refuses, an invalid policy, a nil fn, and a DeadLetter that no stream stores, that the
// consumer would receive itself, or whose stream forgets duplicates before a crashed
// worker's message comes back. The error lists all of that and matches [retry.ErrInvalid];
// an error of the server is returned as it is.
//
// The contexts of fn are derived from ctx. When ctx ends, a message that is at work is
// delivered again unless it succeeds or fails permanently; later messages are left to other
// workers. Stop the consuming before or with ctx.
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
	h := &handler{Worker: w, ctx: ctx, fn: fn, once: w.Policy, pulse: &pulse{every: ackWait(info.Config) / 4}}
	// What bounds or delays further attempts is decided per delivery; Do makes one.
	h.watched = w.Policy.OnAttempt != nil || w.Policy.AttemptTimeout != 0
	h.counted = w.Policy.OnAttempt != nil || w.Policy.Budget != nil || w.MaxDeliveries > 0
	h.once.MaxAttempts, h.once.MaxElapsed, h.once.Stagger, h.once.Budget, h.once.Hooks = 1, 0, 0, nil, retry.Hooks{}
	return h.handle, nil
}

// handler is a Worker bound to a consumer and a function.
type handler struct {
	Worker
	ctx     context.Context
	fn      func(context.Context, jetstream.Msg) error
	once    retry.Policy // makes one attempt as Policy would
	pulse   *pulse
	watched bool // the context of an attempt is one of its own
	counted bool // the number of a delivery matters before it fails
}

func (h *handler) handle(msg jetstream.Msg) {
	if h.ctx.Err() != nil {
		return // AckWait brings it to another worker; a Nak would bring it back here at once
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

// report passes on what went wrong between worker and server.
func (h *handler) report(msg jetstream.Msg, err error) {
	// The function may have settled the message itself.
	if err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) && h.OnError != nil {
		h.OnError(msg, err)
	}
}
