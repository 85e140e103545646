// Package awspreset provides the retry behavior of the AWS SDKs as policies of
// package [retry], for calls to AWS or to anything else:
//
//	policy := awspreset.Standard2026.Policy("dynamodb")
//	err := retry.Do(ctx, policy, op)
//
// A [Preset] is the behavior of one SDK in one of its modes; the argument of
// [Preset.Policy] is a service with rules of its own, or "". If in doubt, use
// [Standard2026], which the SDKs have shared since November 2026. The others are
// for programs that must wait exactly like another program, and for moving from
// one SDK to another.
//
// Make one policy per service and use it, or copies of it, for all calls: its
// retry quota, and the [AdaptiveLimiter] of adaptive modes, work only if all calls
// share them.
//
// A policy retries the errors that its SDK retries. An error without a status, a
// code or a known type is permanent: see [Classifier].
//
// Only [FromEnv] reads the environment (AWS_RETRY_MODE and AWS_MAX_ATTEMPTS).
//
// Package retryconfig reads the presets from configuration files and flags, as in
//
//	aws-standard-2026 service=dynamodb attempts=6
//
// The presets are tested against vectors recorded from the SDKs. docs/aws.md has
// tables of their delays, quotas and errors.
package awspreset
