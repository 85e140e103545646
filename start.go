package retry

import (
	"context"
	"sync"
	"time"
)

// A Starter runs operations in the background and retries them as its Policy
// says. While a call waits it holds no goroutine, so a million calls that wait
// need a few hundred megabytes. What a call does, and how it ends, is the same
// as with [Do].
//
// The zero Starter runs operations under the zero Policy, any number at the same
// time. It may be used by any number of goroutines. Its fields must not be
// changed once it is in use, and it must not be copied.
//
// A Starter cannot be waited for or closed: done tells of the end of each call,
// and the end of its context brings it about.
type Starter struct {
	// Policy says when to try again. A Clock other than the system's holds a
	// goroutine during each wait, and so does a Limiter.
	Policy Policy

	// MaxInFlight is how many attempts may run at the same time. Those that find
	// no place begin later, in the order in which they were due. 0 or less: no
	// bound.
	MaxInFlight int

	mu          sync.Mutex
	inFlight    int
	first, last *pending                   // of those that wait for a place
	watches     map[<-chan struct{}]*watch // by the Done of the contexts
}

// Start calls op, and calls it again until it succeeds, fails for good, or the
// Policy gives up. It returns at once. done, unless it is nil, is then called
// exactly once, with what [Do] would return. It should not block, because other
// calls may have to wait for its return. op and done are called in goroutines of
// their own; done may call Start.
//
// The end of ctx ends the call, also while it waits for the next attempt, or for a
// place among those in flight. A panic of op ends the program, as in any
// goroutine. If op ends its goroutine, as FailNow of a test does, done gets
// [ErrNoReturn].
func (s *Starter) Start(ctx context.Context, op func(context.Context) error, done func(error)) {
	if done == nil {
		done = func(error) {}
	}
	if s.Policy.unfit(ctx, op != nil) {
		go done(s.Policy.refuse(ctx, op != nil))
		return
	}
	c := &pending{starter: s, ctx: ctx, op: op, done: done}
	c.begin(&s.Policy)
	if s.enter(c) {
		go c.run()
	}
}

// enter takes a place in flight for c and reports whether there was one. If not,
// c waits for it.
func (s *Starter) enter(c *pending) bool {
	if s.MaxInFlight <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight < s.MaxInFlight {
		s.inFlight++
		return true
	}
	if s.first == nil {
		s.first = c
	} else {
		s.last.queued = c
	}
	s.last = c
	s.watch(c)
	return false
}

// leave gives a place in flight to the call that has waited for one the longest.
func (s *Starter) leave() {
	if s.MaxInFlight <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.first != nil {
		c := s.first
		s.first, c.queued = c.queued, nil
		if s.claim(c) {
			go c.run()
			return
		}
	}
	s.inFlight--
}

// watch lets c wait until it is claimed, or its context ends. The mutex is held.
func (s *Starter) watch(c *pending) {
	c.waits = true
	done := c.ctx.Done()
	if done == nil {
		return
	}
	w := s.watches[done]
	if w == nil {
		w = &watch{done: done}
		w.stop = context.AfterFunc(c.ctx, func() { s.end(w) })
		if s.watches == nil {
			s.watches = map[<-chan struct{}]*watch{}
		}
		s.watches[done] = w
	}
	c.watch, c.next = w, w.first
	if c.next != nil {
		c.next.previous = c
	}
	w.first = c
}

// claim reports whether c waits, and ends that: whoever has claimed a call goes
// on with it. The mutex is held.
func (s *Starter) claim(c *pending) bool {
	if !c.waits {
		return false
	}
	c.waits = false
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
		delete(s.watches, w.done)
	}
	return true
}

// end ends the calls that wait, because their context has ended.
func (s *Starter) end(w *watch) {
	s.mu.Lock()
	ended := w.first
	for c := ended; c != nil; c = c.next {
		c.waits = false
	}
	w.first = nil
	if s.watches[w.done] == w {
		delete(s.watches, w.done)
	}
	s.mu.Unlock()
	for c := ended; c != nil; c = c.next {
		c.end(context.Canceled)
	}
}

// A watch is what the calls have in common that wait and whose contexts have
// the same Done: one for all of them, because it is larger than they are.
type watch struct {
	done  <-chan struct{}
	first *pending
	stop  func() bool // forgets the context
}

// pending is a call in the background. There may be very many, so it is small,
// and its lists need no memory of their own.
type pending struct {
	call
	starter *Starter
	ctx     context.Context
	op      func(context.Context) error
	done    func(error)

	// Guarded by the mutex of the Starter.
	waits          bool     // and may be claimed
	watch          *watch   // nil if ctx has no end
	previous, next *pending // of the same watch
	queued         *pending // the next one that waits for a place
}

// run makes an attempt and sees to what follows.
func (c *pending) run() {
	returned := false
	defer func() {
		if !returned {
			c.starter.leave()
			c.done(ErrNoReturn)
		}
	}()
	wait, ended, err := c.turn(c.ctx, &c.starter.Policy, c.op, nil)
	returned = true
	c.starter.leave()
	if ended {
		c.done(err)
	} else {
		c.wait(wait)
	}
}

// wait lets the next attempt begin after d.
func (c *pending) wait(d time.Duration) {
	s := c.starter
	if !isSystem(s.Policy.Clock) {
		if err := s.Policy.Clock.Sleep(c.ctx, d); err != nil {
			c.end(err)
		} else if s.enter(c) {
			go c.run()
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(c)
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.wake)
	} else {
		c.timer.Reset(d)
	}
}

// wake ends a wait.
func (c *pending) wake() {
	s := c.starter
	s.mu.Lock()
	mine := s.claim(c)
	s.mu.Unlock()
	if mine && s.enter(c) {
		c.run()
	}
}

// end ends a call whose wait has ended too early, with err.
func (c *pending) end(err error) {
	c.done(c.cutShort(c.ctx, &c.starter.Policy, err))
}
