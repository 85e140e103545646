// Package retryaws makes clients of the AWS SDK for Go v2 retry according to a
// policy of package [retry], in one of three ways:
//
//   - [WithPolicy] calls [retry.Do] in the place of the SDK's loop. The whole policy
//     works, time limits and hooks included. Use it unless something else needs a Retryer.
//   - [New] makes a Retryer, which the SDK's own loop asks. Use it for wrappers of a Retryer,
//     and for code that accepts only a Retryer. Its comment lists the differences from retry.Do.
//   - [Delayer] provides only the delays. The SDK's standard retryer keeps its
//     choice of errors, number of attempts and quota.
//
// Each of them uses these parts of a policy:
//
//	                                WithPolicy  New         Delayer
//	Backoff, Rand                   yes         yes         yes
//	MaxAttempts, Classifier, Hint,
//	Budget, Limiter                 yes         yes         the SDK's
//	MaxElapsed, AttemptTimeout,
//	Clock, hooks                    yes         no          no
//
// This client retries as the AWS SDK for Java v2 does:
//
//	policy := awspreset.JavaV2Standard20.Policy(awspreset.DynamoDB)
//	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
//		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy))
//	})
//
// # Which errors are retried
//
// Without a Classifier, New and WithPolicy retry exactly the errors that the SDK's
// standard retryer retries. In particular, a successful response that cannot be parsed
// ends the call, because the operation has been executed. Your own Classifier decides
// first; errors that it classifies as [retry.ClassUnknown] are left to the SDK's rules.
//
// These rules, and those of the presets, also retry after a lost connection, although the
// operation may have been executed. An UpdateItem that adds to a number then adds twice. The
// option [Safely] of WithPolicy repeats an operation after a lost response only if a second
// execution does no harm, or if you name the operation:
//
//	o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy, retryaws.Safely("PutItem")))
//
// # One loop only
//
// By default, a client of the SDK makes three attempts. Inside [retry.Do], it makes three, too:
// Do does not repeat a call that the SDK has given up. For more attempts, set MaxAttempts in the
// policy of the client. Loops of other libraries do repeat such a call, so the attempts multiply.
//
// If an attempt of yours consists of several client calls, which have to be repeated together,
// use Do for all of them and disable the SDK's loop:
//
//	o.Retryer = aws.NopRetryer{}
//
// The server's hint is then lost, because only this package reads the headers that contain it.
//
// # Which headers are read
//
// If the policy's Classifier is that of a preset, this package reads the headers that the preset's
// SDK reads. The same is true of [retry.FirstOf] and [retry.Codes] that consult the Classifier of
// a preset. If a Classifier of your own consults it, give yours a method
// Unwrap() []retry.Classifier that returns it. To retry by the rules of the SDK, but read the
// headers of a preset, see [SDKRules].
//
// Otherwise, this package reads x-amz-retry-after, in milliseconds, or else Retry-After and the
// other headers that retryhttp.RetryAfter knows.
package retryaws
