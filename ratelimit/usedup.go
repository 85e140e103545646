package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
)

// A UsedUpError is the error of [Limiter.Wait] for a call that the server would refuse: a refusal
// has said that nothing is left of a limit for longer than the call can wait. No request was made.
// The error matches [retry.ErrHint]. If you serve a request, respond with 503 and After as
// Retry-After. If you consume a queue, put the message back for After.
type UsedUpError struct {
	Name  string        // of the limit: see [State]; "" if it has none, or only hints tell of it
	After time.Duration // until something is left again, above 0
}

// Error returns one line of text.
func (e *UsedUpError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("ratelimit: the limit is used up for %v", e.After.Round(time.Second))
	}
	return fmt.Sprintf("ratelimit: the limit %q is used up for %v", e.Name, e.After.Round(time.Second))
}

// RetryAfter returns After. The Next of the [retry.Error] is After, too.
func (e *UsedUpError) RetryAfter() time.Duration { return e.After }

// Is reports whether target is [retry.ErrHint].
func (e *UsedUpError) Is(target error) bool { return target == retry.ErrHint }

// usedUp returns an error if nothing is left until after a call's time. One call in ten seconds
// begins nevertheless, because what is known may be wrong.
func (l *Limiter) usedUp(ctx context.Context, now time.Time, c *caller) error {
	due := now.Add(l.maxWait())
	if deadline, ok := ctx.Deadline(); ok {
		due = earlier(due, deadline)
	}
	if d := &l.learned; c.by.dried && d.rate > 0 && d.closed.After(due) {
		if d.probe.IsZero() || d.probe.After(now) {
			return &UsedUpError{After: d.closed.Sub(now)}
		}
		return nil
	}
	for _, d := range c.by.levels {
		end := earlier(d.end.Add(d.late), d.again) // a clock may be wrong, a hint is not
		if !d.confirmed(now) || d.left >= d.cost(c.cost) || !end.After(due) {
			continue
		}
		if now.Sub(l.probed) >= probing {
			l.probed = now
			return nil
		}
		return &UsedUpError{Name: d.id.Name, After: end.Sub(now)}
	}
	return nil
}

// dry returns an error for a call whose time is over while nothing succeeds.
func (l *Limiter) dry(now time.Time, c *caller) error {
	next := l.learned.gate(now, c.by.dried)
	if !c.by.slowed || l.learned.dry < 3 || !next.After(now) {
		return nil
	}
	return &UsedUpError{After: next.Sub(now)}
}
