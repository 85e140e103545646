package retry

import "context"

// A Limiter delays attempts, including the first, to bound their rate; a *rate.Limiter of
// golang.org/x/time/rate implements it. Use one for each resource. Wait returns when an
// attempt may start; any error ends the call.
type Limiter interface {
	Wait(ctx context.Context) error
}

// Observer is an optional interface of a [Limiter]. Observe is called after each attempt,
// with a nil Err on success, or else with the Class of the failure.
type Observer interface {
	Observe(a Attempt)
}
