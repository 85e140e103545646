// Package retry retries operations that may fail temporarily, such as calls to cloud APIs,
// databases and queues. It waits a random time between attempts, which grows exponentially.
//
//	err := retry.Do(ctx, policy, func(ctx context.Context) error {
//		return upload(ctx, file)
//	})
//
// [Do] and [DoValue] run an operation under a [Policy], a plain struct. The zero Policy makes
// at most three attempts and waits at most 150 ms in all, or 3 s after throttling. It has no
// limit of time and no budget: set them for calls that many make at the same time.
// [Policy.Start] returns a [Call], which makes the same decisions for a loop of your own.
//
// Package awspreset has policies that wait exactly as the AWS SDKs do, retryhttp is an
// HTTP transport, retrysql retries transactions, and retrytest helps with tests.
//
// # Terms
//
// An attempt is one call of the operation; a retry is any attempt after the first. A
// delay is a wait between two attempts; a backoff is a rule for delays. A hint is a
// wait that the server asks for, as with Retry-After, and a [HintRule] combines the
// delay and the hint into one wait. A class is what an error means for retrying. A
// budget bounds the retries of all calls together.
//
// # Delays
//
// A [Backoff] is a pure function of the failed [Attempt] and a random number u in
// [0, 1). Start with [FullJitter]; [Jittered], [Spread], [Capped] and [WhenThrottled]
// compose rules. In the formulas, n is the number of retries so far. Every rule accepts
// any field values and returns a delay between 0 and its cap: a negative duration
// counts as 0, and a Cap of 0 or less means no cap.
//
// # Errors
//
// Do retries every error except three kinds: errors that say they are permanent, such as an HTTP
// 404, errors after which the operation may already have taken effect, and errors with which an
// inner loop, such as a client of package retryhttp, has given up. [DefaultClassifier]
// understands the errors of many libraries. The operation can override it by marking
// an error with [Permanent], [Transient], [Throttled], [After], [Unrepeatable] or
// [Progress]. [Explain] says why an error was, or was not, retried, and which line changes that.
//
// # Retry storms
//
// Jitter spreads retries out; it does not reduce their number. If a server fails at
// 70 % load and its clients make three retries, it receives 2.8 times what it can
// serve, and stays down as long as they keep retrying. This happens whenever
// utilization · (1 + retries) > 1. With a [SharedBudget] in each client, the same server recovers
// once the cause of its failure is gone: see [SharedBudget]. Retry at one layer only.
//
// # What is left out
//
//   - Options and builders: a struct can be copied and changed.
//   - A list of all errors of a call, which would grow without bound.
//   - Logging: use [Hooks], such as those of package retryslog.
//   - An iterator: its error would need a variable outside the loop.
//   - A last attempt at MaxElapsed: it would bunch up the retries that jitter has
//     spread out.
//   - Limits per class: a Classifier can make any failure permanent.
//   - A budget of retries in flight: it does not measure the load on the server.
//   - A minimum delay, and hints that replace the delay: for either, a [BackoffFunc] or
//     HintRule of your own takes three lines.
package retry
