package retry

import (
	"context"
	"sync"
	"time"
)

// A Group retries operations in the background, as [Do] does. A waiting call holds no
// goroutine, so a million of them need a few hundred megabytes.
//
// A Group is safe for concurrent use, but not both inside and outside a synctest bubble. It
// must not be copied or changed after first use.
type Group struct {
	// A call that waits for the Policy's Limiter, or on a Clock other than the
	// system's, holds a goroutine and counts against Limit.
	Policy Policy

	// Limit bounds the number of concurrent attempts. Further attempts wait in the order
	// in which they became due; the context bounds that wait, but MaxElapsed does not. 0
	// or less means no limit.
	Limit int

	calls sync.WaitGroup

	mu          sync.Mutex
	inFlight    int
	first, last *pending                   // the queue for a slot
	watches     map[<-chan struct{}]*watch // by the Done channel of the context
}

// Go retries op as [Do] does, but returns immediately. Unless done is nil, it is
// called exactly once, with the error that Do would return. done and OnGiveUp should
// not block: calls ended by the same context are reported one after another.
//
// If ctx has a custom type without an AfterFunc method, package context keeps a
// goroutine per call, and the methods of ctx must not take a lock that is held while
// Go is called. A panic in op or in a function of the Policy ends the program. If one
// of them calls [runtime.Goexit], as a test's FailNow does, done receives [ErrNoReturn].
func (g *Group) Go(ctx context.Context, op func(context.Context) error, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	g.calls.Add(1)
	c := &pending{group: g, ctx: ctx, op: op, done: done}
	if g.Policy.unfit(ctx, op != nil) {
		go c.end(g.Policy.refuse(ctx, op != nil))
		return
	}
	if g.enter(c) {
		go c.run()
	}
}

// Wait returns when every call has ended and its callback has returned. As with
// [sync.WaitGroup], Go must not be called concurrently with Wait while no call is
// running; done may always call Go.
func (g *Group) Wait() { g.calls.Wait() }

// enter takes a slot for c, or else queues c and reports false.
func (g *Group) enter(c *pending) bool {
	if g.Limit <= 0 {
		return true
	}
	ended := c.ctx.Done()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inFlight < g.Limit {
		g.inFlight++
		return true
	}
	if c.before = g.last; g.last == nil {
		g.first = c
	} else {
		g.last.after = c
	}
	g.last = c
	g.watch(c, ended)
	return false
}

// leave passes the slot to the call that has waited longest for one.
func (g *Group) leave() {
	if g.Limit <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.first
	if c == nil {
		g.inFlight--
		return
	}
	g.claim(c)
	go c.run()
}

// watch makes c wait until it is claimed or its context ends; ended is the context's
// Done channel. g.mu must be held.
func (g *Group) watch(c *pending, ended <-chan struct{}) {
	c.waits = true
	if ended == nil {
		return
	}
	w := g.watches[ended]
	if w == nil {
		w = &watch{ended: ended}
		w.stop = context.AfterFunc(c.ctx, func() { g.end(w) })
		if g.watches == nil {
			g.watches = map[<-chan struct{}]*watch{}
		}
		g.watches[ended] = w
	}
	c.watch, c.next = w, w.first
	if c.next != nil {
		c.next.previous = c
	}
	w.first = c
}

// claim ends c's wait and reports whether c was waiting. The caller that claims
// a call must continue it. g.mu must be held.
func (g *Group) claim(c *pending) bool {
	if !c.waits {
		return false
	}
	c.waits = false
	g.unqueue(c)
	w := c.watch
	if w == nil {
		return true
	}
	if c.next != nil {
		c.next.previous = c.previous
	}
	if c.previous != nil {
		c.previous.next = c.next
	} else {
		w.first = c.next
	}
	c.watch, c.next, c.previous = nil, nil, nil
	if w.first == nil {
		w.stop()
		delete(g.watches, w.ended)
	}
	return true
}

// unqueue removes c from the queue for a slot, if it is there. g.mu must be held.
func (g *Group) unqueue(c *pending) {
	if g.first != c && c.before == nil {
		return
	}
	if c.before == nil {
		g.first = c.after
	} else {
		c.before.after = c.after
	}
	if c.after == nil {
		g.last = c.before
	} else {
		c.after.before = c.before
	}
	c.before, c.after = nil, nil
}

// end ends the calls waiting in w, because their context is done.
func (g *Group) end(w *watch) {
	g.mu.Lock()
	first := w.first
	for c := first; c != nil; c = c.next {
		c.waits = false
		g.unqueue(c)
	}
	w.first = nil
	if g.watches[w.ended] == w {
		delete(g.watches, w.ended)
	}
	g.mu.Unlock()
	endAll(first)
}

// endAll ends the calls in a list. If a done callback calls Goexit, another goroutine
// continues with the rest.
func endAll(c *pending) {
	defer func() {
		if c != nil {
			go endAll(c)
		}
	}()
	for c != nil {
		ended := c
		c = c.next
		ended.watch, ended.next, ended.previous = nil, nil, nil // so that none keeps the others in memory
		ended.cutShort()
	}
}

// A watch is shared by the waiting calls whose contexts have the same Done channel. An
// AfterFunc for each call would take more memory than the call.
type watch struct {
	ended <-chan struct{}
	first *pending
	stop  func() bool
}

// pending is a call in the background. It is small, and linked into its lists
// directly, because there may be very many. Its timer calls wake.
type pending struct {
	call
	group *Group
	ctx   context.Context
	op    func(context.Context) error
	done  func(error)

	// Guarded by group.mu.
	waits          bool     // may be claimed
	watch          *watch   // nil if ctx never ends
	previous, next *pending // in the list of the watch
	before, after  *pending // in the queue for a slot
}

// run makes an attempt, for which a slot has been taken, and starts what follows.
func (c *pending) run() {
	var wait time.Duration
	ended, err := true, ErrNoReturn
	defer func() {
		// Panic again at once: running done first could let the program exit normally.
		if v := recover(); v != nil {
			panic(v)
		}
		c.group.leave()
		if ended {
			c.end(err)
		} else {
			c.wait(wait)
		}
	}()
	wait, ended, err = c.turn(c.ctx, &c.group.Policy, c.op)
}

func (c *pending) wait(d time.Duration) {
	g, ended := c.group, c.ctx.Done()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watch(c, ended)
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.wake)
	} else {
		c.timer.Reset(d)
	}
}

func (c *pending) wake() {
	g := c.group
	g.mu.Lock()
	mine := g.claim(c)
	g.mu.Unlock()
	switch {
	case !mine:
	case g.enter(c):
		c.run()
	}
}

func (c *pending) cutShort() {
	c.finish(func() error { return c.call.cutShort(c.ctx, &c.group.Policy) })
}

func (c *pending) finish(last func() error) {
	err := ErrNoReturn
	defer func() {
		if v := recover(); v != nil {
			panic(v)
		}
		c.end(err)
	}()
	err = last()
}

func (c *pending) end(err error) {
	defer c.group.calls.Done()
	c.done(err)
}
