package retryhedge

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A race is a call that may have copies.
type race[T any] struct {
	lane    *lane
	ctx     context.Context
	wait    time.Duration
	op      func(context.Context, int) (T, error)
	release func(T)

	mu      sync.Mutex
	timer   *time.Timer // starts the next copy
	runners []*runner[T]
	running int
	winner  *runner[T]
	over    chan struct{} // closed when there is a winner; nil if the caller does not wait
	first   runner[T]
}

// A runner is one call of op.
type runner[T any] struct {
	number   int
	cancel   context.CancelCauseFunc
	ended    bool
	value    T
	err      error
	panicked *PanicError
}

// run calls op in this goroutine and returns the winner.
func (r *race[T]) run(start time.Time) *runner[T] {
	r.mu.Lock()
	ctx := r.enter(&r.first)
	r.timer = time.AfterFunc(r.wait, r.copy)
	r.mu.Unlock()
	r.call(ctx, &r.first)
	r.lane.add(time.Since(start), r.first.err == nil)
	r.mu.Lock()
	if r.winner == nil {
		r.over = make(chan struct{})
		r.mu.Unlock()
		<-r.over
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	return r.winner
}

func (r *race[T]) enter(c *runner[T]) (ctx context.Context) {
	ctx, c.cancel = context.WithCancelCause(r.ctx)
	c.number = len(r.runners)
	r.runners = append(r.runners, c)
	r.running++
	return ctx
}

// copy starts a copy, unless it is no longer wanted or the budget refuses it.
func (r *race[T]) copy() {
	r.mu.Lock()
	n := len(r.runners)
	if r.winner != nil || r.ctx.Err() != nil || r.lane.wait() == 0 {
		r.mu.Unlock()
		return
	}
	if !r.lane.pay(n) {
		r.mu.Unlock()
		r.lane.event(r.ctx, Refused, n, r.wait, nil)
		return
	}
	c := new(runner[T])
	ctx := r.enter(c)
	if n < r.lane.hedge.MaxCopies {
		r.timer.Reset(r.wait)
	}
	r.mu.Unlock()
	r.lane.event(ctx, Started, n, r.wait, nil)
	r.call(ctx, c)
}

// call calls op, which may not return. A copy's panic becomes an error of the call, or an
// Event if that has ended: in this goroutine, it would end the program, even where net/http
// recovers the panics of a handler.
func (r *race[T]) call(ctx context.Context, c *runner[T]) {
	c.err = retry.Permanent(retry.ErrNoReturn)
	returned := false
	defer func() {
		if !returned {
			c.cancel(nil)
		}
		if !returned && c.number > 0 {
			if v := recover(); v != nil {
				c.panicked = &PanicError{v, debug.Stack()}
				c.err = retry.Permanent(c.panicked)
			} else {
				c.err = retry.ErrNoReturn // a failure like any other
			}
		}
		won, losers := r.finish(c)
		if !returned && !won && c.number == 0 { // the caller gets no result
			r.winner.cancel(nil)
			losers = append(losers, r.winner)
		}
		for _, l := range losers {
			if r.release != nil {
				r.release(l.value)
			}
		}
		if !won && c.panicked != nil {
			r.lane.event(r.ctx, Panicked, c.number, r.wait, c.panicked)
		}
	}()
	c.value, c.err = r.op(ctx, c.number)
	returned = true
}

// finish ends a runner and reports whether it is the winner: the first to succeed or to
// fail permanently, or the first of all if all fail. It returns the losers that have ended.
func (r *race[T]) finish(c *runner[T]) (won bool, losers []*runner[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	c.ended = true
	switch {
	case r.winner != nil:
		losers = append(losers, c)
	case r.lane.judge(c.err):
		losers = r.decide(c)
	case r.running == 0:
		losers = r.decide(&r.first)
	}
	return r.winner == c, losers
}

var errLost = errors.New("retryhedge: another copy was faster")

func (r *race[T]) decide(winner *runner[T]) (losers []*runner[T]) {
	r.winner = winner
	r.timer.Stop()
	for _, c := range r.runners {
		if c != winner {
			if c.cancel(errLost); c.ended {
				losers = append(losers, c)
			}
		}
	}
	if r.over != nil {
		close(r.over)
	}
	return losers
}
