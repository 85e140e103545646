package retryhedge

import (
	"context"
	"time"
)

// Do calls op, and if it takes too long a second time at the same time, and returns the
// result that comes first. A failure counts only if it is permanent, or if all copies
// fail; then Do returns that of the first. Calls with the same key, such as the name of a
// server, are compared with each other. If h is nil, there are no copies.
//
// op must be safe to call concurrently and to execute more than once. The contexts of all
// calls of op end before Do returns. The first call runs in the caller's goroutine, so op
// must return soon after its context has ended; later calls may still be running when Do
// returns. A panic in the first call of op passes through; one in a copy is a [*PanicError],
// or an [Event] if the call has ended.
func Do[T any](ctx context.Context, h *Hedge, key string, op func(context.Context) (T, error)) (T, error) {
	v, done, err := Open(ctx, h, key, func(ctx context.Context, _ int) (T, error) { return op(ctx) }, nil)
	done()
	return v, err
}

// Open is [Do] for a result that is still being used when Open returns, such as a response
// whose body is read later. The context in which it was created lives until done is called;
// done is never nil. release, unless nil, receives each result that is not returned, those
// beside an error included, in any goroutine. copy is 0 for the first call of op.
func Open[T any](ctx context.Context, h *Hedge, key string, op func(ctx context.Context, copy int) (T, error), release func(T)) (v T, done context.CancelFunc, err error) {
	if h == nil {
		v, err = op(ctx, 0)
		return v, nothing, err
	}
	if err := h.Validate(); err != nil {
		return v, nothing, err
	}
	l, start := h.lane(key), time.Now()
	wait := l.wait()
	if wait == 0 {
		v, err = op(ctx, 0)
		l.judge(err)
		l.add(time.Since(start), err == nil)
		return v, nothing, err
	}
	r := &race[T]{lane: l, ctx: ctx, wait: wait, op: op, release: release}
	won := r.run(start)
	if won.number > 0 {
		l.event(ctx, Won, won.number, wait, nil)
	}
	return won.value, func() { won.cancel(nil) }, won.err
}

// nothing is not a literal in Open, which would allocate because Open is generic.
func nothing() {}
