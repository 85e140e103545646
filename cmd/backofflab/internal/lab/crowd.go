package lab

// Contention with calls to retry.Do, for policies that the model does not cover.

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

// crowd is a trial of a [Contention] in which each client calls [retry.Do] in virtual
// time. For policies whose waits depend only on the number of failures, model is faster.
type crowd struct {
	world
	net delays
	key uint64

	clients []*client
	commit  int64 // time of the last commit; -1: none
	outcome
	timing []int64 // calls in each TimingBin
}

const mostCallers = 200_000 // each takes a few kilobytes

type client struct {
	task
	crowd   *crowd
	number  uint32
	attempt uint32
	stream  stream // the random numbers for its policy
	policy  retry.Policy
	timeout time.Duration // of each attempt; 0: none
	waiting *write        // whose response the client awaits; nil: none
	result  error
}

// write is a write on its way to the server, and then the response on its way back. It
// continues even if the client gives up.
type write struct {
	timer    timer
	client   *client
	attempt  uint32
	read     int64
	response int64 // delay of the response
	err      error
}

// plain reports whether model can simulate the policy.
func plain(p *retry.Policy) bool {
	return p.Budget == nil && p.Limiter == nil && p.AttemptTimeout == 0 &&
		p.OnAttempt == nil && p.OnRetry == nil && p.OnGiveUp == nil
}

// runCrowd runs a trial and reports whether it reached its end.
func runCrowd(ctx context.Context, c *Contention, cell *cell, trial int) bool {
	cr := newCrowd(c, cell, trial)
	defer cr.stop()
	for events := 1; len(cr.timers.heap) > 0; events++ {
		if events%lookAtContext == 0 && ctx.Err() != nil {
			return false
		}
		if cr.now = cr.timers.first(); cr.now > endOfTime {
			break // clients that wait longer have left
		}
		cr.timers.next().fire()
	}
	cell.add(trial, cr.outcome, cr.timing)
	return true
}

func newCrowd(c *Contention, cell *cell, trial int) *crowd {
	cr := &crowd{
		commit: -1, net: c.Network.delays(), key: trialKey(c, cell, trial),
		timing: make([]int64, c.Timing),
	}
	processes := c.processes(cell.Clients)
	policies, timeouts := make([]retry.Policy, processes), make([]time.Duration, processes)
	for i := range policies {
		policies[i], timeouts[i] = cr.own(cell.contender.Policy(cr))
	}
	for i := range cell.Clients {
		client := &client{crowd: cr, number: uint32(i), policy: policies[i%processes], timeout: timeouts[i%processes]}
		client.stream = newStream(cr.key, client.number, policyDraws)
		client.start(&cr.world, &client.stream, client.live)
		cr.clients = append(cr.clients, client)
		start := int64(0)
		if stagger := cell.contender.Stagger; stagger > 0 {
			start = int64(float64(stagger) * client.stream.uniform())
		}
		cr.timers.start(&client.timer, start)
	}
	return cr
}

// policyDraws keys the policy's random numbers; no attempt has this number.
const policyDraws = 1<<32 - 1

func (cr *crowd) stop() {
	cr.stopped = true
	for _, c := range cr.clients {
		c.task.stop()
	}
}

func (c *client) live() {
	err := retry.Do(c, c.policy, c.change)
	cr := c.crowd
	if cr.stopped {
		return
	}
	if err == nil {
		cr.done++
	}
	cr.time = max(cr.time, cr.now)
}

// change is the operation: a read, and a write that succeeds if no other client has written
// since the read.
func (c *client) change(context.Context) error {
	cr := c.crowd
	if cr.stopped {
		return errStopped
	}
	c.attempt++
	s := newStream(cr.key, c.number, c.attempt)
	read := cr.now + cr.net.one(&s)
	known := read + cr.net.one(&s)
	at := known + cr.net.one(&s)
	limit := int64(noDeadline)
	if c.timeout > 0 {
		limit = cr.now + int64(min(c.timeout, endOfTime))
	}
	if limit > known { // otherwise the client has given up before it writes
		c.waiting = &write{client: c, attempt: c.attempt, read: read, response: cr.net.one(&s)}
		c.waiting.timer.fire = c.waiting.arrive
		cr.timers.start(&c.waiting.timer, at)
	}
	c.result = errTimeout
	going := false
	if limit == noDeadline {
		going = c.yield(struct{}{})
	} else {
		going = c.pause(limit)
	}
	c.waiting = nil
	if !going {
		return errStopped
	}
	return c.result
}

func (w *write) arrive() {
	c := w.client
	cr := c.crowd
	cr.calls++
	if bin := cr.now / int64(TimingBin); bin < int64(len(cr.timing)) {
		cr.timing[bin]++
	}
	if w.read >= cr.commit {
		cr.commit = cr.now
	} else {
		w.err = retry.Transient(errConflict)
	}
	w.timer.fire = w.respond
	cr.timers.start(&w.timer, cr.now+w.response)
}

func (w *write) respond() {
	c := w.client
	if c.waiting != w {
		return // the client has given up
	}
	c.result = w.err
	if c.timer.place > 0 {
		c.crowd.timers.stop(&c.timer)
	}
	c.wake()
}
