// Package retryaws gives the clients of the AWS SDK for Go v2 the policies of
// package [retry]. There are three ways to do it:
//
//   - [New] makes a Retryer for the client. The SDK's own loop goes on and asks
//     the policy. Take this one unless it lacks what you need.
//   - [WithPolicy] puts [retry.Do] in the place of the SDK's loop, so that time
//     limits and hooks work too. The SDK's metrics and spans of attempts, and
//     its correction of a wrong clock, are lost.
//   - [Delayer] brings the delays alone. The SDK's standard retryer keeps its
//     choice of errors, its attempts and its quota.
//
// What each makes of a policy:
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
// # One loop only
//
// A client of the SDK retries by itself, with three attempts unless it is told
// otherwise. Do not call one inside of [retry.Do], or of another loop: three
// attempts of three make nine, and the waits add up too. If the policy has to
// stand outside, because one attempt is more than one call of the client, stop
// the SDK's loop with
//
//	o.Retryer = aws.NopRetryer{}
//
// The server's hint is then not seen: it stands in a header, x-amz-retry-after
// in milliseconds or else Retry-After, that only this package reads.
package retryaws
