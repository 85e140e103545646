package nats_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/retrynats"
)

var (
	errOp = errors.New("boom")
	quick = retry.Policy{Backoff: retry.FullJitter{Base: 20 * time.Millisecond, Cap: 100 * time.Millisecond}, MaxAttempts: 4}
)

// soon is the time limit for everything that should happen quickly, on a machine that may
// stall.
const soon = 2 * time.Minute

// inUnits runs a test whose workers have to be faster than the server's AckWait, which the
// test measures in units. If the machine stalls for too long, the unit grows.
func inUnits(t *testing.T, test func(unit time.Duration) error) {
	t.Helper()
	var err error
	for unit := 100 * time.Millisecond; unit < 15*time.Second; unit *= 5 {
		if err = test(unit); err == nil {
			return
		}
		t.Logf("with units of %v: %v", unit, err)
	}
	t.Fatal(err)
}

func publish(t testing.TB, js jetstream.JetStream, n int) {
	t.Helper()
	for i := range n {
		_, err := js.Publish(t.Context(), "work.do", []byte(strconv.Itoa(i)))
		require.NoError(t, err)
	}
}

func consume(t testing.TB, w retrynats.Worker, consumer jetstream.Consumer, fn func(context.Context, jetstream.Msg) error, opts ...jetstream.PullConsumeOpt) jetstream.ConsumeContext {
	t.Helper()
	handle, err := w.Handle(t.Context(), consumer, fn)
	require.NoError(t, err)
	consuming, err := consumer.Consume(handle, opts...)
	require.NoError(t, err)
	t.Cleanup(consuming.Stop)
	return consuming
}

func left(t testing.TB, js jetstream.JetStream, name string) int {
	stream, err := js.Stream(t.Context(), name)
	require.NoError(t, err)
	return int(stream.CachedInfo().State.Msgs)
}

func untilEmpty(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	require.Eventually(t, func() bool { return left(t, js, "WORK") == 0 }, soon, 5*time.Millisecond)
}

// TestDelays: a message that fails is redelivered after the policy's delay, never earlier,
// until it is given up. Then only its dead letter remains.
func TestDelays(t *testing.T) {
	s := startEmbedded(t)
	js := s.connect(t)
	consumer := createConsumer(t, js, nil)
	dead := createDead(t, js)
	publish(t, js, 20)
	var mu sync.Mutex
	due := map[string]time.Time{}
	w := retrynats.Worker{JetStream: js, DeadLetter: "dead.work", Policy: quick}
	consume(t, w, consumer, func(_ context.Context, msg jetstream.Msg) error {
		meta, err := msg.Metadata()
		require.NoError(t, err)
		id := fmt.Sprintf("WORK/worker/%d", meta.Sequence.Stream)
		mu.Lock()
		defer mu.Unlock()
		assert.False(t, time.Now().Before(due[id]), "delivery %d of message %s is early", meta.NumDelivered, id)
		if wait, reason := adapt.DelayFor(quick, id, int(meta.NumDelivered), errOp); reason == nil {
			due[id] = time.Now().Add(wait)
		}
		return errOp
	})
	untilEmpty(t, js)
	assert.Len(t, due, 20)
	require.Equal(t, 20, left(t, js, "DEAD"))
	for seq := range uint64(20) {
		letter, err := dead.GetMsg(t.Context(), seq+1)
		require.NoError(t, err)
		assert.Equal(t, "4", letter.Header.Get(retrynats.HeaderAttempts))
		assert.Equal(t, "attempts", letter.Header.Get(retrynats.HeaderReason))
		assert.Equal(t, "boom", letter.Header.Get(retrynats.HeaderError))
	}
}

// TestSameWait: two workers with separate connections, and a worker after a restart of the
// server, compute the same delays.
func TestSameWait(t *testing.T) {
	s := startEmbedded(t)
	js := s.connect(t)
	createConsumer(t, js, nil)
	const n = 30
	publish(t, js, n)
	policy := retry.Policy{Backoff: retry.DecorrelatedJitter{Base: 5 * time.Millisecond, Cap: time.Second}, MaxAttempts: 6}
	type key struct {
		seq uint64
		k   int
	}
	var mu sync.Mutex
	workersOf := map[int]int{}
	waits := map[key]time.Duration{}
	run := func(until func() bool, ids ...int) {
		var running []jetstream.ConsumeContext
		var all sync.WaitGroup // of the workers, each of which handles at least one message
		all.Add(len(ids))
		for _, id := range ids {
			begin := sync.OnceFunc(all.Done)
			consumer, err := s.connect(t).Consumer(t.Context(), "WORK", "worker")
			require.NoError(t, err)
			var seq uint64
			w := retrynats.Worker{Policy: policy.With(retry.Hooks{OnRetry: func(_ context.Context, a retry.Attempt, wait time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				waits[key{seq, a.Number}] = wait
				workersOf[id]++
			}})}
			running = append(running, consume(t, w, consumer, func(_ context.Context, msg jetstream.Msg) error {
				meta, err := msg.Metadata()
				require.NoError(t, err)
				seq = meta.Sequence.Stream
				begin()
				all.Wait()
				return errOp
			}, jetstream.PullMaxMessages(2)))
		}
		require.Eventually(t, until, soon, 5*time.Millisecond)
		for _, c := range running {
			c.Drain()
			<-c.Closed()
		}
	}
	run(func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(waits) >= 2*n
	}, 1, 2)
	s.stop()
	s.start(t)
	after := s.connect(t)
	publish(t, after, 1)
	run(func() bool { return left(t, after, "WORK") == 0 }, 3)
	for at, wait := range waits {
		want, reason := adapt.DelayFor(policy, fmt.Sprintf("WORK/worker/%d", at.seq), at.k, errOp)
		assert.NoError(t, reason)
		assert.Equal(t, want, wait, "%+v", at)
	}
	assert.Len(t, workersOf, 3, "all workers took part")
}

// TestKeptAlive: a message is handled once, even if that takes longer than AckWait.
func TestKeptAlive(t *testing.T) {
	inUnits(t, func(unit time.Duration) error {
		js := startEmbedded(t).connect(t)
		consumer := createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.AckWait = 3 * unit })
		publish(t, js, 1)
		var begun atomic.Int64
		for range 2 {
			consume(t, retrynats.Worker{OneByOne: true}, consumer, func(context.Context, jetstream.Msg) error {
				begun.Add(1)
				time.Sleep(10 * unit)
				return nil
			}, jetstream.PullMaxMessages(1))
		}
		untilEmpty(t, js)
		return times(1, &begun)
	})
}

// TestStuckWorker: if a function ignores its timeout, another worker gets the message.
func TestStuckWorker(t *testing.T) {
	inUnits(t, func(unit time.Duration) error {
		js := startEmbedded(t).connect(t)
		consumer := createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.AckWait = 2 * unit })
		publish(t, js, 1)
		var begun atomic.Int64
		free := make(chan struct{})
		t.Cleanup(func() { close(free) })
		for range 2 {
			w := retrynats.Worker{Policy: retry.Policy{AttemptTimeout: unit / 2}, OneByOne: true}
			consume(t, w, consumer, func(context.Context, jetstream.Msg) error {
				if begun.Add(1) == 1 {
					<-free
				}
				return nil
			}, jetstream.PullMaxMessages(1))
		}
		untilEmpty(t, js)
		return times(2, &begun)
	})
}

func times(want int64, got *atomic.Int64) error {
	if n := got.Load(); n != want {
		return fmt.Errorf("the message was handled %d times, want %d", n, want)
	}
	return nil
}

// TestFullDeadLetterStream: messages stay in their stream until their dead letters can be
// stored.
func TestFullDeadLetterStream(t *testing.T) {
	s := startEmbedded(t)
	js := s.connect(t)
	consumer := createConsumer(t, js, nil)
	dead, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "DEAD", Subjects: []string{"dead.>"}, MaxMsgs: 1, Discard: jetstream.DiscardNew})
	require.NoError(t, err)
	_, err = js.Publish(t.Context(), "dead.other", nil)
	require.NoError(t, err)
	publish(t, js, 1)
	refused := make(chan error, 100)
	w := retrynats.Worker{JetStream: js, DeadLetter: "dead.work", OnError: func(_ jetstream.Msg, err error) { refused <- err }}
	consume(t, w, consumer, func(context.Context, jetstream.Msg) error { return retry.Permanent(errOp) })
	require.ErrorContains(t, <-refused, "maximum messages exceeded")
	require.Equal(t, 1, left(t, js, "WORK"))
	require.NoError(t, dead.Purge(t.Context()))
	untilEmpty(t, js)
	letter, err := dead.GetLastMsgForSubject(t.Context(), "dead.work")
	require.NoError(t, err)
	assert.Equal(t, "permanent", letter.Header.Get(retrynats.HeaderReason))
}

// TestPoisonAsLargeAsAllowed: a message of exactly max_payload becomes a dead letter without
// its data; it was executed once a second for ever.
func TestPoisonAsLargeAsAllowed(t *testing.T) {
	s := startEmbedded(t)
	js := s.connect(t)
	consumer := createConsumer(t, js, nil)
	dead, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "DEAD", Subjects: []string{"dead.>"}})
	require.NoError(t, err)
	most := js.Conn().MaxPayload()
	_, err = js.Publish(t.Context(), "work.poison", make([]byte, most))
	require.NoError(t, err)
	w := retrynats.Worker{JetStream: js, DeadLetter: "dead.work", OnError: func(_ jetstream.Msg, err error) { t.Error(err) }}
	consume(t, w, consumer, func(context.Context, jetstream.Msg) error { return retry.Permanent(errOp) })
	untilEmpty(t, js)
	letter, err := dead.GetLastMsgForSubject(t.Context(), "dead.work")
	require.NoError(t, err)
	assert.Equal(t, "data", letter.Header.Get(retrynats.HeaderOmitted))
	assert.Empty(t, letter.Data)
}

// losing is a JetStream whose connection is closed once it has stored a dead letter.
type losing struct{ jetstream.JetStream }

func (l losing) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := l.JetStream.PublishMsg(ctx, m, opts...)
	l.Conn().Close()
	return ack, err
}

// TestStoredOnce: if a worker is lost between storing the dead letter and terminating the
// message, another worker handles the message, and its dead letter is dropped as a duplicate.
// Headers that are instructions to the server do not interfere.
func TestStoredOnce(t *testing.T) {
	s := startEmbedded(t)
	js := s.connect(t)
	createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.AckWait = 300 * time.Millisecond })
	dead := createDead(t, js)
	msg := nats.NewMsg("work.do")
	msg.Header = nats.Header{"Nats-Msg-Id": {"mine"}, "Nats-Expected-Stream": {"WORK"}, "Trace": {"a", "b"}}
	_, err := js.PublishMsg(t.Context(), msg)
	require.NoError(t, err)
	var begun atomic.Int64
	for _, wrap := range []func(jetstream.JetStream) jetstream.JetStream{
		func(js jetstream.JetStream) jetstream.JetStream { return losing{js} },
		func(js jetstream.JetStream) jetstream.JetStream { return js },
	} {
		mine := wrap(s.connect(t))
		consumer, err := mine.Consumer(t.Context(), "WORK", "worker")
		require.NoError(t, err)
		before := begun.Load()
		consume(t, retrynats.Worker{JetStream: mine, DeadLetter: "dead.work"}, consumer, func(context.Context, jetstream.Msg) error {
			begun.Add(1)
			return retry.Permanent(errOp)
		})
		require.Eventually(t, func() bool { return begun.Load() > before }, soon, time.Millisecond)
	}
	untilEmpty(t, js)
	assert.GreaterOrEqual(t, begun.Load(), int64(2))
	assert.Equal(t, 1, left(t, js, "DEAD"))
	letter, err := dead.GetMsg(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, letter.Header["Trace"])
	assert.Equal(t, "mine", letter.Header.Get("Original-Nats-Msg-Id"))
}

// TestLoops: the handler works with every way of receiving messages.
func TestLoops(t *testing.T) {
	for name, receive := range map[string]func(*testing.T, jetstream.Consumer, jetstream.MessageHandler){
		"Fetch": func(t *testing.T, c jetstream.Consumer, handle jetstream.MessageHandler) {
			batch, err := c.Fetch(10)
			require.NoError(t, err)
			for msg := range batch.Messages() {
				handle(msg)
			}
			require.NoError(t, batch.Error())
		},
		"Messages": func(t *testing.T, c jetstream.Consumer, handle jetstream.MessageHandler) {
			messages, err := c.Messages(jetstream.StopAfter(10))
			require.NoError(t, err)
			for range 10 {
				msg, err := messages.Next()
				require.NoError(t, err)
				handle(msg)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := startEmbedded(t).connect(t)
			consumer := createConsumer(t, js, nil)
			publish(t, js, 10)
			handle, err := retrynats.Handle(t.Context(), consumer, quick, func(context.Context, jetstream.Msg) error { return nil })
			require.NoError(t, err)
			receive(t, consumer, handle)
			untilEmpty(t, js)
		})
	}
	t.Run("push", func(t *testing.T) {
		js := startEmbedded(t).connect(t)
		createConsumer(t, js, nil)
		require.NoError(t, js.DeleteConsumer(t.Context(), "WORK", "worker"))
		publish(t, js, 10)
		consumer, err := js.CreatePushConsumer(t.Context(), "WORK", jetstream.ConsumerConfig{Durable: "push", DeliverSubject: "inbox.work", MaxAckPending: -1})
		require.NoError(t, err)
		handle, err := retrynats.Handle(t.Context(), consumer, quick, func(context.Context, jetstream.Msg) error { return nil })
		require.NoError(t, err)
		consuming, err := consumer.Consume(handle)
		require.NoError(t, err)
		defer consuming.Stop()
		untilEmpty(t, js)
	})
}
