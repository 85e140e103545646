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
//   - an empty Durable name or an InactiveThreshold: the server forgets the consumer and its
//     counts when no worker is left, or none for that long;
//   - MemoryStorage: the server forgets the consumer and its counts when it restarts;
//   - HeadersOnly together with DeadLetter: the letters would have no data;
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
	invalid := w.Policy.Validate()
	if invalid != nil {
		w.Policy = retry.Policy{MaxAttempts: 1} // some checks need a valid policy
	}
	most := w.Policy.Attempts()
	switch {
	case w.MaxDeliveries < 0:
		faults = append(faults, fmt.Sprintf("MaxDeliveries is negative (%d)", w.MaxDeliveries))
	case w.MaxDeliveries > 0 && w.MaxDeliveries < most && most != retry.Unlimited:
		faults = append(faults, fmt.Sprintf("MaxDeliveries (%d) is below the policy's MaxAttempts (%d)", w.MaxDeliveries, most))
	}
	faults = append(faults, judge(consumerSettings, w, c)...)
	if invalid != nil {
		faults = append(faults, invalid.Error())
	}
	return faults
}

// waiting returns the number of messages that would wait for redelivery if failingRate new
// messages a second failed at every attempt.
func (w Worker) waiting() float64 { return math.Ceil(longest(w.Policy) * failingRate) }

// longest returns the sum of a policy's longest delays in seconds.
func longest(p retry.Policy) float64 {
	const most = 10_000 // more retries are treated as infinitely many
	p.Rand = func() float64 { return math.Nextafter(1, 0) }
	total, retries := 0.0, 0
	for delay := range p.Delays() {
		if retries++; retries > most {
			return math.Inf(1)
		}
		total += delay.Seconds()
	}
	return total
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
