package retry

import "context"

// A Limiter delays attempts, the first included, to keep to a rate. A
// *rate.Limiter of golang.org/x/time/rate is one. Like a [Budget] it belongs
// to one resource and is shared by all calls to it.
//
// Wait blocks until an attempt may start. Its error ends the call.
//
// A Limiter that is an [Observer] learns how each attempt ended.
type Limiter interface {
	Wait(ctx context.Context) error
}

// An Observer is the optional part of a [Limiter]. Observe is called for every
// attempt when the operation returns: with a nil Err on success, else with the
// Class of the failure.
type Observer interface {
	Observe(a Attempt)
}
