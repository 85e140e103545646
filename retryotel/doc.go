// Package retryotel traces and counts the attempts of package [retry] with OpenTelemetry:
//
//	policy = retryotel.Instrument(policy, "fetch page")
//
// Instrument keeps the policy's own hooks. The telemetry goes to the global providers of
// package go.opentelemetry.io/otel, or to those of an [Instrumentation].
//
// # Spans
//
// Each attempt runs in its own span, a child of the span in the context of the call. The
// attempt's span is named "fetch page attempt" and has the attributes
//
//	retry.attempt  the number of the attempt, from 1
//	retry.waited   the seconds waited before it, if any
//	retry.class    unknown, transient, timeout, throttled or permanent, if it failed;
//	               canceled if the caller ended it
//	error.type     the kind of the error, if it failed
//
// The status of a failed attempt's span has the text of the error, without the user and the
// query of a URL in it: see [retry.Text].
//
// When the policy gives up, the span in the context of the call gets an event
// retry.give_up with the attributes retry.reason and error.type. Copies of a slow attempt
// are events retry.copy of its span, with retry.copy.event and retry.copy.wait.
//
// If the context of the call comes from [OneCall], each attempt's span is linked to the
// span of the previous attempt. For HTTP, [ResendCount] numbers the spans of otelhttp.
//
// # Metrics
//
//	retry.attempts  counter    attempts, by retry.outcome: success or the retry.class of the failure
//	retry.delay     histogram  seconds waited before a retry; its bounds go from 1 ms to 5 min
//	retry.give_ups  counter    calls that failed, by retry.reason
//	retry.saved     counter    calls that succeeded because of a retry
//	retry.copies    counter    copies of slow calls, by retry.copy.event: started, won,
//	                           refused, panicked, or forgotten if there are too many keys;
//	                           see Instrumentation.InstrumentHedge
//	retry.connections counter  connections that are kept, by retry.connection.event:
//	                           connected, ended, short or failed; see
//	                           Instrumentation.InstrumentKeeper
//	retry.items     counter    items of batches, by retry.fate: accepted, refused, unknown,
//	                           given_up or not_sent; see Instrumentation.CountItems
//
// Instrumentation.ObserveBudget and ObservePerHost add the gauge retry.budget.balance, and ObserveLimiter adds
// metrics whose names begin with retry.limit.
//
// All metrics in the table have the attribute retry.operation. The values of retry.reason are
// those returned by [retry.Error.ReasonLabel]. Failed attempts and calls have the attribute
// error.type. docs/telemetry.md in the repository has alert rules.
//
// # Conventions
//
// error.type and http.request.resend_count follow version 1.43.0 of OpenTelemetry's semantic
// conventions, and the instrumentation scope has their schema URL. The conventions define
// nothing else for retries, so this package chose the other names. The version of the
// instrumentation scope is the version of this module.
//
// error.type is the result of a method ErrorType() string or HTTPStatusCode() int of the error,
// "timeout" if its method Timeout() bool reports true, or else its type, such as
// "*fs.PathError". For an error of package [retry], fmt.Errorf or errors.Join, the first error
// inside it decides.
package retryotel
