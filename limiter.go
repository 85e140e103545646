package retry

import "context"

// A Limiter delays attempts, including the first, to bound their rate; a *rate.Limiter of
// golang.org/x/time/rate implements it. Use one for each resource. Wait returns when an
// attempt may start; any error ends the call.
// A Limiter that learns also implements [Observer].
type Limiter interface {
	Wait(ctx context.Context) error
}

// An Observer is a [Limiter] that is told the outcome of each attempt: a.Err is nil after
// a success; otherwise the Verdict says what the failure means.
type Observer interface {
	Observe(a Attempt)
}
