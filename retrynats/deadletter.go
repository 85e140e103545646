package retrynats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// The headers added to a dead letter, which also contains the data and all headers of the
// message. Headers of the message that begin with "Nats-" are instructions to the server,
// so they get the prefix "Original-", as do those of an earlier dead letter. The dead letter's Nats-Msg-Id consists of the
// message's stream, consumer, sequence number and time: a stream stores the dead letter
// only once within its duplicate window.
const (
	HeaderReason   = "Dead-Letter-Reason"   // why the message was given up: see retry.Error.ReasonLabel
	HeaderError    = "Dead-Letter-Error"    // the function's error, as one line of at most about 1 kB
	HeaderAttempts = "Dead-Letter-Attempts" // how often the message was delivered
	HeaderSubject  = "Dead-Letter-Subject"  // the subject of the message
	HeaderStream   = "Dead-Letter-Stream"   // the stream of the message
	HeaderConsumer = "Dead-Letter-Consumer" // the consumer of the worker that gave it up
	HeaderSequence = "Dead-Letter-Sequence" // the message's sequence number in its stream
	HeaderTime     = "Dead-Letter-Time"     // when the stream stored the message, as in RFC 3339
	HeaderOmitted  = "Dead-Letter-Omitted"  // what did not fit: "data", or "data and headers" of the message
)

// storeDeadLetter publishes the dead letter and waits until it is stored. It continues if
// the worker's context ends, but JetStream's own timeout applies. The stream is checked
// again, because its configuration may have changed.
func (d *delivery) storeDeadLetter(e *retry.Error) error {
	ctx := context.WithoutCancel(d.ctx)
	sequence := strconv.FormatUint(d.meta.Sequence.Stream, 10)
	faults, err := d.deadLetterFaults(ctx, d.consumer)
	if err == nil {
		err = invalid(faults)
	}
	if err == nil {
		err = d.publish(ctx, d.letter(e))
	}
	if err != nil {
		return fmt.Errorf("dead letter of message %s of stream %s: %w", sequence, d.meta.Stream, err)
	}
	return nil
}

// publish leaves out what makes the letter larger than the server or the stream allows,
// because the message would otherwise be redelivered for ever. The message itself stays in
// its stream as long as that keeps it: HeaderStream and HeaderSequence name it.
func (d *delivery) publish(ctx context.Context, letter *nats.Msg) error {
	_, err := d.JetStream.PublishMsg(ctx, letter)
	if !tooLarge(err) {
		return err
	}
	letter.Data = nil
	letter.Header.Set(HeaderOmitted, "data")
	if _, err = d.JetStream.PublishMsg(ctx, letter); !tooLarge(err) {
		return err
	}
	for name := range letter.Header {
		if !isOurs(name) && name != jetstream.MsgIDHeader {
			delete(letter.Header, name)
		}
	}
	letter.Header.Set(HeaderOmitted, "data and headers")
	_, err = d.JetStream.PublishMsg(ctx, letter)
	return err
}

// tooLarge reports whether a message is above the server's max_payload or the stream's
// MaxMsgSize.
func tooLarge(err error) bool {
	const exceedsMaximum = 10054 // JSStreamMessageExceedsMaximumErr of nats-server 2.10
	refused, ok := errors.AsType[*jetstream.APIError](adapt.Finite(err))
	return errors.Is(adapt.Finite(err), nats.ErrMaxPayload) || ok && refused.ErrorCode == exceedsMaximum
}

// isOurs reports whether a header is one of those above, in any case: a message may bring
// them, too, and readers ignore the case.
func isOurs(name string) bool {
	const prefix = "Dead-Letter-"
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

func (d *delivery) letter(e *retry.Error) *nats.Msg {
	letter := nats.NewMsg(d.DeadLetter)
	letter.Data = d.msg.Data()
	for name, values := range d.msg.Headers() {
		const prefix = "Nats-"
		if isOurs(name) || len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			name = "Original-" + name
		}
		letter.Header[name] = slices.Clone(values)
	}
	for name, value := range map[string]string{
		HeaderReason:   e.ReasonLabel(),
		HeaderError:    line(e.Err.Error()),
		HeaderAttempts: strconv.Itoa(e.Attempts),
		HeaderSubject:  d.msg.Subject(),
		HeaderStream:   d.meta.Stream,
		HeaderConsumer: d.meta.Consumer,
		HeaderSequence: strconv.FormatUint(d.meta.Sequence.Stream, 10),
		HeaderTime:     d.meta.Timestamp.UTC().Format(time.RFC3339Nano),
		// The time distinguishes messages with the same number if the stream was re-created.
		jetstream.MsgIDHeader: fmt.Sprintf("%s/%d", d.id(), d.meta.Timestamp.UnixNano()),
	} {
		letter.Header.Set(name, value)
	}
	return letter
}

// deadLetterFaults checks the dead letters' subject and stream, and that no message is
// removed before it becomes a dead letter. It returns an error only if a request to the
// server fails.
func (w Worker) deadLetterFaults(ctx context.Context, info *jetstream.ConsumerInfo) ([]string, error) {
	switch {
	case w.DeadLetter == "":
		return nil, nil
	case w.JetStream == nil:
		return []string{"DeadLetter needs a JetStream"}, nil
	case strings.ContainsAny(w.DeadLetter, "*>"):
		return []string{fmt.Sprintf("DeadLetter %q has wildcards", w.DeadLetter)}, nil
	}
	name, err := w.JetStream.StreamNameBySubject(ctx, w.DeadLetter)
	switch {
	case errors.Is(adapt.Finite(err), jetstream.ErrStreamNotFound):
		return []string{fmt.Sprintf("no stream stores DeadLetter %q", w.DeadLetter)}, nil
	case err != nil:
		return nil, err
	}
	stream, err := w.JetStream.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	config := stream.CachedInfo().Config
	var faults []string
	for _, fault := range judge(letterSettings, w, config) {
		faults = append(faults, fmt.Sprintf("stream %s cannot keep dead letters: %s", name, fault))
	}
	if name == info.Stream && receives(info.Config, w.DeadLetter) {
		faults = append(faults, fmt.Sprintf("the consumer would receive its own dead letters (%q): give them another stream, or the consumer a filter", w.DeadLetter))
	}
	if again := ackWait(info.Config) + w.Policy.AttemptTimeout; config.Duplicates <= again {
		faults = append(faults, fmt.Sprintf("the duplicate window of stream %s (%v) is not above AckWait and AttemptTimeout (%v): after a crash dead letters would be stored twice", name, config.Duplicates, again))
	}
	work, err := w.JetStream.Stream(ctx, info.Stream)
	switch {
	case errors.Is(adapt.Finite(err), jetstream.ErrStreamNotFound): // the dead letters have another account
		return faults, nil
	case err != nil:
		return nil, err
	}
	return append(faults, workFaults(w.Policy, work.CachedInfo().Config)...), nil
}

func receives(c jetstream.ConsumerConfig, subject string) bool {
	filters := c.FilterSubjects
	if c.FilterSubject != "" {
		filters = append(filters, c.FilterSubject)
	}
	return len(filters) == 0 || slices.ContainsFunc(filters, func(filter string) bool { return matches(filter, subject) })
}

// matches reports whether a subject matches a filter with the wildcards * and >.
func matches(filter, subject string) bool {
	filters, tokens := strings.Split(filter, "."), strings.Split(subject, ".")
	for i, f := range filters {
		switch {
		case i >= len(tokens):
			return false
		case f == ">":
			return true
		case f != "*" && f != tokens[i]:
			return false
		}
	}
	return len(filters) == len(tokens)
}
