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
// A Limiter that learns also implements [Observer].
type Limiter interface {
	Wait(ctx context.Context) error
}

// An Observer is a [Limiter] that is told the outcome of each attempt: a.Err is nil after
// a success; otherwise the Verdict says what the failure means.
type Observer interface {
	Observe(a Attempt)
}
