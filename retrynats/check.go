package retrynats

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
)

// What the server makes of a 0.
const (
	defaultAckWait       = 30 * time.Second
	defaultMaxAckPending = 1000
)

// failingRate is how many failing messages a second a consumer must be able to hold back
// without holding up the others: a yardstick, because the true rate is not known.
const failingRate = 10

// Check returns nil, or one error that lists everything in the configuration of a consumer
// under which messages would be lost, delivered too often, or held up. It matches
// [retry.ErrInvalid]. [Worker.Handle] calls it; call it to test a configuration without a
// server. It refuses, with what a 0 means to the server:
//
//   - another AckPolicy than explicit: single messages cannot be delivered again;
//   - no Durable name: the server forgets the consumer and its counts when the last worker
//     is gone;
//   - a MaxDeliver that is not above the policy's MaxAttempts and MaxDeliveries: there
//     the server stops delivering and tells nobody, also if a worker crashes in the last
//     delivery or its dead letter is not stored. -1 is best;
//   - a BackOff: it replaces AckWait, and its differences are added to the policy's delays;
//   - an AckWait below the policy's AttemptTimeout: the message at work is kept
//     alive, but those that the client has fetched behind it are delivered
//     again. Let AckWait be above the time for as many as are fetched (500, or
//     jetstream.PullMaxMessages). With OneByOne nothing waits, and any AckWait is good;
//   - a MaxAckPending below the number of messages that wait for their redelivery if ten a
//     second fail until they are given up: the server delivers nothing else while so many
//     wait. Without an end of attempts it has to be -1. With OneByOne it may be 1;
//   - a MaxDeliveries that is negative, or below the policy's MaxAttempts;
//   - a policy that is invalid.
func (w Worker) Check(config jetstream.ConsumerConfig) error { return invalid(w.faults(config)) }

func invalid(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w consumer: %s", retry.ErrInvalid, strings.Join(faults, "; "))
}

func (w Worker) faults(c jetstream.ConsumerConfig) []string {
	var faults []string
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	fault(c.AckPolicy != jetstream.AckExplicitPolicy, "AckPolicy is %v: it has to be explicit", c.AckPolicy)
	fault(c.Durable == "", "the consumer is not durable: the server forgets it and its counts when the last worker is gone")
	fault(len(c.BackOff) > 0, "BackOff is set: it replaces AckWait, and its differences are added to the policy's delays")
	fault(w.MaxDeliveries < 0, "MaxDeliveries is negative (%d)", w.MaxDeliveries)
	if err := w.Policy.Validate(); err != nil {
		return append(faults, err.Error()) // the rest computes with it
	}
	most := attempts(w.Policy)
	fault(w.MaxDeliveries > 0 && w.MaxDeliveries < most && most != retry.Unlimited, "MaxDeliveries (%d) is below the policy's MaxAttempts (%d)", w.MaxDeliveries, most)
	most = max(most, w.MaxDeliveries)
	fault(c.MaxDeliver > 0 && c.MaxDeliver <= most,
		"MaxDeliver (%d) is not above the %s deliveries that may be needed: the server would stop there and tell nobody; set -1", c.MaxDeliver, count(most))
	fault(!w.OneByOne && ackWait(c) < w.Policy.AttemptTimeout,
		"AckWait (%v) is below AttemptTimeout (%v): messages fetched behind the one at work would be delivered again; raise AckWait, or set OneByOne and fetch one at a time", ackWait(c), w.Policy.AttemptTimeout)
	held, waiting := c.MaxAckPending, w.waiting()
	if held == 0 {
		held = defaultMaxAckPending
	}
	inOrder := w.OneByOne && held == 1
	fault(held > 0 && float64(held) < waiting && !inOrder,
		"MaxAckPending (%d) is too small: if %d messages a second fail, %s wait for their redelivery, and the server holds up all others; set -1", held, failingRate, tally(waiting))
	return faults
}

// waiting returns how many messages wait for their redelivery if failingRate of them a
// second fail until they are given up, each after the longest delays.
func (w Worker) waiting() float64 {
	const most = 10_000 // further retries count as without end
	p := w.Policy
	p.Rand = func() float64 { return math.Nextafter(1, 0) }
	total, retries := 0.0, 0
	for delay := range p.Delays() {
		if retries++; retries > most {
			return math.Inf(1)
		}
		total += delay.Seconds()
	}
	return math.Ceil(total * failingRate)
}

// attempts returns the policy's MaxAttempts with its default.
func attempts(p retry.Policy) int {
	if p.MaxAttempts != 0 {
		return p.MaxAttempts
	}
	p.MaxElapsed = 0
	n := 1
	for range p.Delays() {
		n++
	}
	return n
}

func ackWait(c jetstream.ConsumerConfig) time.Duration {
	if c.AckWait <= 0 {
		return defaultAckWait
	}
	return c.AckWait
}

func count(attempts int) string {
	if attempts == retry.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(attempts)
}

func tally(messages float64) string {
	if math.IsInf(messages, 1) {
		return "more and more"
	}
	return fmt.Sprintf("%.0f", messages)
}
