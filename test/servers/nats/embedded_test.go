package nats_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// embedded is a server that runs inside the test process, without a socket.
type embedded struct {
	server  *server.Server
	options server.Options
}

func startEmbedded(t testing.TB) *embedded {
	e := &embedded{options: server.Options{DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true}}
	e.start(t)
	t.Cleanup(e.stop)
	return e
}

func (e *embedded) start(t testing.TB) {
	t.Helper()
	options := e.options
	s, err := server.NewServer(&options)
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(soon))
	e.server = s
}

func (e *embedded) stop() {
	e.server.Shutdown()
	e.server.WaitForShutdown()
}

// connect opens a new connection, as another worker would.
func (e *embedded) connect(t testing.TB) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect("", nats.InProcessServer(e.server), nats.Timeout(soon))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(soon))
	require.NoError(t, err)
	return js
}

// createConsumer creates the stream WORK with a consumer.
func createConsumer(t testing.TB, js jetstream.JetStream, change func(*jetstream.ConsumerConfig)) jetstream.Consumer {
	t.Helper()
	_, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work.>"}, Retention: jetstream.WorkQueuePolicy})
	require.NoError(t, err)
	config := jetstream.ConsumerConfig{Durable: "worker", AckWait: time.Minute, MaxAckPending: -1, MaxDeliver: -1}
	if change != nil {
		change(&config)
	}
	consumer, err := js.CreateOrUpdateConsumer(t.Context(), "WORK", config)
	require.NoError(t, err)
	return consumer
}

func createDead(t testing.TB, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	stream, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "DEAD", Subjects: []string{"dead.>"}, Duplicates: 10 * time.Minute})
	require.NoError(t, err)
	return stream
}
