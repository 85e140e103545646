// Package adapt provides the delays and decisions of a [retry.Policy] to libraries with
// their own retry loop or queue. It imports none of them: their hooks are functions and
// interfaces of standard types.
//
//   - [Sequence] returns the delays of one call, for libraries that get them from an object:
//     cenkalti/backoff, sethvargo/go-retry and gax-go.
//   - [ZeroBased] and [OneBased] map the number of a retry to its delay, for libraries that
//     count retries. ZeroBased counts the first retry as 0, and OneBased as 1.
//   - [RateLimiter] is the per-item limiter of a Kubernetes work queue (client-go,
//     controller-runtime).
//   - [Settle] decides what a consumer does with a message after its handler has returned, on
//     any worker and after any restart, for queues that redeliver: RabbitMQ, Redis Streams,
//     Kafka, SQS, NATS JetStream, River. [DelayFor] is the part of it that knows neither the
//     worker's context nor success.
//
// Each uses these parts of a policy:
//
//	                        Sequence    ZeroBased,   RateLimiter  Settle,
//	                                    OneBased                  DelayFor
//	Backoff                 yes         yes          yes          yes
//	Rand                    yes         yes          yes          from the id
//	Classifier, Hint        in Retry    no           no           yes
//	MaxAttempts             yes         the library  no           yes
//	MaxElapsed              yes         no           no           the waits count
//	Budget                  yes         no           no           yes
//	Clock                   MaxElapsed  no           no           no
//	all else                no          no           no           no
//
// For the other parts, the library has its own settings or none. If it counts retries, set
// its limit to the policy's MaxAttempts - 1.
//
// [Finite] is for adapters that look into errors of others: an error may wrap itself.
//
// # The number of the first retry
//
// Libraries number the first retry differently, and a mistake doubles or halves the delays.
// These libraries count the first retry as 0, so use [ZeroBased]:
//
//	asynq             Config.RetryDelayFunc
//	go-retryablehttp  Client.Backoff
//	sarama            Metadata.Retry.BackoffFunc
//
// These libraries count the first retry as 1, so use [OneBased]:
//
//	go-elasticsearch, opensearch-go  Config.RetryBackoff
//	franz-go                         kgo.RetryBackoffFn
//	nats.go                          nats.CustomReconnectDelay
//	resty                            Request.Attempt
//	sarama                           Producer.Retry.BackoffFunc, Consumer.Retry.BackoffFunc
package adapt
