package retryhedge

import (
	"context"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A race is a call that may have copies.
type race[T any] struct {
	hedge   *Hedge
	lane    *lane
	key     string
	ctx     context.Context
	wait    time.Duration
	op      func(context.Context, int) (T, error)
	release func(T)

	mu      sync.Mutex
	timer   *time.Timer // starts the next copy
	runners []*runner[T]
	running int
	winner  *runner[T]
	over    chan struct{} // closed when there is a winner
}

// A runner is one call of op.
type runner[T any] struct {
	number   int
	cancel   context.CancelCauseFunc
	ended    bool
	value    T
	err      error
	panicked any
}

// run calls op in this goroutine and returns the winner.
func (r *race[T]) run() *runner[T] {
	r.mu.Lock()
	ctx, first := r.enter()
	r.timer = time.AfterFunc(r.wait, r.copy)
	r.mu.Unlock()
	start := time.Now()
	r.call(ctx, first)
	r.lane.add(time.Since(start), first.err == nil, r.hedge.quantile())
	<-r.over
	w := r.winner
	if w.panicked != nil {
		panic(w.panicked)
	}
	if w != first {
		r.hedge.event(r.ctx, Event{Kind: Won, Key: r.key, Copy: w.number, Wait: r.wait})
	}
	return w
}

func (r *race[T]) enter() (context.Context, *runner[T]) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	c := &runner[T]{number: len(r.runners), cancel: cancel}
	r.runners = append(r.runners, c)
	r.running++
	return ctx, c
}

// copy starts a copy, unless it is no longer wanted or the budget refuses it.
func (r *race[T]) copy() {
	r.mu.Lock()
	if r.winner != nil || r.ctx.Err() != nil || r.lane.wait(r.hedge, time.Now()) == 0 {
		r.mu.Unlock()
		return
	}
	e := Event{Kind: Started, Key: r.key, Copy: len(r.runners), Wait: r.wait}
	if !r.lane.pay(r.hedge, e) {
		r.mu.Unlock()
		e.Kind, e.Slow = Refused, r.lane.slow(r.wait)
		r.hedge.event(r.ctx, e)
		return
	}
	ctx, c := r.enter()
	if e.Copy < r.hedge.MaxCopies {
		r.timer.Reset(r.wait)
	}
	r.mu.Unlock()
	r.hedge.event(ctx, e)
	r.call(ctx, c)
}

// call calls op, which may not return. A copy's panic continues in the caller's goroutine
// if that still waits.
func (r *race[T]) call(ctx context.Context, c *runner[T]) {
	c.err = retry.Permanent(retry.ErrNoReturn)
	returned := false
	defer func() {
		if !returned && c.number > 0 {
			if c.panicked = recover(); c.panicked == nil {
				c.err = retry.ErrNoReturn // a failure like any other
			}
		}
		if !r.finish(c) && c.panicked != nil {
			panic(c.panicked)
		}
	}()
	c.value, c.err = r.op(ctx, c.number)
	returned = true
}

// finish ends a runner and reports whether it is the winner: the first to succeed or to
// fail permanently, or the first of all if all fail.
func (r *race[T]) finish(c *runner[T]) bool {
	r.mu.Lock()
	r.running--
	c.ended = true
	var losers []*runner[T] // that have ended
	switch {
	case r.winner != nil:
		losers = append(losers, c)
	case r.lane.judge(r.hedge, c.err):
		losers = r.decide(c)
	case r.running == 0:
		losers = r.decide(r.runners[0])
	}
	won := r.winner == c
	r.mu.Unlock()
	for _, l := range losers {
		if r.release != nil {
			r.release(l.value)
		}
	}
	return won
}

func (r *race[T]) decide(winner *runner[T]) (losers []*runner[T]) {
	r.winner = winner
	r.timer.Stop()
	for _, c := range r.runners {
		if c == winner {
			continue
		}
		if c.cancel(errLost); c.ended {
			losers = append(losers, c)
		}
	}
	close(r.over)
	return losers
}
