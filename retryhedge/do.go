package retryhedge

import (
	"context"
	"time"
)

// Do calls op. If op takes too long, Do starts a copy, which is a second call of op at the same
// time. It returns the result that comes first.
//
// A permanent failure ends the call. Another failure counts only if all calls of op fail; Do
// then returns the failure of the first. How long is too long follows from earlier calls with
// the same key, such as the name of a server. If h is nil, there are no copies.
//
// op must be safe to call concurrently and to execute more than once. The contexts of all calls
// of op end before Do returns. The first call runs in the caller's goroutine, and
// Do returns after it, so op must return soon after its context has ended. Copies may still be
// running when Do returns. A panic in the first call of op passes through. A panic in a copy
// becomes a [*PanicError], or an [Event] if the call has ended.
func Do[T any](ctx context.Context, h *Hedge, key string, op func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancel(ctx) // a call without a copy gets the context as it is
	defer cancel()
	v, done, err := Open(ctx, h, key, func(ctx context.Context, _ int) (T, error) { return op(ctx) }, nil)
	done()
	return v, err
}

// Open is [Do] for a result that is still being used when Open returns, such as a response
// whose body is read later. The context in which the result was created lives until done is
// called. done is never nil.
//
// Unless it is nil, release receives each result that Open does not return, in any goroutine,
// even a result that op returned with an error. copy is 0 for the first call of op.
func Open[T any](ctx context.Context, h *Hedge, key string, op func(ctx context.Context, copy int) (T, error), release func(T)) (v T, done context.CancelFunc, err error) {
	if h == nil {
		v, err = op(ctx, 0)
		return v, nothing, err
	}
	if err := h.Validate(); err != nil {
		return v, nothing, err
	}
	l, forgotten := h.lane(key)
	if forgotten != nil {
		forgotten.event(ctx, Forgotten, 0, 0, nil)
	}
	start := time.Now()
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
