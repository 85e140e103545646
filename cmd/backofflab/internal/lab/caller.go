package lab

// The simulated clients of a Storm.

import (
	"context"
	"net"
	"os"
	"syscall"

	"github.com/gobackoff/retry"
)

// The errors of attempts, as real clients return them.
var (
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	errReset   error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errTimeout error = noResponse{}
)

type process struct {
	policy  retry.Policy
	timeout int64 // of each attempt
}

// caller makes one call after another.
type caller struct {
	task
	run *stormRun
	try func(context.Context) error // c.perform, allocated once

	process *process
	arrived int64
	attempt uint64 // changes when an attempt begins or ends
	outcome error  // of the attempt
}

func newCaller(run *stormRun) *caller {
	c := &caller{run: run}
	c.try = c.perform
	c.start(&run.world, &run.draws, c.live)
	return c
}

func (c *caller) live() {
	for {
		err := retry.Do(c, c.process.policy, c.try)
		if c.run.stopped {
			return
		}
		if err == nil {
			c.run.meter.success(c.arrived, c.run.now)
		}
		c.run.free = append(c.run.free, c)
		if !c.yield(struct{}{}) {
			return
		}
	}
}

func (c *caller) perform(context.Context) error {
	r := c.run
	if r.stopped {
		return errStopped
	}
	r.meter.attempt(r.now)
	c.attempt++
	limit := min(r.now+c.process.timeout, c.deadline)
	c.outcome = errTimeout
	if err := r.server.submit(job{caller: c, attempt: c.attempt}); err != nil {
		if refused := r.now + int64(r.storm.Refusal); refused < limit {
			limit, c.outcome = refused, err
		}
	}
	if !c.pause(limit) {
		return errStopped
	}
	c.attempt++
	return c.outcome
}
