package retry

import (
	"context"
	"time"
)

// Hooks observe the calls under a [Policy], for metrics, traces and logs. They must be
// safe for concurrent use if the Policy is shared, and should not block. Each may be
// nil.
type Hooks struct {
	// OnAttempt is called before each attempt. a.Number and a.Waited are those of the attempt
	// that begins. a.Err and a.Verdict are those of the failure before it, if there was one.
	//
	// OnAttempt returns the context for the operation; nil means ctx. It also returns a
	// function, or nil, that is called exactly once after the attempt, with the attempt's
	// Err and Verdict. If the operation panicked or called runtime.Goexit, Err is
	// [ErrNoReturn]. If the hook ended ctx, the attempt does not begin, and Err is the
	// context's error.
	OnAttempt func(ctx context.Context, a Attempt) (context.Context, func(Attempt))

	// OnRetry is called just before the wait for a retry. The wait may be 0. If the context
	// ends or the Limiter fails, no retry follows.
	OnRetry func(ctx context.Context, failed Attempt, wait time.Duration)

	// OnGiveUp is called once when a call ends without success. It is not called if Do refuses
	// the call, for example because the Policy is invalid.
	// After a permanent failure, e.Reason is ErrPermanent and the call returns e.Err;
	// otherwise it returns e.
	OnGiveUp func(ctx context.Context, e *Error)
}

// AttemptFrom returns the attempt in which the operation of [Do] runs, given the
// operation's context or one derived from it. Number and Waited are those of this attempt.
// Err and Verdict are those of the failure before it, so Err is nil in the first attempt.
// After [Progress], the attempt has number 1 again, and Err is the error that was marked.
//
// ok is false, and a is zero, if neither the policy of this call nor that of a call around it
// has the hooks of [AttemptInContext].
func AttemptFrom(ctx context.Context) (a Attempt, ok bool) {
	found, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return Attempt{}, false
	}
	return *found, true
}

// AttemptInContext returns hooks with which an operation can ask [AttemptFrom] about its
// attempt:
//
//	policy = policy.With(retry.AttemptInContext())
//
// They cost each attempt two small allocations, so a policy does not have them by default.
func AttemptInContext() Hooks {
	return Hooks{OnAttempt: func(ctx context.Context, a Attempt) (context.Context, func(Attempt)) {
		return context.WithValue(ctx, attemptKey{}, &a), nil
	}}
}

type attemptKey struct{}

// and returns hooks that run those of h, then those of g. The contexts and callbacks
// of g are nested in those of h.
func (h Hooks) and(g Hooks) Hooks {
	all := h
	switch {
	case h.OnAttempt == nil:
		all.OnAttempt = g.OnAttempt
	case g.OnAttempt != nil:
		all.OnAttempt = func(ctx context.Context, a Attempt) (context.Context, func(Attempt)) {
			outer, outerDone := h.OnAttempt(ctx, a)
			if outer == nil {
				outer = ctx
			}
			returned := false
			defer func() {
				if !returned && outerDone != nil { // g panicked, and the attempt does not begin
					outerDone(Attempt{Number: a.Number, Waited: a.Waited, Err: ErrNoReturn})
				}
			}()
			inner, innerDone := g.OnAttempt(outer, a)
			returned = true
			if inner == nil {
				inner = outer
			}
			return inner, func(a Attempt) {
				if outerDone != nil {
					defer outerDone(a)
				}
				if innerDone != nil {
					innerDone(a)
				}
			}
		}
	}
	switch {
	case h.OnRetry == nil:
		all.OnRetry = g.OnRetry
	case g.OnRetry != nil:
		all.OnRetry = func(ctx context.Context, failed Attempt, wait time.Duration) {
			h.OnRetry(ctx, failed, wait)
			g.OnRetry(ctx, failed, wait)
		}
	}
	switch {
	case h.OnGiveUp == nil:
		all.OnGiveUp = g.OnGiveUp
	case g.OnGiveUp != nil:
		all.OnGiveUp = func(ctx context.Context, e *Error) {
			h.OnGiveUp(ctx, e)
			g.OnGiveUp(ctx, e)
		}
	}
	return all
}
