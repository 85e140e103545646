package retrytest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock is a virtual [github.com/gobackoff/retry.Clock]: a wait takes no time,
// moves the clock on, and is remembered. The zero value starts at the time of
// its first use, so that the deadlines of real contexts still mean something
// to it. A Clock is safe for concurrent use; waits then add up, as if they
// came one after another. It must not be copied.
type Clock struct {
	// Start is the time that the Clock starts at; zero: the real time of its
	// first use.
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

// Sleep records d, moves the clock on by it, and returns at once: nil, or
// ctx.Err() if ctx is done, which records nothing.
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

// Advance moves the clock on by d without recording a wait: what an operation
// calls to have taken time.
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
