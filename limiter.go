package retry

import "context"

// A Limiter delays attempts, including the first, to bound their rate; a *rate.Limiter
// of golang.org/x/time/rate is one. Use one for each resource. Wait returns when an
// attempt may start; its error ends the call. A Limiter may also be an [Observer].
type Limiter interface {
	Wait(ctx context.Context) error
}

// An Observer is a [Limiter] that learns the outcome of attempts. Observe is called
// after each: with a nil Err on success, else with the Class of the failure.
type Observer interface {
	Observe(a Attempt)
}
