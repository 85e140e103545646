package lab

import (
	"context"
	"errors"
	"iter"
	"math"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/gobackoff/retry"
)

// The failures of attempts, as real as classifiers want them.
var (
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	errTimeout error = noAnswer{}
)

// errStopped ends the calls that are under way when a trial ends.
var errStopped = errors.New("the trial has ended")

// clockStart is the virtual time at the start of every trial.
var clockStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// process is a client process with a policy of its own.
type process struct {
	policy  retry.Policy
	timeout int64 // of each attempt
}

// caller makes one call after the other, each by [retry.Do], in a coroutine
// that gives way to the event loop whenever the call waits. It is also the
// context of its calls.
type caller struct {
	run    *stormRun
	timer  timer
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	try    func(context.Context) error // c.perform

	process  *process
	arrived  int64
	deadline int64
	attempt  uint64 // changes with every attempt and when one ends, from call to call
	outcome  error  // of the attempt
}

func newCaller(run *stormRun) *caller {
	c := &caller{run: run}
	c.timer.fire = c.wake
	c.try = c.perform
	c.resume, c.stop = iter.Pull(c.live)
	return c
}

// live is the coroutine.
func (c *caller) live(yield func(struct{}) bool) {
	c.yield = yield
	for {
		err := retry.Do(c, c.process.policy, c.try)
		if c.run.stopped {
			return
		}
		if err == nil {
			c.run.meter.success(c.arrived, c.run.now)
		}
		c.run.free = append(c.run.free, c)
		if !yield(struct{}{}) {
			return
		}
	}
}

// wake lets the coroutine go on until it waits again.
func (c *caller) wake() {
	c.run.running = c
	c.resume()
}

// pause gives way to the event loop until the timer fires at a time, or
// somebody else wakes the caller. It reports false when the trial is over.
func (c *caller) pause(until int64) bool {
	c.run.timers.start(&c.timer, until)
	return c.yield(struct{}{})
}

// perform is the operation: an attempt at the server.
func (c *caller) perform(context.Context) error {
	r := c.run
	if r.stopped {
		return errStopped
	}
	r.meter.attempt(r.now)
	c.attempt++
	limit := min(r.now+c.process.timeout, c.deadline)
	c.outcome = errTimeout
	if err := r.server.submit(job{c, c.attempt}); err != nil {
		if heard := r.now + int64(r.storm.Refusal); heard < limit {
			limit, c.outcome = heard, err
		}
	}
	if !c.pause(limit) {
		return errStopped
	}
	c.attempt++
	return c.outcome
}

// Deadline returns that of the call.
func (c *caller) Deadline() (time.Time, bool) {
	return clockStart.Add(time.Duration(c.deadline)), true
}

// Done returns nil: nothing that can be simulated waits for a channel.
func (c *caller) Done() <-chan struct{} { return nil }

// Err returns whether the deadline has passed in virtual time.
func (c *caller) Err() error {
	if c.run.now >= c.deadline {
		return context.DeadlineExceeded
	}
	return nil
}

// Value returns nil.
func (c *caller) Value(any) any { return nil }

// virtualClock is the clock of a trial. Who sleeps is the caller that runs.
type virtualClock struct{ run *stormRun }

// Now returns the virtual time.
func (k virtualClock) Now() time.Time { return clockStart.Add(time.Duration(k.run.now)) }

// Sleep gives way to the event loop for d or until the call's deadline.
func (k virtualClock) Sleep(ctx context.Context, d time.Duration) error {
	r := k.run
	c := r.running
	switch {
	case r.stopped:
		return errStopped
	case d <= 0 || c.Err() != nil:
		return ctx.Err()
	}
	until := r.now + min(int64(d), math.MaxInt64-r.now)
	if !c.pause(min(until, c.deadline)) {
		return errStopped
	}
	return c.Err()
}
