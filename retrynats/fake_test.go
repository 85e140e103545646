package retrynats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/retrynats"
)

var errOp = errors.New("boom")

// message records what is sent to the server about it.
type message struct {
	jetstream.Msg // unused methods
	meta          jetstream.MsgMetadata
	metaErr       error
	sendErr       error
	header        nats.Header
	data          []byte // nil: "data"

	mu   sync.Mutex
	sent []string
}

// delivered returns a delivery of message 17 of stream ORDERS.
func delivered(times uint64) *message {
	return &message{meta: jetstream.MsgMetadata{
		Stream: "ORDERS", Consumer: "worker", NumDelivered: times,
		Sequence: jetstream.SequencePair{Stream: 17}, Timestamp: time.Now().Add(-time.Minute),
	}}
}

func (m *message) Metadata() (*jetstream.MsgMetadata, error) { return &m.meta, m.metaErr }
func (m *message) Data() []byte {
	if m.data != nil {
		return m.data
	}
	return []byte("data")
}

func (m *message) Headers() nats.Header               { return m.header }
func (m *message) Subject() string                    { return "orders.new" }
func (m *message) Ack() error                         { return m.send("ack") }
func (m *message) InProgress() error                  { return m.send("alive") }
func (m *message) NakWithDelay(d time.Duration) error { return m.send("nak " + d.String()) }
func (m *message) TermWithReason(reason string) error { return m.send("term " + reason) }

func (m *message) send(what string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, what)
	return m.sendErr
}

type consumer jetstream.ConsumerConfig

var good = jetstream.ConsumerConfig{Durable: "worker", MaxAckPending: -1}

func (c consumer) Info(context.Context) (*jetstream.ConsumerInfo, error) {
	return &jetstream.ConsumerInfo{Stream: "ORDERS", Config: jetstream.ConsumerConfig(c)}, nil
}

type server struct {
	jetstream.JetStream // unused methods
	stream              string
	window              time.Duration
	err                 error
	most                int // bytes of a letter, above which tooLarge is the answer; 0: no limit
	tooLarge            error
	letters             []*nats.Msg
}

func (s *server) StreamNameBySubject(context.Context, string) (string, error) {
	if s.stream == "" {
		return "", jetstream.ErrStreamNotFound
	}
	return s.stream, nil
}

func (s *server) Stream(context.Context, string) (jetstream.Stream, error) {
	return stream{window: s.window}, nil
}

func (s *server) PublishMsg(_ context.Context, m *nats.Msg, _ ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if s.err != nil {
		return nil, s.err
	}
	size := len(m.Data)
	for name, values := range m.Header {
		size += len(name) + len(strings.Join(values, ""))
	}
	if s.most != 0 && size > s.most {
		return nil, s.tooLarge
	}
	s.letters = append(s.letters, m)
	return &jetstream.PubAck{Stream: s.stream}, nil
}

type stream struct {
	jetstream.Stream // unused methods
	window           time.Duration
}

func (s stream) CachedInfo() *jetstream.StreamInfo {
	return &jetstream.StreamInfo{Config: jetstream.StreamConfig{Duplicates: s.window}}
}

// handle passes msg to a handler of w and returns what was sent to the server.
func handle(t *testing.T, w retrynats.Worker, msg *message, fn func(context.Context, jetstream.Msg) error) []string {
	t.Helper()
	h, err := w.Handle(t.Context(), consumer(good), fn)
	require.NoError(t, err)
	h(msg)
	return msg.sent
}

func returning(err error) func(context.Context, jetstream.Msg) error {
	return func(context.Context, jetstream.Msg) error { return err }
}

// nak returns the outcome that redelivers message 17 after the policy's delay.
func nak(t *testing.T, p retry.Policy, failed int, err error) string {
	t.Helper()
	wait, reason := adapt.DelayFor(p, "ORDERS/worker/17", failed, err)
	require.NoError(t, reason)
	return fmt.Sprint("nak ", wait)
}
