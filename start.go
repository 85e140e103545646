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
// time. It may be used by any number of goroutines, but not in and outside of a
// synctest bubble. Its fields must not be changed once it is in use, and it must
// not be copied.
//
// A Starter cannot be waited for or closed: done tells of the end of each call,
// and the end of its context brings it about.
type Starter struct {
	// Policy says when to try again. What waits for its Limiter, or on a Clock
	// other than the system's, holds a goroutine and a place among MaxInFlight.
	Policy Policy

	// MaxInFlight is how many attempts may run at the same time. Those that find
	// no place begin later, in the order in which they were due; MaxElapsed
	// does not bound that wait, the context does. 0 or less: no bound.
	MaxInFlight int

	mu          sync.Mutex
	inFlight    int
	first, last *pending                   // of those that wait for a place
	watches     map[<-chan struct{}]*watch // by the Done of the contexts
}

// Start calls op, and calls it again until it succeeds, fails for good, or the
// Policy gives up. It returns at once. done, unless it is nil, is then called
// exactly once, with what [Do] would return. done and OnGiveUp should not block:
// calls that end with one context are told of one after the other. done may call
// Start.
//
// The end of ctx ends the call, also while it waits for the next attempt, or for a
// place among those in flight. A call whose context is of a type of its own, without
// an AfterFunc, holds a goroutine of package context's; and its methods must not wait
// for a lock that is held during a call of Start.
//
// A panic of op or of a function of the Policy ends the program, as in any
// goroutine. If one of them ends its goroutine, as FailNow of a test does, done gets
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
	ended := c.ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight < s.MaxInFlight {
		s.inFlight++
		return true
	}
	if c.before = s.last; s.last == nil {
		s.first = c
	} else {
		s.last.after = c
	}
	s.last = c
	s.watch(c, ended)
	return false
}

// leave gives a place in flight to the call that has waited for one the longest.
func (s *Starter) leave() {
	if s.MaxInFlight <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.first
	if c == nil {
		s.inFlight--
		return
	}
	s.claim(c)
	go c.run()
}

// watch lets c wait until it is claimed, or its context ends, as ended tells. The
// mutex is held.
func (s *Starter) watch(c *pending, ended <-chan struct{}) {
	c.waits = true
	if ended == nil {
		return
	}
	w := s.watches[ended]
	if w == nil {
		w = &watch{ended: ended}
		w.stop = context.AfterFunc(c.ctx, func() { s.end(w) })
		if s.watches == nil {
			s.watches = map[<-chan struct{}]*watch{}
		}
		s.watches[ended] = w
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
	s.unqueue(c)
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
		delete(s.watches, w.ended)
	}
	return true
}

// unqueue takes c out of those that wait for a place, if it is one. The mutex is
// held.
func (s *Starter) unqueue(c *pending) {
	if s.first != c && c.before == nil {
		return
	}
	if c.before == nil {
		s.first = c.after
	} else {
		c.before.after = c.after
	}
	if c.after == nil {
		s.last = c.before
	} else {
		c.after.before = c.before
	}
	c.before, c.after = nil, nil
}

// end ends the calls that wait, because their context has ended.
func (s *Starter) end(w *watch) {
	s.mu.Lock()
	first := w.first
	for c := first; c != nil; c = c.next {
		c.waits = false
		s.unqueue(c)
	}
	w.first = nil
	if s.watches[w.ended] == w {
		delete(s.watches, w.ended)
	}
	s.mu.Unlock()
	endAll(first)
}

// endAll ends the calls of a list. If a done ends the goroutine, another one goes
// on with the rest.
func endAll(c *pending) {
	defer func() {
		if c != nil {
			go endAll(c)
		}
	}()
	for c != nil {
		ended := c
		c = c.next
		ended.watch, ended.next, ended.previous = nil, nil, nil // so that none keeps the others
		ended.cutShort()
	}
}

// A watch is what the calls have in common that wait and whose contexts have
// the same Done: one for all of them, because it is larger than they are.
type watch struct {
	ended <-chan struct{}
	first *pending
	stop  func() bool // forgets the context
}

// pending is a call in the background. There may be very many, so it is small,
// and its lists need no memory of their own. Its timer wakes it.
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
	before, after  *pending // of those that wait for a place
}

// run makes an attempt in a place that has been taken for it, and sees to what
// follows.
func (c *pending) run() {
	var wait time.Duration
	ended, err := true, ErrNoReturn
	defer func() {
		// To go on while the program dies might let it end as if all were well.
		if v := recover(); v != nil {
			panic(v)
		}
		c.starter.leave()
		if ended {
			c.done(err)
		} else {
			c.wait(wait)
		}
	}()
	wait, ended, err = c.turn(c.ctx, &c.starter.Policy, c.op, nil)
}

// wait lets the next attempt begin after d.
func (c *pending) wait(d time.Duration) {
	s, ended := c.starter, c.ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(c, ended)
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
	switch {
	case !mine:
	case c.spent: // there is no further attempt, for which it would need a place
		c.tell(func() error {
			_, _, err := c.turn(c.ctx, &s.Policy, c.op, nil)
			return err
		})
	case s.enter(c):
		c.run()
	}
}

// cutShort ends the call, whose context has ended while it waited.
func (c *pending) cutShort() {
	c.tell(func() error { return c.call.cutShort(c.ctx, &c.starter.Policy) })
}

// tell tells of the end of the call with what last returns.
func (c *pending) tell(last func() error) {
	err := ErrNoReturn
	defer func() {
		if v := recover(); v != nil {
			panic(v)
		}
		c.done(err)
	}()
	err = last()
}
