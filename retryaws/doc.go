// Package retryaws makes the clients of the AWS SDK for Go v2 retry according to
// a policy of package [retry]. There are three ways:
//
//   - [New] makes a Retryer for the client. The SDK's own loop stays and consults the
//     policy. Use this unless it lacks a feature that you need.
//   - [WithPolicy] replaces the SDK's loop with [retry.Do], so that time limits and hooks
//     also work. The SDK's metrics, spans and logs of attempts and its correction of a
//     wrong clock are lost.
//   - [Delayer] provides only the delays. The SDK's standard retryer keeps its
//     choice of errors, its number of attempts and its quota.
//
// The parts of a policy that each uses:
//
//	                                New         WithPolicy  Delayer
//	Backoff, Rand                   yes         yes         yes
//	MaxAttempts, Classifier, Hint,
//	Budget, Limiter                 yes         yes         the SDK's
//	LongPoll                        the SDK's   yes         the SDK's
//	MaxElapsed, AttemptTimeout,
//	Clock, hooks                    no          yes         no
//
// A client that retries as the AWS SDK for Java v2 does:
//
//	retryer, err := retryaws.New(awspreset.JavaV2Standard.Policy("dynamodb"))
//	…
//	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = retryer })
//
// # Which errors are retried
//
// Without a Classifier, New and WithPolicy retry the errors that the SDK's standard
// retryer retries, and no others. In particular, a successful response that cannot be
// parsed ends the call, because its operation has been executed. Your own Classifier
// decides first; errors that it classifies as [retry.ClassUnknown] are left to the SDK's
// rules.
//
// Like the SDK's retryer, these rules retry after a lost connection, although the
// operation may have been executed. Make an operation that must not run twice, such as an
// UpdateItem that adds to a number, idempotent (with a condition or a client token), or
// send it with MaxAttempts 1.
//
// # One loop only
//
// By default, a client of the SDK makes three attempts. If you call it inside [retry.Do]
// or another loop, the attempts multiply (three times three is nine), and the waits add
// up. If the policy must be outside, because one attempt is more than one call of the
// client, disable the SDK's loop with
//
//	o.Retryer = aws.NopRetryer{}
//
// The server's hint is then lost: only this package reads its headers,
// x-amz-retry-after in milliseconds or else Retry-After.
package retryaws
