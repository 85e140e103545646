package retrynats_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrynats"
)

func TestCheck(t *testing.T) {
	hours := retry.Policy{Backoff: retry.Exponential{Base: time.Minute, Cap: time.Hour}, MaxAttempts: 9} // 183 minutes
	endless := retry.Policy{MaxAttempts: retry.Unlimited}
	for name, tt := range map[string]struct {
		worker retrynats.Worker
		config jetstream.ConsumerConfig
		fault  string
	}{
		"the server's defaults": {retrynats.Worker{}, jetstream.ConsumerConfig{Durable: "w"}, ""},
		"ephemeral":             {retrynats.Worker{}, jetstream.ConsumerConfig{Name: "w"}, "the consumer is not durable: the server forgets it and its counts when the last worker is gone"},
		"no acknowledgment":     {retrynats.Worker{}, jetstream.ConsumerConfig{Durable: "w", AckPolicy: jetstream.AckNonePolicy}, "AckPolicy is AckNone: it has to be explicit"},
		"acknowledging all":     {retrynats.Worker{}, jetstream.ConsumerConfig{Durable: "w", AckPolicy: jetstream.AckAllPolicy}, "AckPolicy is AckAll: it has to be explicit"},
		"BackOff":               {retrynats.Worker{}, jetstream.ConsumerConfig{Durable: "w", BackOff: []time.Duration{time.Second}}, "BackOff is set: it replaces AckWait, and its differences are added to the policy's delays"},

		"MaxDeliver below":               {retrynats.Worker{Policy: doubling}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 3}, "MaxDeliver (3) is not above the 4 deliveries that may be needed: the server would silently stop there; set -1"},
		"MaxDeliver equal":               {retrynats.Worker{Policy: doubling}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 4}, "MaxDeliver (4) is not above the 4 deliveries that may be needed: the server would silently stop there; set -1"},
		"MaxDeliver above":               {retrynats.Worker{Policy: doubling}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 5}, ""},
		"MaxDeliver, default attempts":   {retrynats.Worker{}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 3}, "MaxDeliver (3) is not above the 3 deliveries that may be needed: the server would silently stop there; set -1"},
		"MaxDeliver, a schedule":         {retrynats.Worker{Policy: retry.Policy{Backoff: make(retry.Schedule, 200)}}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 201}, "MaxDeliver (201) is not above the 201 deliveries that may be needed: the server would silently stop there; set -1"},
		"MaxDeliver, unlimited attempts": {retrynats.Worker{Policy: endless}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 1 << 30, MaxAckPending: -1}, "MaxDeliver (1073741824) is not above the unlimited deliveries that may be needed: the server would silently stop there; set -1"},
		"MaxDeliver below MaxDeliveries": {retrynats.Worker{MaxDeliveries: 20}, jetstream.ConsumerConfig{Durable: "w", MaxDeliver: 20}, "MaxDeliver (20) is not above the 20 deliveries that may be needed: the server would silently stop there; set -1"},
		"MaxDeliveries below":            {retrynats.Worker{Policy: doubling, MaxDeliveries: 3}, good, "MaxDeliveries (3) is below the policy's MaxAttempts (4)"},
		"MaxDeliveries, no other bound":  {retrynats.Worker{Policy: endless, MaxDeliveries: 3}, good, ""},
		"MaxDeliveries negative":         {retrynats.Worker{MaxDeliveries: -1}, good, "MaxDeliveries is negative (-1)"},

		"AckWait below":             {retrynats.Worker{Policy: retry.Policy{AttemptTimeout: 5 * time.Second}}, jetstream.ConsumerConfig{Durable: "w", AckWait: 4 * time.Second}, "AckWait (4s) is below AttemptTimeout (5s): prefetched messages would be delivered again while they wait; raise AckWait, or set OneByOne and fetch one at a time"},
		"AckWait, the server's":     {retrynats.Worker{Policy: retry.Policy{AttemptTimeout: time.Minute}}, jetstream.ConsumerConfig{Durable: "w"}, "AckWait (30s) is below AttemptTimeout (1m0s): prefetched messages would be delivered again while they wait; raise AckWait, or set OneByOne and fetch one at a time"},
		"AckWait equal":             {retrynats.Worker{Policy: retry.Policy{AttemptTimeout: 5 * time.Second}}, jetstream.ConsumerConfig{Durable: "w", AckWait: 5 * time.Second}, ""},
		"AckWait below, one by one": {retrynats.Worker{Policy: retry.Policy{AttemptTimeout: time.Hour}, OneByOne: true}, jetstream.ConsumerConfig{Durable: "w"}, ""},

		"MaxAckPending of one":             {retrynats.Worker{}, jetstream.ConsumerConfig{Durable: "w", MaxAckPending: 1}, "MaxAckPending (1) is too small: if 10 messages a second fail, 2 wait for their redelivery, and the server holds up all others; set -1"},
		"MaxAckPending of one, for order":  {retrynats.Worker{OneByOne: true}, jetstream.ConsumerConfig{Durable: "w", MaxAckPending: 1}, ""},
		"MaxAckPending of two, one by one": {retrynats.Worker{OneByOne: true, Policy: doubling}, jetstream.ConsumerConfig{Durable: "w", MaxAckPending: 2}, "MaxAckPending (2) is too small: if 10 messages a second fail, 70 wait for their redelivery, and the server holds up all others; set -1"},
		"MaxAckPending for hours":          {retrynats.Worker{Policy: hours}, jetstream.ConsumerConfig{Durable: "w"}, "MaxAckPending (1000) is too small: if 10 messages a second fail, 109800 wait for their redelivery, and the server holds up all others; set -1"},
		"MaxAckPending enough":             {retrynats.Worker{Policy: hours}, jetstream.ConsumerConfig{Durable: "w", MaxAckPending: 109_800}, ""},
		"MaxAckPending without end":        {retrynats.Worker{Policy: endless}, jetstream.ConsumerConfig{Durable: "w", MaxAckPending: math.MaxInt}, "MaxAckPending (9223372036854775807) is too small: if 10 messages a second fail, more and more wait for their redelivery, and the server holds up all others; set -1"},
		"MaxAckPending, time without end":  {retrynats.Worker{Policy: retry.Policy{MaxAttempts: retry.Unlimited, MaxElapsed: time.Minute}}, jetstream.ConsumerConfig{Durable: "w"}, ""},
		"MaxAckPending unlimited":          {retrynats.Worker{Policy: endless}, good, ""},
		"an invalid policy":                {retrynats.Worker{Policy: retry.Policy{MaxAttempts: -1}}, jetstream.ConsumerConfig{}, "the consumer is not durable: the server forgets it and its counts when the last worker is gone; invalid retry policy: MaxAttempts is negative (-1)"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.worker.Check(tt.config)
			if tt.fault == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, "invalid consumer: "+tt.fault)
			assert.ErrorIs(t, err, retry.ErrInvalid)
		})
	}
}

// TestHandleRefuses: one error lists all faults, including those of the dead letters' stream.
func TestHandleRefuses(t *testing.T) {
	w := retrynats.Worker{Policy: doubling, DeadLetter: "orders.dead", JetStream: &server{stream: "ORDERS", window: time.Second}}
	h, err := w.Handle(t.Context(), consumer{MaxDeliver: 2, MaxAckPending: -1}, nil)
	assert.Nil(t, h)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.EqualError(t, err, "invalid consumer: the consumer is not durable: the server forgets it and its counts when the last worker is gone; "+
		"MaxDeliver (2) is not above the 4 deliveries that may be needed: the server would silently stop there; set -1; "+
		"the function is nil; "+
		`the consumer would receive its own dead letters ("orders.dead"): give them another stream, or the consumer a filter; `+
		"the duplicate window of stream ORDERS (1s) is not above AckWait and AttemptTimeout (30s): after a crash dead letters would be stored twice")
}

// TestUnusablePolicy: what would panic at the first failure, or is negative, is refused before
// a message is handled.
func TestUnusablePolicy(t *testing.T) {
	for want, p := range map[string]retry.Policy{
		"Budget is a nil *awspreset.TokenBudget":        {Budget: (*awspreset.TokenBudget)(nil)},
		"Classifier is a nil retry.ClassifierFunc":      {Classifier: retry.ClassifierFunc(nil)},
		"WhenThrottled.Else is a nil retry.BackoffFunc": {Backoff: retry.Spread{Of: retry.WhenThrottled{Else: retry.BackoffFunc(nil)}}},
		"MaxAttempts is negative (-1)":                  {MaxAttempts: -1},
		"MaxElapsed is negative (-1s)":                  {MaxElapsed: -time.Second},
		"AttemptTimeout is negative (-1s)":              {AttemptTimeout: -time.Second},
		"delay -1s is negative":                         {Backoff: retry.Constant(-time.Second)},
	} {
		h, err := retrynats.Handle(t.Context(), consumer(good), p, returning(nil))
		assert.Nil(t, h)
		assert.ErrorIs(t, err, retry.ErrInvalid)
		assert.ErrorContains(t, err, want)
	}
}

func TestHandleRefusesDeadLetters(t *testing.T) {
	const own = `invalid consumer: the consumer would receive its own dead letters ("orders.dead.a"): give them another stream, or the consumer a filter`
	for name, tt := range map[string]struct {
		js     jetstream.JetStream
		change func(*jetstream.ConsumerConfig)
		fault  string
	}{
		"another stream":     {&server{stream: "DEAD", window: time.Hour}, nil, ""},
		"no JetStream":       {nil, nil, "invalid consumer: DeadLetter needs a JetStream"},
		"no stream":          {&server{}, nil, `invalid consumer: no stream stores DeadLetter "orders.dead.a"`},
		"no filter":          {&server{stream: "ORDERS", window: time.Hour}, nil, own},
		"another filter":     {&server{stream: "ORDERS", window: time.Hour}, func(c *jetstream.ConsumerConfig) { c.FilterSubject = "orders.new" }, ""},
		"too long a filter":  {&server{stream: "ORDERS", window: time.Hour}, func(c *jetstream.ConsumerConfig) { c.FilterSubject = "orders.dead.a.b" }, ""},
		"too short a filter": {&server{stream: "ORDERS", window: time.Hour}, func(c *jetstream.ConsumerConfig) { c.FilterSubject = "orders.*" }, ""},
		"all below":          {&server{stream: "ORDERS", window: time.Hour}, func(c *jetstream.ConsumerConfig) { c.FilterSubject = "orders.>" }, own},
		"one of many":        {&server{stream: "ORDERS", window: time.Hour}, func(c *jetstream.ConsumerConfig) { c.FilterSubjects = []string{"a", "orders.*.a"} }, own},
		"a short window":     {&server{stream: "DEAD", window: 30 * time.Second}, nil, "invalid consumer: the duplicate window of stream DEAD (30s) is not above AckWait and AttemptTimeout (30s): after a crash dead letters would be stored twice"},
	} {
		t.Run(name, func(t *testing.T) {
			config := good
			if tt.change != nil {
				tt.change(&config)
			}
			w := retrynats.Worker{Policy: doubling, DeadLetter: "orders.dead.a", JetStream: tt.js}
			_, err := w.Handle(t.Context(), consumer(config), returning(nil))
			if tt.fault == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.fault)
			}
		})
	}
}

type unreachable struct {
	jetstream.JetStream
	err error
}

func (u unreachable) Info(context.Context) (*jetstream.ConsumerInfo, error)       { return nil, u.err }
func (u unreachable) StreamNameBySubject(context.Context, string) (string, error) { return "", u.err }

// TestHandleUnreachable: an error of the server is not a fault of the configuration.
func TestHandleUnreachable(t *testing.T) {
	lost := errors.New("no connection")
	_, err := retrynats.Handle(t.Context(), unreachable{err: lost}, doubling, returning(nil))
	assert.Equal(t, lost, err)
	w := retrynats.Worker{DeadLetter: "dead", JetStream: unreachable{err: lost}}
	_, err = w.Handle(t.Context(), consumer(good), returning(nil))
	require.Equal(t, lost, err)
}
