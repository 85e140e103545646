// Package awspreset provides the retry behavior of the AWS SDKs as policies of
// package [retry], for calls to AWS and to anything else.
//
// A [Preset] is what one SDK does in one of its modes. [Preset.Policy] makes a
// policy from it:
//
//	policy := awspreset.Standard2026.Policy("dynamodb")
//	err := retry.Do(ctx, policy, op)
//
// The argument is the name of a service, as the AWS CLI spells it, or "". Some
// services have their own delays, number of attempts or retryable errors.
//
// Use [Standard2026] if you have no reason to choose another: it is the
// behavior that the SDKs have shared since November 2026. The other presets are
// for programs that must wait as another program does, and for moving from one
// SDK to another.
//
// Make one policy for each service and use it, or copies of it, for all calls:
// its retry quota, and the [AdaptiveLimiter] of the adaptive modes, only work if
// all calls share them.
//
// The policies retry the errors that the SDK retries, and an error that has
// neither a status, a code nor a known type is permanent: see [Classifier].
//
// [FromEnv] applies AWS_RETRY_MODE and AWS_MAX_ATTEMPTS. Nothing else reads the
// environment.
//
// Importing the package also makes the names of the presets known to
// [retry.ParsePolicy], so that a configuration can contain
//
//	aws-standard-2026 service=dynamodb attempts=6
//
// The presets are tested against vectors that were recorded by running the
// SDKs. docs/aws.md has tables of their delays, quotas and errors.
package awspreset
