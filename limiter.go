package retry

import "context"

// A Limiter delays attempts, including the first, to bound their rate. A *rate.Limiter of
// golang.org/x/time/rate implements it. Use one for each resource.
//
// Wait returns nil when an attempt may start. Any error ends the call. Wait must return when
// ctx is done. If the policy has a MaxElapsed, ctx ends with it at the latest.
//
// With a [Clock] that has a time of its own, the deadline of ctx is a time of that Clock, and
// ctx is not done by itself when it is reached. A Limiter that has the same Clock compares the
// deadline with it. A Clock that wraps that of the system has a method Unwrap() Clock.
//
// If the error of Wait has a method RetryAfter() time.Duration, the Next of the [Error] is what it
// returns.
//
// A Limiter that learns has one or both of these methods, too:
//
//	Observe(a Attempt)
//	Paces(a Attempt) bool
//
// Do calls Observe after each attempt. a.Err is nil after a success; otherwise the Verdict says
// what the failure means. Do calls Paces, after Observe, before the retry of an attempt whose class
// is ClassThrottled. If Paces returns true, the retry is bounded by the Limiter alone. It takes
// nothing from the Budget, and if it succeeds, it returns nothing that an earlier retry took.
type Limiter interface {
	Wait(ctx context.Context) error
}

type observer interface {
	Observe(a Attempt)
}

type pacer interface {
	Paces(a Attempt) bool
}
