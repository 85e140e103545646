package nats_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
	"github.com/gobackoff/retry/test/outages"
)

// TestOutage: no message becomes a dead letter because a call of this module's packages gave
// up in an outage of three deliveries.
func TestOutage(t *testing.T) {
	js := startEmbedded(t).connect(t)
	consumer := createConsumer(t, js, nil)
	dead := createDead(t, js)
	calls := outages.Calls()
	for name := range calls {
		_, err := js.Publish(t.Context(), "work.order", []byte(name))
		require.NoError(t, err)
	}
	var mu sync.Mutex
	deliveries := map[string]int{}
	var done sync.WaitGroup
	done.Add(len(calls))
	worker := retrynats.Worker{
		Policy: retry.Policy{Backoff: retry.Constant(10 * time.Millisecond), MaxAttempts: 10}, JetStream: js, DeadLetter: "dead.order",
		OnError: func(_ jetstream.Msg, err error) { assert.NoError(t, err) },
	}
	worker.Policy.OnGiveUp = func(_ context.Context, e *retry.Error) {
		assert.NoError(t, e)
		done.Done()
	}
	handle, err := worker.Handle(t.Context(), consumer, func(ctx context.Context, msg jetstream.Msg) error {
		name := string(msg.Data())
		mu.Lock()
		deliveries[name]++
		away := deliveries[name] <= 3
		mu.Unlock()
		if away {
			return calls[name](ctx)
		}
		done.Done()
		return nil
	})
	require.NoError(t, err)
	consuming, err := consumer.Consume(handle)
	require.NoError(t, err)
	done.Wait()
	consuming.Stop()
	<-consuming.Closed()
	info, err := dead.Info(t.Context())
	require.NoError(t, err)
	assert.Zero(t, info.State.Msgs)
	for name := range calls {
		assert.Equal(t, 4, deliveries[name], name)
	}
}
