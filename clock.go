package retry

import (
	"context"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// A Clock tells the time and waits. It must be safe for concurrent use. Package
// retrytest has one for tests.
//
// A Clock that tells the time of another one, and only waits in its own way, should have a
// method Unwrap() Clock that returns the other one: see [Limiter].
type Clock interface {
	// Now returns the current time. Context deadlines are compared with it.
	Now() time.Time

	// Sleep waits for d, which may be 0, and returns nil, or returns ctx.Err() as soon
	// as ctx is done. Any other error ends the call.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the real clock. It works inside and outside testing/synctest bubbles. If the
// machine is suspended during a wait, and wakes up when the wait is over by the wall clock, the
// wait ends within 30 seconds. The same happens if the wall clock is set forward. One that is set
// back changes no wait.
type SystemClock struct{}

// Now implements [Clock].
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep implements [Clock].
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	// A timer of 0 would race with a context that is already done.
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	return dur.Sleep(ctx, d, time.Now)
}

func isSystem(c Clock) bool {
	_, system := c.(SystemClock)
	return system || c == nil
}

// tellsSystemTime reports whether c is the system clock, or wraps it.
func tellsSystemTime(c Clock) bool {
	if w, ok := c.(interface{ Unwrap() Clock }); ok {
		return tellsSystemTime(w.Unwrap())
	}
	return isSystem(c)
}

func now(c Clock) time.Time {
	if c == nil {
		return time.Now()
	}
	return c.Now()
}
