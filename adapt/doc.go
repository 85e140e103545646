// Package adapt provides the delays and decisions of a [retry.Policy] to libraries that have
// their own retry loop or queue. It imports none of them: their hooks are functions and
// interfaces of standard types.
//
//   - [Sequence] is the state of one call, for libraries that get the next delay from an object:
//     github.com/cenkalti/backoff (v4 to v7), github.com/sethvargo/go-retry and
//     github.com/googleapis/gax-go.
//   - [ZeroBased] and [OneBased] are functions from the number of a retry to its delay, for
//     libraries that count retries. They differ in the number of the first retry.
//   - [RateLimiter] is the per-item limiter of a Kubernetes work queue, for client-go and
//     controller-runtime.
//   - [DelayFor] decides about a message or job by its id, on any worker and after any restart, for
//     queues that redeliver: NATS JetStream, SQS, River.
//
// The parts of a policy that each uses:
//
//	                        Sequence    ZeroBased,   RateLimiter  DelayFor
//	                                    OneBased
//	Backoff                 yes         yes          yes          yes
//	Rand                    yes         yes          yes          from the id
//	Classifier, Hint        in Retry    no           no           yes
//	MaxAttempts             yes         the library  no           yes
//	MaxElapsed              yes         no           no           the waits count
//	Budget                  yes         no           no           yes
//	Clock                   MaxElapsed  no           no           no
//	all else                no          no           no           no
//
// For a part that is not used, the library has its own setting or none. If the library counts
// retries, set its limit to the policy's MaxAttempts - 1.
//
// # The number of the first retry
//
// Libraries number the first retry differently, and a mistake doubles or halves the delays. These
// count it as 0 and take [ZeroBased]:
//
//	asynq             Config.RetryDelayFunc
//	go-retryablehttp  Client.Backoff
//	sarama            Metadata.Retry.BackoffFunc
//
// These count it as 1 and take [OneBased]:
//
//	go-elasticsearch, opensearch-go  Config.RetryBackoff
//	franz-go                         kgo.RetryBackoffFn
//	nats.go                          nats.CustomReconnectDelay
//	resty                            Request.Attempt
//	sarama                           Producer.Retry.BackoffFunc, Consumer.Retry.BackoffFunc
package adapt
