package nats_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
)

// TestSettingsOfServer: the client, whose settings retrynats judges, knows all of the server's.
func TestSettingsOfServer(t *testing.T) {
	unknown := func(server, client reflect.Type) (names []string) {
		known := map[string]bool{}
		for field := range client.Fields() {
			known[jsonName(field)] = true
		}
		for field := range server.Fields() {
			if name := jsonName(field); !known[name] {
				names = append(names, name)
			}
		}
		return names
	}
	assert.Empty(t, unknown(reflect.TypeFor[server.StreamConfig](), reflect.TypeFor[jetstream.StreamConfig]()))
	// Both mark consumers that servers create for their own streams.
	assert.Equal(t, []string{"direct", "sourcing"}, unknown(reflect.TypeFor[server.ConsumerConfig](), reflect.TypeFor[jetstream.ConsumerConfig]()))
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

const (
	manyLetters = 10
	noFault     = ""
)

// A setup changes one or two settings of the working configuration. Its fault is what Handle
// says of it; with noFault, all letters have to be kept.
type setup struct {
	name     string
	dead     func(*jetstream.StreamConfig)
	work     func(*jetstream.StreamConfig)
	consumer func(*jetstream.ConsumerConfig)
	reader   func(*jetstream.ConsumerConfig) // of the dead letters
	fault    string
}

type (
	stream   = jetstream.StreamConfig
	consumer = jetstream.ConsumerConfig
)

func setups() []setup {
	dead := func(name, fault string, change func(c *stream)) setup {
		return setup{name: name, fault: fault, dead: change}
	}
	work := func(name, fault string, change func(c *stream)) setup {
		return setup{name: name, fault: fault, work: change}
	}
	cons := func(name, fault string, change func(c *consumer)) setup {
		return setup{name: name, fault: fault, consumer: change}
	}
	anyReader := func(*consumer) {}
	return []setup{
		dead("the defaults", noFault, func(*stream) {}),
		dead("interest without a reader", "Retention is interest", func(c *stream) { c.Retention = jetstream.InterestPolicy }),
		{name: "interest with a reader", fault: "Retention is interest", dead: func(c *stream) { c.Retention = jetstream.InterestPolicy }, reader: anyReader},
		{name: "interest with a reader of another subject", fault: "Retention is interest", dead: func(c *stream) { c.Retention = jetstream.InterestPolicy },
			reader: func(c *consumer) { c.FilterSubject = "dead.other" }},
		dead("work queue without a reader", noFault, func(c *stream) { c.Retention = jetstream.WorkQueuePolicy }),
		{name: "work queue with a reader", dead: func(c *stream) { c.Retention = jetstream.WorkQueuePolicy }, reader: anyReader},
		dead("one message per subject", "MaxMsgsPerSubject (1)", func(c *stream) { c.MaxMsgsPerSubject = 1 }),
		dead("one message per subject, new ones refused", noFault, func(c *stream) {
			c.MaxMsgsPerSubject, c.Discard, c.DiscardNewPerSubject = 1, jetstream.DiscardNew, true
			c.MaxMsgs = 1000
		}),
		dead("one message per subject, new ones refused at MaxMsgs", "MaxMsgsPerSubject (1)", func(c *stream) {
			c.MaxMsgsPerSubject, c.Discard, c.MaxMsgs = 1, jetstream.DiscardNew, 1000
		}),
		dead("three messages", "MaxMsgs or MaxBytes", func(c *stream) { c.MaxMsgs = 3 }),
		dead("three messages, new ones refused", noFault, func(c *stream) { c.MaxMsgs, c.Discard = 3, jetstream.DiscardNew }),
		dead("a thousand bytes", "MaxMsgs or MaxBytes", func(c *stream) { c.MaxBytes = 1000 }),
		dead("a thousand bytes, new ones refused", noFault, func(c *stream) { c.MaxBytes, c.Discard = 1000, jetstream.DiscardNew }),
		dead("a short age", "MaxAge (1s)", func(c *stream) { c.MaxAge, c.Duplicates = time.Second, time.Second }),
		dead("an age of a day", "MaxAge (24h0m0s)", func(c *stream) { c.MaxAge = 24 * time.Hour }),
		dead("an age of weeks", noFault, func(c *stream) { c.MaxAge = 14 * 24 * time.Hour }),
		dead("small messages", "MaxMsgSize (100)", func(c *stream) { c.MaxMsgSize = 100 }),
		dead("no acknowledgments", "NoAck", func(c *stream) { c.NoAck = true }),
		dead("memory", "Storage is memory", func(c *stream) { c.Storage = jetstream.MemoryStorage }),
		dead("asynchronous writes", "PersistMode is async", func(c *stream) { c.PersistMode = jetstream.AsyncPersistMode }),
		dead("counters", "for counters", func(c *stream) { c.AllowMsgCounter = true; c.AllowDirect = true }),
		dead("a transform", "SubjectTransform", func(c *stream) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: "dead.>", Destination: "gone.>"}
		}),
		dead("a short duplicate window", "duplicate window", func(c *stream) { c.Duplicates = time.Second }),
		dead("other subjects", `no stream stores DeadLetter "dead.work"`, func(c *stream) { c.Subjects = []string{"dead.other"} }),
		dead("TTL and markers", noFault, func(c *stream) { c.AllowMsgTTL, c.SubjectDeleteMarkerTTL = true, time.Second }),
		dead("rollups", noFault, func(c *stream) { c.AllowRollup = true }),
		dead("schedules", noFault, func(c *stream) { c.AllowMsgSchedules = true }),
		dead("batches", noFault, func(c *stream) { c.AllowAtomicPublish, c.AllowBatchPublish = true, true }),
		dead("direct reads, compressed, deny deletes", noFault, func(c *stream) {
			c.AllowDirect, c.Compression, c.DenyDelete, c.DenyPurge = true, jetstream.S2Compression, true, true
		}),
		dead("republished", noFault, func(c *stream) { c.RePublish = &jetstream.RePublish{Source: ">", Destination: "copy.>"} }),
		dead("a first number", noFault, func(c *stream) { c.FirstSeq = 1000 }),
		dead("limits of readers", noFault, func(c *stream) {
			c.ConsumerLimits = jetstream.StreamConsumerLimits{InactiveThreshold: time.Second, MaxAckPending: 1}
			c.MaxConsumers = 1
		}),
		work("interest", noFault, func(c *stream) { c.Retention = jetstream.InterestPolicy }),
		work("limits", noFault, func(c *stream) { c.Retention = jetstream.LimitsPolicy }),
		work("memory of the messages", noFault, func(c *stream) { c.Storage = jetstream.MemoryStorage }),
		work("messages that expire first", "the MaxAge of stream WORK (100ms)", func(c *stream) { c.MaxAge, c.Duplicates = 100*time.Millisecond, 100*time.Millisecond }),
		work("messages that expire later", noFault, func(c *stream) { c.MaxAge = time.Hour }),
		work("limits of consumers", "InactiveThreshold (1m0s)", func(c *stream) { c.ConsumerLimits.InactiveThreshold = time.Minute }),
		cons("headers only", "HeadersOnly", func(c *consumer) { c.HeadersOnly = true }),
		cons("forgotten when idle", "InactiveThreshold (1m0s)", func(c *consumer) { c.InactiveThreshold = time.Minute }),
		cons("in memory", "MemoryStorage", func(c *consumer) { c.MemoryStorage = true }),
		cons("ephemeral", "not durable", func(c *consumer) { c.Durable, c.Name = "", "worker" }),
		cons("few deliveries", "MaxDeliver (2)", func(c *consumer) { c.MaxDeliver = 2 }),
		{name: "acknowledging nothing", fault: "AckPolicy is AckNone", work: func(c *stream) { c.Retention = jetstream.LimitsPolicy },
			consumer: func(c *consumer) { c.AckPolicy = jetstream.AckNonePolicy }},
		cons("waits of its own", "BackOff", func(c *consumer) { c.BackOff = []time.Duration{time.Second} }),
		cons("small requests", noFault, func(c *consumer) { c.MaxRequestBatch, c.MaxRequestExpires = 1000, soon }),
		cons("filtered", noFault, func(c *consumer) { c.FilterSubjects = []string{"work.do", "work.more"} }),
	}
}

// TestLettersKept: ten messages fail for good. Either Handle refuses the configuration, or
// every message becomes a letter with its data that is still there after a restart of the
// server, or stays in its stream.
func TestLettersKept(t *testing.T) {
	refused, kept := 0, 0
	for _, s := range setups() {
		t.Run(s.name, func(t *testing.T) {
			if s.fault == noFault {
				kept++
			} else {
				refused++
			}
			s.run(t)
		})
	}
	t.Logf("%d configurations: %d refused, %d keep all letters", refused+kept, refused, kept)
}

func (s setup) run(t *testing.T) {
	e := startEmbedded(t)
	js := e.connect(t)
	deadConfig := stream{Name: "DEAD", Subjects: []string{"dead.>"}, Duplicates: 10 * time.Minute}
	workConfig := stream{Name: "WORK", Subjects: []string{"work.>"}, Retention: jetstream.WorkQueuePolicy}
	config := consumer{Durable: "worker", AckWait: time.Minute, MaxAckPending: -1, MaxDeliver: -1}
	change(s.dead, &deadConfig)
	change(s.work, &workConfig)
	change(s.consumer, &config)
	for _, c := range []stream{deadConfig, workConfig} {
		_, err := js.CreateStream(t.Context(), c)
		require.NoError(t, err)
	}
	if s.reader != nil {
		reader := consumer{Durable: "reader"}
		s.reader(&reader)
		_, err := js.CreateConsumer(t.Context(), "DEAD", reader)
		require.NoError(t, err)
	}
	source, err := js.CreateConsumer(t.Context(), "WORK", config)
	require.NoError(t, err)
	publish(t, js, manyLetters)

	w := retrynats.Worker{Policy: quick, JetStream: js, DeadLetter: "dead.work"}
	handle, err := w.Handle(t.Context(), source, func(context.Context, jetstream.Msg) error { return retry.Permanent(errOp) })
	if s.fault != noFault {
		assert.ErrorContains(t, err, s.fault)
		return
	}
	require.NoError(t, err)
	for range manyLetters {
		handle(receive(t, source))
	}
	if workConfig.Storage == jetstream.FileStorage {
		js.Conn().Close()
		e.stop()
		e.start(t)
		js = e.connect(t)
	}
	letters := keptLetters(t, js, "DEAD", "dead.work")
	if deadConfig.Discard == jetstream.DiscardNew { // the messages whose letters it refuses stay
		maps.Copy(letters, keptLetters(t, js, "WORK", "work.do"))
	}
	for i := range manyLetters {
		assert.True(t, letters[fmt.Sprint(i)], "message %d", i)
	}
}

func change[C any](f func(*C), c *C) {
	if f != nil {
		f(c)
	}
}

// keptLetters returns the data of all messages of the stream.
func keptLetters(t *testing.T, js jetstream.JetStream, name, subject string) map[string]bool {
	s, err := js.Stream(t.Context(), name)
	require.NoError(t, err)
	all := map[string]bool{}
	state := s.CachedInfo().State
	for i := state.FirstSeq; i <= state.LastSeq; i++ {
		if msg, err := s.GetMsg(t.Context(), i); err == nil && msg.Subject == subject {
			all[string(msg.Data)] = true
		}
	}
	return all
}

// TestLetterOfChangedStream: Handle accepted the stream, which then changes.
func TestLetterOfChangedStream(t *testing.T) {
	js := startEmbedded(t).connect(t)
	source := createConsumer(t, js, nil)
	config := createDead(t, js).CachedInfo().Config
	publish(t, js, 1)
	var reported error
	w := retrynats.Worker{Policy: quick, JetStream: js, DeadLetter: "dead.work", OnError: func(_ jetstream.Msg, err error) { reported = err }}
	handle, err := w.Handle(t.Context(), source, func(context.Context, jetstream.Msg) error { return retry.Permanent(errOp) })
	require.NoError(t, err)

	config.MaxMsgsPerSubject = 1
	_, err = js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	handle(receive(t, source))
	assert.ErrorContains(t, reported, "MaxMsgsPerSubject (1) removes the oldest letters")
	assert.Equal(t, 0, left(t, js, "DEAD"))

	config.MaxMsgsPerSubject = -1
	_, err = js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	handle(receive(t, source))
	assert.Equal(t, 1, left(t, js, "DEAD"))
	untilEmpty(t, js)
}

// TestTrapMemoryStorage: the server forgets a consumer in memory when it restarts.
func TestTrapMemoryStorage(t *testing.T) {
	e := startEmbedded(t)
	js := e.connect(t)
	refused(t, createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.MemoryStorage = true }), "MemoryStorage")
	js.Conn().Close()
	e.stop()
	e.start(t)
	_, err := e.connect(t).Consumer(t.Context(), "WORK", "worker")
	assert.ErrorIs(t, err, jetstream.ErrConsumerNotFound)
}

// TestTrapDeadLetters: the server acknowledges ten letters, but does not keep them.
func TestTrapDeadLetters(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*stream)
		kept   int
	}{
		"interest":          {func(c *stream) { c.Retention = jetstream.InterestPolicy }, 0},
		"MaxMsgsPerSubject": {func(c *stream) { c.MaxMsgsPerSubject = 1 }, 1},
		"MaxMsgs":           {func(c *stream) { c.MaxMsgs = 3 }, 3},
		"memory":            {func(c *stream) { c.Storage = jetstream.MemoryStorage }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := startEmbedded(t)
			js := e.connect(t)
			config := stream{Name: "DEAD", Subjects: []string{"dead.>"}}
			tt.change(&config)
			_, err := js.CreateStream(t.Context(), config)
			require.NoError(t, err)
			for range manyLetters {
				_, err := js.Publish(t.Context(), "dead.work", []byte("letter"))
				require.NoError(t, err)
			}
			js.Conn().Close()
			e.stop()
			e.start(t)
			kept := 0
			if s, err := e.connect(t).Stream(t.Context(), "DEAD"); err == nil {
				kept = int(s.CachedInfo().State.Msgs)
			}
			assert.Equal(t, tt.kept, kept)
		})
	}
}
