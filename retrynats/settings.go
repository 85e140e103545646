package retrynats

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
)

// A judgment says which values of settings of the server, by their names in its API, are a
// fault.
type judgment[C any] struct {
	settings []string
	fault    func(w Worker, c C) string // empty: no fault
}

func judge[C any](judgments []judgment[C], w Worker, c C) []string {
	var faults []string
	for _, j := range judgments {
		if fault := j.fault(w, c); fault != "" {
			faults = append(faults, fault)
		}
	}
	return faults
}

// faultIf returns the formatted fault if bad, or else "".
func faultIf(bad bool, format string, args ...any) string {
	if !bad {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// consumerSettings judges the settings of the worker's consumer that can lose or hold up
// messages.
var consumerSettings = []judgment[jetstream.ConsumerConfig]{
	{settings: []string{"ack_policy"}, fault: func(_ Worker, c jetstream.ConsumerConfig) string {
		return faultIf(c.AckPolicy != jetstream.AckExplicitPolicy, "AckPolicy is %v: it has to be explicit", c.AckPolicy)
	}},
	{settings: []string{"durable_name"}, fault: func(_ Worker, c jetstream.ConsumerConfig) string {
		return faultIf(c.Durable == "", "the consumer is not durable: the server forgets it and its counts when the last worker is gone")
	}},
	{settings: []string{"inactive_threshold"}, fault: func(_ Worker, c jetstream.ConsumerConfig) string {
		return faultIf(c.Durable != "" && c.InactiveThreshold > 0,
			"InactiveThreshold (%v) is set: the server forgets the consumer and its counts when no worker has run for that long", c.InactiveThreshold)
	}},
	{settings: []string{"mem_storage"}, fault: func(_ Worker, c jetstream.ConsumerConfig) string {
		return faultIf(c.MemoryStorage, "MemoryStorage is set: the server forgets the consumer and its counts when it restarts")
	}},
	{settings: []string{"headers_only"}, fault: func(w Worker, c jetstream.ConsumerConfig) string {
		return faultIf(c.HeadersOnly && w.DeadLetter != "", "HeadersOnly is set: dead letters would have no data")
	}},
	{settings: []string{"backoff"}, fault: func(_ Worker, c jetstream.ConsumerConfig) string {
		return faultIf(len(c.BackOff) > 0, "BackOff is set: it replaces AckWait, and its differences are added to the policy's delays")
	}},
	{settings: []string{"max_deliver"}, fault: func(w Worker, c jetstream.ConsumerConfig) string {
		most := max(w.Policy.Attempts(), w.MaxDeliveries)
		return faultIf(c.MaxDeliver > 0 && c.MaxDeliver <= most,
			"MaxDeliver (%d) is not above the %s deliveries that may be needed: the server would silently stop there; set -1", c.MaxDeliver, count(most))
	}},
	{settings: []string{"ack_wait"}, fault: func(w Worker, c jetstream.ConsumerConfig) string {
		return faultIf(!w.OneByOne && ackWait(c) < w.Policy.AttemptTimeout,
			"AckWait (%v) is below AttemptTimeout (%v): prefetched messages would be delivered again while they wait; raise AckWait, or set OneByOne and fetch one at a time", ackWait(c), w.Policy.AttemptTimeout)
	}},
	{settings: []string{"max_ack_pending"}, fault: func(w Worker, c jetstream.ConsumerConfig) string {
		held, waiting := c.MaxAckPending, w.waiting()
		if held == 0 {
			held = defaultMaxAckPending
		}
		inOrder := w.OneByOne && held == 1
		return faultIf(held > 0 && float64(held) < waiting && !inOrder,
			"MaxAckPending (%d) is too small: if %d messages a second fail, %s wait for their redelivery, and the server holds up all others; set -1", held, failingRate, tally(waiting))
	}},
}

// leastLetterAge is the shortest accepted MaxAge of the dead letters' stream: someone has to
// read a letter before it is removed.
const leastLetterAge = 7 * 24 * time.Hour

// letterSettings judges the settings of the dead letters' stream that can lose letters.
var letterSettings = []judgment[jetstream.StreamConfig]{
	{settings: []string{"retention"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.Retention == jetstream.InterestPolicy, "its Retention is interest: a letter is removed at once when no consumer is there for it")
	}},
	{settings: []string{"max_msgs", "max_bytes", "discard"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.Discard == jetstream.DiscardOld && (c.MaxMsgs > 0 || c.MaxBytes > 0),
			"its MaxMsgs or MaxBytes removes the oldest letters: set Discard to new")
	}},
	{settings: []string{"max_msgs_per_subject", "discard_new_per_subject"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.MaxMsgsPerSubject > 0 && (c.Discard == jetstream.DiscardOld || !c.DiscardNewPerSubject),
			"its MaxMsgsPerSubject (%d) removes the oldest letters", c.MaxMsgsPerSubject)
	}},
	{settings: []string{"max_age"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.MaxAge > 0 && c.MaxAge < leastLetterAge, "its MaxAge (%v) is below %v: letters would be removed before someone reads them", c.MaxAge, leastLetterAge)
	}},
	{settings: []string{"max_msg_size"}, fault: func(w Worker, c jetstream.StreamConfig) string {
		return faultIf(c.MaxMsgSize > 0, "its MaxMsgSize (%d) is set: a larger letter is not stored, and its message is redelivered without end", c.MaxMsgSize)
	}},
	{settings: []string{"storage"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.Storage == jetstream.MemoryStorage, "its Storage is memory: letters are lost when the server restarts")
	}},
	{settings: []string{"persist_mode"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.PersistMode == jetstream.AsyncPersistMode, "its PersistMode is async: letters are lost when the server is killed")
	}},
	{settings: []string{"no_ack"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.NoAck, "its NoAck is set: nothing proves that a letter is stored")
	}},
	{settings: []string{"sealed", "mirror", "allow_msg_counter"}, fault: func(_ Worker, c jetstream.StreamConfig) string {
		return faultIf(c.Sealed || c.Mirror != nil || c.AllowMsgCounter, "it is sealed, a mirror or for counters: it stores no letters")
	}},
	{settings: []string{"subject_transform"}, fault: func(w Worker, c jetstream.StreamConfig) string {
		return faultIf(c.SubjectTransform != nil, "its SubjectTransform is set: letters would be stored under another subject than %q", w.DeadLetter)
	}},
}

// workFaults judges the stream of the messages: they must not be removed while they wait.
func workFaults(p retry.Policy, c jetstream.StreamConfig) []string {
	wait := longest(p)
	if c.MaxAge == 0 || p.Attempts() == retry.Unlimited || c.MaxAge.Seconds() > wait {
		return nil
	}
	return []string{fmt.Sprintf("the MaxAge of stream %s (%v) is not above the sum of the policy's delays (%v): messages would be removed before they are given up, without a dead letter",
		c.Name, c.MaxAge, time.Duration(wait*float64(time.Second)))}
}
