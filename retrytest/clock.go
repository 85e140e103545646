package retrytest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock is a virtual [github.com/gobackoff/retry.Clock]: a wait takes no time, advances
// the clock and is recorded. The zero value starts at the time of its first use, so
// deadlines of real contexts remain meaningful. A Clock is safe for concurrent use;
// concurrent waits add up, as if they came one after another. It must not be copied.
type Clock struct {
	// Start is the initial time; zero means the real time of the first use.
	Start time.Time

	mu    sync.Mutex
	now   time.Time // zero before the first use
	waits []time.Duration
}

// Now returns the virtual time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.advance(0)
}

// Sleep records d, advances the clock by d and returns nil. If ctx is done, it does
// none of this and returns ctx.Err().
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(d)
	c.waits = append(c.waits, d)
	return nil
}

// Advance advances the clock by d without recording a wait. It simulates an operation
// that takes time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(d)
}

// Waits returns all waits so far, in order.
func (c *Clock) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

func (c *Clock) advance(d time.Duration) time.Time {
	if c.now.IsZero() {
		if c.now = c.Start; c.now.IsZero() {
			c.now = time.Now()
		}
	}
	c.now = c.now.Add(d)
	return c.now
}
