package retrynats

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
)

// The server's defaults for fields that are 0.
const (
	defaultAckWait       = 30 * time.Second
	defaultMaxAckPending = 1000
)

// failingRate is the assumed number of messages that fail per second.
const failingRate = 10

// Check returns an error if the configuration of a consumer would cause messages to be lost,
// delivered too often, or held up. The error lists all faults and matches
// [retry.ErrInvalid]. [Worker.Handle] calls Check; call it yourself to test a configuration
// without a server. A field that is 0 means the server's default. Check rejects:
//
//   - an AckPolicy other than explicit: single messages cannot be delivered again;
//   - an empty Durable name: the server forgets the consumer and its counts when the last
//     worker is gone;
//   - a MaxDeliver that does not exceed both the policy's MaxAttempts and MaxDeliveries: the
//     server silently stops after MaxDeliver deliveries, even if a worker crashes in the last
//     one or the dead letter is not stored. -1 is best;
//   - a BackOff: it replaces AckWait, and the differences between its entries are added to
//     the policy's delays;
//   - an AckWait below the policy's AttemptTimeout: InProgress extends AckWait for the
//     current message, but prefetched messages are redelivered. AckWait should exceed the
//     time to handle all prefetched messages (500, or jetstream.PullMaxMessages). With
//     OneByOne, any AckWait is accepted;
//   - a MaxAckPending below the number of messages that would wait for redelivery if ten
//     new messages a second failed at every attempt: while MaxAckPending messages wait,
//     the server delivers no others. If the policy retries forever, only -1 is accepted.
//     With OneByOne, 1 is accepted, too;
//   - a MaxDeliveries that is negative, or below the policy's MaxAttempts;
//   - an invalid policy.
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
		return append(faults, err.Error()) // the other checks need a valid policy
	}
	most := attempts(w.Policy)
	fault(w.MaxDeliveries > 0 && w.MaxDeliveries < most && most != retry.Unlimited, "MaxDeliveries (%d) is below the policy's MaxAttempts (%d)", w.MaxDeliveries, most)
	most = max(most, w.MaxDeliveries)
	fault(c.MaxDeliver > 0 && c.MaxDeliver <= most,
		"MaxDeliver (%d) is not above the %s deliveries that may be needed: the server would silently stop there; set -1", c.MaxDeliver, count(most))
	fault(!w.OneByOne && ackWait(c) < w.Policy.AttemptTimeout,
		"AckWait (%v) is below AttemptTimeout (%v): prefetched messages would be delivered again while they wait; raise AckWait, or set OneByOne and fetch one at a time", ackWait(c), w.Policy.AttemptTimeout)
	held, waiting := c.MaxAckPending, w.waiting()
	if held == 0 {
		held = defaultMaxAckPending
	}
	inOrder := w.OneByOne && held == 1
	fault(held > 0 && float64(held) < waiting && !inOrder,
		"MaxAckPending (%d) is too small: if %d messages a second fail, %s wait for their redelivery, and the server holds up all others; set -1", held, failingRate, tally(waiting))
	return faults
}

// waiting returns the number of messages that would wait for redelivery if failingRate new
// messages a second failed at every attempt.
func (w Worker) waiting() float64 {
	const most = 10_000 // more retries are treated as infinitely many
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
