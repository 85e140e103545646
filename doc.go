// Package retry calls operations that can fail for a moment until they
// succeed: cloud APIs, databases, queues, commands.
//
//	err := retry.Do(ctx, policy, func(ctx context.Context) error {
//		return upload(ctx, file)
//	})
//
// [Do] and [DoValue] run an operation under a [Policy], a plain struct that
// says when to try again. The zero Policy is useful and safe: three attempts,
// random waits below 50 ms and then 100 ms, no hidden time limit.
//
// A [Group] does the same in the background, for very many calls at a time.
//
// # Words
//
// An attempt is one call of the operation; a retry is an attempt after the
// first. A delay is one wait between two attempts; a backoff is a rule for
// delays. A hint is a wait that the server asks for (Retry-After and its
// relatives), and a [HintRule] makes one delay of both. A class says what an
// error means for retrying. A budget bounds the retries of all calls together;
// it is not a time limit.
//
// # Delays
//
// A [Backoff] is a pure function of the failed [Attempt] and one random number
// u in [0, 1). With n = 0 before the first retry the rules are
//
//	NoDelay             0
//	Constant            the same again
//	Exponential         min(Cap, Base · Factorⁿ)
//	FullJitter          u · min(Cap, Base · Factorⁿ)
//	EqualJitter         t/2 + u · t/2, t = min(Cap, Base · Factorⁿ)
//	DecorrelatedJitter  min(Cap, Base + u · (3·previous − Base))
//	Linear, Fibonacci   min(Cap, Base + n · Step), min(Cap, Base · F(n+1))
//	Schedule            a list
//
// and [Jittered], [Spread], [Capped] and [WhenThrottled] compose them. Every rule is
// defined for every value of its fields and returns a delay between 0 and its
// cap. Package awspreset has the exact waits of the AWS SDKs.
//
// # Errors
//
// What the operation returns is classified: permanent errors end the call, all
// others are retried. [DefaultClassifier] understands the errors of many
// libraries by their methods. The operation decides for itself by marking an
// error with [Permanent], [Transient], [Throttled], [After] or [Unrepeatable].
//
// When Do gives up it returns an [*Error] that matches both the last failure
// and the reason. The end of the caller's context always ends the call.
//
// # Retry storms
//
// Jitter spreads retries out and does not make them fewer. A server at 70 %
// load whose clients make three retries gets 2.8 times what it can serve once
// it fails, and stays down for as long as they keep it up. That
// happens whenever utilisation · (1 + retries) > 1. Give a policy that many calls share a
// [Budget]: with one, the same server recovers as soon as it works again. And
// retry at one layer only: a call of Do inside another counts as permanent
// when it gives up.
//
// # What is left out
//
// There are no options and no builder, because a struct can be copied,
// changed, printed and read from text ([ParsePolicy]). There is no list of
// all errors of a call, which would grow without bound: hooks see each one as
// it happens. There is no logging: hooks and [log/slog.LogValuer] do that.
package retry
