// Package retrynats retries the messages of a NATS JetStream consumer according to a
// [retry.Policy]. JetStream stores the messages and counts their deliveries; the policy
// decides whether and when a message is delivered again. Retries therefore survive a
// restart of the worker and may last for hours.
//
//	policy := retry.Policy{Backoff: retry.FullJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 8}
//	worker := retrynats.Worker{Policy: policy, JetStream: js, DeadLetter: "dead.orders"}
//	handle, err := worker.Handle(ctx, consumer, func(ctx context.Context, msg jetstream.Msg) error {
//		return process(ctx, msg.Data())
//	})
//	if err != nil {
//		return err // lists what is wrong with the consumer's configuration
//	}
//	consuming, err := consumer.Consume(handle)
//
// The consumer needs a durable name. A policy with long delays, such as this one, also needs
// a MaxAckPending of -1. Leave MaxDeliver and BackOff unset.
//
// The result of the function decides what happens to the message:
//
//   - nil: the message is acknowledged with Ack, which does not wait for the server. If the
//     acknowledgment is lost, the message is redelivered after AckWait. To be certain, call
//     msg.DoubleAck in the function, which costs a round trip. The function may also settle
//     the message in any other way. The Worker then does nothing with it, so do not call Nak
//     after a failure: there would be no wait of the policy, and no end.
//   - A permanent or unrepeatable error: the message is given up.
//   - Any other error: if the policy allows another attempt, the message is redelivered
//     (NakWithDelay). [adapt.Settle] computes the delay from the stream, the consumer and
//     the sequence and delivery numbers: it is the same for every worker, even after a
//     restart.
//   - A panic or runtime.Goexit: the attempt counts as failed, and the panic or Goexit
//     continues. If a panic can end the process, use delays that are longer than the process
//     takes to end. Otherwise, the server may redeliver the message to the dying process, and
//     then delivers it again only after AckWait.
//
// The messages of a killed worker are redelivered after AckWait.
//
// A message that is given up is terminated with TermWithReason, which requires nats-server
// 2.10.4 or later. If DeadLetter is set, a copy is stored under that subject first.
//
// While a message is being handled, the worker sends InProgress to prevent a redelivery,
// until the context of the attempt ends: if a function ignores its AttemptTimeout, the
// message is redelivered to another worker.
//
// Delivery is at least once: the function must be idempotent. docs/durable.md in the
// repository shows how.
//
// # Counting
//
// JetStream counts deliveries, not failures. Killing a worker increases the delivery
// count, and thus the next delay, of every message that it had fetched, even if the
// function was not called. MaxAttempts is checked only after a failure: a message is
// never given up before the function has failed. A message whose worker is killed between
// its last failure and its termination is therefore handled once more, beyond MaxAttempts.
// Worker.MaxDeliveries is the exception, for messages that crash their worker. A delivery that
// the end of the worker's context has interrupted is counted, but does not give the message up.
//
// The fields of the Policy have these effects:
//
//   - Backoff, Classifier, Hint, MaxAttempts: as in [retry.Do].
//   - MaxElapsed: limits the sum of the policy's waits. It does not count the time before
//     the first delivery; limit that with the stream's MaxAge.
//   - AttemptTimeout, Limiter: as in Do, for each delivery. While the Limiter waits, the
//     message is not redelivered.
//   - Budget: as in Do. If it refuses the retry, the message is given up: do not set a
//     Budget if messages must outlast an outage. A Budget is local to the process. When a
//     redelivered message succeeds, the Budget is refilled as after a transient failure,
//     because another worker may have handled the failure.
//   - Hooks: as in Do. Attempt.Number is the delivery number,
//     Attempt.Waited is the policy's delay before that delivery, without hints, and
//     Error.SinceFailure is 0. OnGiveUp is called after the dead letter is stored.
//   - Rand, Clock: not used.
//
// After an error marked with [retry.Progress], the next delay is that after a first
// failure, but JetStream continues to count deliveries.
//
// If a loop inside the function gave up (see [retry.Verdict.GaveUp]), such as a Do or a
// Transport of retryhttp, its last failure decides: after a transient one, the message is
// redelivered.
package retrynats
