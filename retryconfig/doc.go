// Package retryconfig reads a [retry.Policy] from configuration files, flags and
// environment variables, and writes it as text. A policy is one line, or a mapping with
// the same keys:
//
//	full base=50ms cap=20s attempts=5 elapsed=1m
//	aws-standard-2.1 service=dynamodb attempts=6
//
// In a configuration struct, use a [Policy], which JSON, YAML, TOML, mapstructure and
// [flag.TextVar] decode. For any other text, call [Parse].
//
// [NewPlan] computes the waits of a policy, so that they can be compared with a deadline.
package retryconfig
