// Package retrynats retries the messages of a NATS JetStream consumer by a [retry.Policy].
// JetStream keeps the messages and counts their deliveries; the policy decides. So retries
// survive the worker and may last for hours.
//
//	policy := retry.Policy{Backoff: retry.FullJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 8}
//	worker := retrynats.Worker{Policy: policy, JetStream: js, DeadLetter: "dead.orders"}
//	handle, err := worker.Handle(ctx, consumer, func(ctx context.Context, msg jetstream.Msg) error {
//		return process(ctx, msg.Data())
//	})
//	if err != nil {
//		return err // says what is wrong with the consumer's configuration
//	}
//	consuming, err := consumer.Consume(handle)
//
// The consumer needs a durable name and, for a policy with long delays such as this one, a
// MaxAckPending of -1; leave MaxDeliver and BackOff unset.
//
// What the function returns decides:
//
//   - nil: the message is acknowledged with Ack, which does not wait for the server. If
//     the acknowledgment gets lost, the message is delivered again after AckWait. A function
//     that must know calls msg.DoubleAck itself before it returns; that costs a
//     round trip. In the same way it may settle a message in any way of its own.
//   - a permanent or unrepeatable failure: the message is given up.
//   - any other failure: NakWithDelay, with the delay that [adapt.DelayFor] computes
//     from stream, consumer and sequence number and the number of the delivery. Every
//     worker finds the same delay, after a restart too.
//   - no return: a panic or Goexit counts as a failure and passes through. A worker that
//     is killed reports nothing, and the message is delivered again after AckWait.
//
// A message that is given up gets TermWithReason (nats-server 2.10.4 or later). If there is
// a DeadLetter, it is stored there first; if that fails, the message is delivered again.
// While a message is at work, InProgress keeps it from being delivered to another worker,
// until the context of the attempt ends: a function that ignores its AttemptTimeout
// loses the message.
//
// Delivery is at least once: the function must be idempotent. docs/durable.md in the
// repository shows how, and has measurements.
//
// # What counts
//
// JetStream counts deliveries, not failures. If a worker is killed, each message that it had
// fetched has one delivery more, even if the function was not called, and its next
// delay is longer accordingly. MaxAttempts is compared after a failure only: a message is
// never given up before the function has failed, however often it was delivered.
// Worker.MaxDeliveries is for messages that kill their worker.
//
// What becomes of the parts of the Policy:
//
//   - Backoff, Classifier, Hint, MaxAttempts: as in [retry.Do].
//   - MaxElapsed: bounds the sum of the policy's waits. The time that a message
//     waited in the stream before does not count; limit that with the stream's MaxAge.
//   - AttemptTimeout, Limiter: as in Do, for each delivery. While the Limiter waits, the
//     message is kept alive.
//   - Budget: as in Do: if it refuses the retry, the message is given up. Leave it out if
//     messages must outlast an outage. It belongs to the process; after a success in a
//     later delivery it is refilled as after a transient failure, because
//     another worker may have seen the failure.
//   - OnAttempt, OnRetry, OnGiveUp: as in Do. Attempt.Number is the number of the
//     delivery, Attempt.Waited the delay before it without hints, Error.Elapsed the age of
//     the message. OnGiveUp is called after the dead letter is stored.
//   - Progress: the next delay is that after a first failure, but JetStream's count goes on.
//   - Stagger, LongPoll, Rand, Clock: not used.
//
// An inner call of Do that gave up is permanent, as in nested calls of Do: return
// retry.Transient(err) to have the message delivered again.
package retrynats
