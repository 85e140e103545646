package retry

import "context"

// A Limiter delays attempts, the first included, to keep to a rate. A *rate.Limiter of
// golang.org/x/time/rate is one. Use one for each resource. Wait returns when an attempt may start;
// its error ends the call. If the Limiter is an [Observer], each outcome is reported to it.
type Limiter interface {
	Wait(ctx context.Context) error
}

// An Observer is an optional part of a [Limiter]. Observe is called when an attempt
// ends: with a nil Err on success, else with the Class of the failure.
type Observer interface {
	Observe(a Attempt)
}
