package retry

import "context"

// A Limiter delays attempts, including the first, to bound their rate; a *rate.Limiter of
// golang.org/x/time/rate implements it. Use one for each resource. Wait returns when an
// attempt may start; any error ends the call.
//
// A method Observe(Attempt) is optional: it is called after each attempt, with a nil Err
// on success, or else with the Verdict on the failure.
type Limiter interface {
	Wait(ctx context.Context) error
}
