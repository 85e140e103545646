// Package adapt gives the delays and decisions of a [retry.Policy] to libraries that run
// a retry loop or a queue of their own. It imports none of them: their hooks are
// functions and interfaces of standard types.
//
//   - [Sequence] is the state of one call, for libraries that ask an object for the next
//     delay: github.com/cenkalti/backoff (v4 to v7), github.com/sethvargo/go-retry and
//     github.com/googleapis/gax-go.
//   - [ZeroBased] and [OneBased] are functions from the number of a retry to its delay, for
//     libraries that keep the count themselves. They differ in the number of the first retry.
//   - [RateLimiter] is the per-item limiter of a work queue of Kubernetes: client-go and
//     controller-runtime accept it.
//   - [DelayFor] decides about a message or job by its id, on any worker and after any
//     restart, for queues that deliver again: NATS JetStream, SQS, River.
//
// What each makes of a policy:
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
// Where a policy's part is not used, the library has its own setting for it, or none.
// Set the library's number of retries to the policy's MaxAttempts - 1 where it keeps
// the count.
//
// # The number of the first retry
//
// Libraries disagree about it, and a mistake makes the first delay twice as long, or
// half as long. These count the first retry as 0 and take [ZeroBased]:
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
