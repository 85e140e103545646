// Package retryotel traces and counts the attempts of package [retry] with OpenTelemetry:
//
//	policy = retryotel.Instrument(policy, "fetch page")
//
// It adds to the hooks that the policy has. All telemetry is that of package
// go.opentelemetry.io/otel, or of an [Instrumentation].
//
// # Spans
//
// Each attempt has a span below the one in the context of the call, and the operation
// runs in it. Its name is "fetch page attempt", and its attributes are
//
//	retry.attempt  the number of the attempt, 1 for the first
//	retry.waited   the seconds that were waited before it, if any
//	retry.class    transient, timeout, throttled or permanent, if it failed
//
// When the policy gives up, the span in the context of the call gets an event
// retry.give_up with a retry.reason.
//
// The spans of a call are linked, each to the one before, if the context of the call
// comes from [OneCall]. For HTTP, [ResendCount] numbers the spans of otelhttp.
//
// # Metrics
//
//	retry.attempts  counter    attempts, by retry.outcome: success or the class of the failure
//	retry.delay     histogram  seconds waited before a retry; its bounds go from 1 ms to 5 min
//	retry.give_ups  counter    calls that failed, by retry.reason
//
// All have the attribute retry.operation. The reasons are those of
// [retry.Error.ReasonLabel]. There is no convention for retries in general; the
// names are this package's own.
package retryotel
