package nats_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
)

func refused(t *testing.T, consumer jetstream.Consumer, fault string) {
	t.Helper()
	info, err := consumer.Info(t.Context())
	require.NoError(t, err)
	w := retrynats.Worker{Policy: retry.Policy{AttemptTimeout: time.Second}}
	assert.ErrorContains(t, w.Check(info.Config), fault)
}

// receive returns the next message.
func receive(t *testing.T, consumer jetstream.Consumer) jetstream.Msg {
	t.Helper()
	msg, err := consumer.Next(jetstream.FetchMaxWait(soon))
	require.NoError(t, err)
	return msg
}

// receiveNone waits for half a second, in which no message arrives.
func receiveNone(t *testing.T, consumer jetstream.Consumer) {
	t.Helper()
	_, err := consumer.Next(jetstream.FetchMaxWait(500 * time.Millisecond))
	assert.ErrorIs(t, err, nats.ErrTimeout)
}

// The following tests show that the faults reported by Check cause failures on a real server.

func TestTrapMaxDeliver(t *testing.T) {
	js := startEmbedded(t).connect(t)
	consumer := createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 2 })
	refused(t, consumer, "MaxDeliver (2)")
	publish(t, js, 1)
	for range 2 {
		require.NoError(t, receive(t, consumer).NakWithDelay(1))
	}
	receiveNone(t, consumer)
	assert.Equal(t, 1, left(t, js, "WORK"), "the message is still stored, but never delivered")
}

func TestTrapBackOff(t *testing.T) {
	js := startEmbedded(t).connect(t)
	consumer := createConsumer(t, js, func(c *jetstream.ConsumerConfig) {
		c.BackOff = []time.Duration{10 * time.Second, 11 * time.Second}
	})
	refused(t, consumer, "BackOff")
	publish(t, js, 1)
	require.NoError(t, receive(t, consumer).NakWithDelay(1))
	second := receive(t, consumer)
	start := time.Now()
	require.NoError(t, second.NakWithDelay(1))
	receive(t, consumer)
	assert.GreaterOrEqual(t, time.Since(start), time.Second, "a delay of 1 ns became a second")
}

func TestTrapAckWait(t *testing.T) {
	js := startEmbedded(t).connect(t)
	consumer := createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.AckWait = 500 * time.Millisecond })
	refused(t, consumer, "AckWait (500ms)")
	publish(t, js, 2)
	batch, err := consumer.Fetch(2)
	require.NoError(t, err)
	first, second := <-batch.Messages(), <-batch.Messages()
	// The first message is being handled and gets InProgress. The second one is
	// prefetched and waits.
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		for ctx.Err() == nil {
			_ = first.InProgress()
			time.Sleep(10 * time.Millisecond)
		}
	})
	again := receive(t, consumer)
	for bytes.Equal(first.Data(), again.Data()) { // as if InProgress came too late
		again = receive(t, consumer)
	}
	stop()
	working.Wait()
	assert.Equal(t, second.Data(), again.Data())
}

func TestTrapMaxAckPending(t *testing.T) {
	js := startEmbedded(t).connect(t)
	consumer := createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.MaxAckPending = 1 })
	refused(t, consumer, "MaxAckPending (1)")
	publish(t, js, 2)
	require.NoError(t, receive(t, consumer).NakWithDelay(time.Hour))
	receiveNone(t, consumer) // the second message waits for the first
}
