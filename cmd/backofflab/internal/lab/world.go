package lab

// Virtual time, and the coroutines that run in it.

import (
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"github.com/gobackoff/retry"
)

// world is virtual time, in which the coroutines of a trial take turns: only one goroutine
// runs at a time.
type world struct {
	now     int64 // nanoseconds since the start
	timers  timers
	running *task // current or latest
	stopped bool  // the trial is over: calls must not wait
}

var clockStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

var errStopped = errors.New("the trial has ended")

func (w *world) Now() time.Time { return clockStart.Add(time.Duration(w.now)) }

// Sleep makes the current task wait for d, or until the deadline of the task's call. If ctx
// is derived from the task's, such as that of a caller in a limiter's line, the wait also
// ends with ctx, which is looked at every 50 ms of virtual time.
func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	t := w.running
	switch {
	case w.stopped:
		return errStopped
	case d <= 0 || t.Err() != nil:
		return ctx.Err()
	}
	end := min(w.now+min(int64(d), math.MaxInt64-w.now), t.deadline)
	step := int64(math.MaxInt64)
	if ctx != context.Context(t) {
		step = int64(50 * time.Millisecond)
	}
	for w.now < end && ctx.Err() == nil {
		if !t.pause(w.now + min(step, end-w.now)) {
			return errStopped
		}
	}
	if err := t.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

func (w *world) draw() float64 { return w.running.draws.uniform() }

// own sets the policy's random source, and its clock if it has none. It returns
// AttemptTimeout separately, because Do would measure it in real time.
func (w *world) own(p retry.Policy) (policy retry.Policy, timeout time.Duration) {
	if p.Clock == nil {
		p.Clock = w
	}
	p.Rand = w.draw
	timeout, p.AttemptTimeout = p.AttemptTimeout, 0
	return p, timeout
}

// task calls [retry.Do] in a coroutine that yields whenever a call waits. It is the
// context of these calls.
type task struct {
	world    *world
	timer    timer
	resume   func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	deadline int64   // of the call; noDeadline: none
	draws    *stream // random numbers for its policy
}

const noDeadline = math.MaxInt64

func (t *task) start(w *world, draws *stream, live func()) {
	t.world, t.draws, t.deadline, t.timer.fire = w, draws, noDeadline, t.wake
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		live()
	})
}

// wake runs the coroutine until it waits again.
func (t *task) wake() {
	t.world.running = t
	t.resume()
}

// pause yields until the given time, or until something else wakes the task. It returns
// false if the trial is over.
func (t *task) pause(until int64) bool {
	t.world.timers.start(&t.timer, until)
	return t.yield(struct{}{})
}

func (t *task) Deadline() (time.Time, bool) {
	if t.deadline == noDeadline {
		return time.Time{}, false
	}
	return clockStart.Add(time.Duration(t.deadline)), true
}

// Done returns nil: simulated operations do not wait for channels.
func (t *task) Done() <-chan struct{} { return nil }

func (t *task) Err() error {
	if t.world.now >= t.deadline {
		return context.DeadlineExceeded
	}
	return nil
}

func (t *task) Value(any) any { return nil }
