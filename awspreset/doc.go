// Package awspreset provides the retry behavior of the AWS SDKs as policies of
// package [retry]:
//
//	policy := awspreset.Standard21.Policy("lambda")
//	err := retry.Do(ctx, policy, op)
//
// A policy retries the errors that its SDK retries. Every other error is permanent, such as one
// of your own from errors.New: see [Classifier]. For calls to anything else than AWS, set the
// policy's Classifier to retry.DefaultClassifier{}.
//
// A [Preset] is the behavior of an SDK in one of its modes. If in doubt, use [Standard21],
// which all SDKs have shared since November 2026. The others are for programs that must wait
// exactly like another program, and for moving from one SDK to another. docs/aws.md has a
// table with the preset for each SDK, version and mode, and one with what to write for the
// settings of each SDK.
//
// Make one policy per service and use it, or copies of it, for all calls: its retry quota
// works only if all calls share it. The same is true of an [AdaptiveLimiter], which makes any
// preset adaptive.
//
// Like the SDKs, the policies repeat calls that may already have taken effect. To prevent
// that, mark such errors with [retry.Unrepeatable]; with package retryaws, use its option
// Safely.
//
// Only [FromEnv] reads the environment (AWS_RETRY_MODE and AWS_MAX_ATTEMPTS).
//
// Package retryconfig reads the presets from configuration files and flags, as in
//
//	aws-standard-2.1 service=dynamodb attempts=6 limiter=adaptive
//
// The presets are compared with the SDKs themselves.
package awspreset
