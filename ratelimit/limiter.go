package ratelimit

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A Limiter is a [retry.Limiter] that keeps calls under the limits of a server. The zero value
// learns the limits from the responses. Share a Limiter, by pointer, among the calls that share
// a limit, such as those with one key. It is safe for concurrent use, starts a goroutine only
// to ask a Store, and must not be copied or changed once in use.
type Limiter struct {
	// Limit is a limit that you know, for servers whose headers do not tell it. If the headers
	// do tell a limit, they overrule Limit as long as more than a quarter of it is left. The
	// zero Limit means none.
	Limit Limit

	// Store shares Limit with the other processes that use the same Key. nil means that this
	// Limiter has the Limit alone.
	Store Store

	// Key names the Limit in the Store, such as by the API and the account.
	Key string

	// MaxWait is the longest time that a call waits before an attempt. If its turn would come
	// later than that, or later than its deadline allows, the attempt begins at once, as
	// without a Limiter. 0 or less means a minute.
	MaxWait time.Duration

	// MaxLine is the maximum number of calls that wait. If so many are waiting, further calls
	// begin at once. 0 or less means 10,000.
	MaxLine int

	// Clock replaces the system's clock; nil means the system's. It should be the Clock of
	// the Policy.
	Clock retry.Clock

	mu      sync.Mutex
	line    line
	calls   float64 // begun, without those that the server refused
	units   float64 // what they cost
	levels  []*level
	hints   closing
	ramp    ramp // of a Limiter that knows nothing yet
	heard   bool // Hear has been called
	reserve reserve
	stats   Stats         // without States and Waiting
	rtt     time.Duration // of a request, on average
	least   time.Duration // the shortest of recent requests
}

// A Begun is a request that has begun. See [Limiter.Begin].
type Begun struct {
	at           time.Time
	cost         float64
	calls, units float64 // that had begun by then
}

// A Response is what came back for a request. The zero Response stands for a request without a
// response, or for a failure that says nothing about limits.
type Response struct {
	OK      bool          // the server executed the request
	Refused bool          // the server refused the request because of a limit
	Hint    time.Duration // the wait that a refusal asks for; 0: none
	States  []State       // see [Read]
}

// Begin notes that a request begins, after Wait. Package retryhttp calls Begin and Hear for
// each request; programs that use another client may do so themselves. Without Hear, the
// Limiter has only the hints of [Limiter.Observe].
func (l *Limiter) Begin(ctx context.Context) Begun {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return Begun{at: now, cost: costOf(ctx), calls: l.calls, units: l.units}
}

// Hear notes the response to a request. The times of b and of the response tell how old the
// States are.
func (l *Limiter) Hear(b Begun, r Response) {
	if b.at.IsZero() {
		return
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = true
	l.note(now, b, r)
}

// Observe notes the hint of a refused attempt. [retry.Do] calls it. Once Hear has been called,
// Observe does nothing, because responses say more than hints.
func (l *Limiter) Observe(a retry.Attempt) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard {
		return
	}
	l.ramp.over = true // there will be no States
	b := Begun{at: now, calls: l.calls, units: l.units}
	l.note(now, b, Response{OK: a.Err == nil, Refused: a.Hint > 0, Hint: a.Hint})
}

func (l *Limiter) note(now time.Time, b Begun, r Response) {
	if r.Refused { // the server does not count it
		l.calls--
		l.units -= b.cost
		b.calls--
		b.units -= b.cost
		for _, d := range l.levels {
			d.forget(b)
		}
	}
	if rtt := now.Sub(b.at); r.OK && rtt > 0 {
		if l.rtt == 0 {
			l.rtt, l.least = rtt, rtt
		}
		l.rtt += (rtt - l.rtt) / 8
		l.least = min(rtt, l.least+l.least/64)
	}
	explained := false
	for _, s := range r.States {
		d := l.level(s.Name)
		if d != nil && d.hear(now, l, b, s, r) {
			explained = true
		}
	}
	if r.OK || r.Refused || len(r.States) > 0 {
		l.ramp.over = l.ramp.over || len(r.States) == 0 || l.alone()
	}
	if r.Refused && r.Hint > 0 {
		l.block(now, r.Hint)
	}
	if !explained {
		l.hints.note(now, b, r, l.maxWait())
	}
	l.wakeFirst()
}

// alone reports whether nobody else uses the limits.
func (l *Limiter) alone() bool {
	for _, d := range l.levels {
		if d.part < alone {
			return false
		}
	}
	return true
}

func (l *Limiter) level(name string) *level {
	for _, d := range l.levels {
		if d.name == name {
			return d
		}
	}
	if len(l.levels) == maxStates {
		return nil
	}
	d := newLevel(name)
	l.levels = append(l.levels, d)
	return d
}

// gate returns when the next call may begin.
func (l *Limiter) gate(now time.Time, cost float64) time.Time {
	at := l.hints.gate(now)
	at = later(at, l.ramp.gate(now))
	for _, d := range l.levels {
		at = later(at, d.gate(now, l, cost))
	}
	return at
}

// start notes that a call begins.
func (l *Limiter) start(now time.Time, cost float64) {
	l.hints.start(now)
	l.ramp.begun++
	l.calls++
	l.units += cost
	for _, d := range l.levels {
		d.last = now
		d.starts++
	}
}

func (l *Limiter) maxWait() time.Duration { return cmp.Or(max(0, l.MaxWait), time.Minute) }

func (l *Limiter) maxLine() int { return cmp.Or(max(0, l.MaxLine), 10_000) }

// waiting returns the number of calls that wait, for the levels or for the Limit.
func (l *Limiter) waiting() int { return len(l.line) + l.reserve.waiting }

func (l *Limiter) clock() retry.Clock { return cmp.Or[retry.Clock](l.Clock, retry.SystemClock{}) }

func (l *Limiter) now() time.Time { return l.clock().Now() }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// A caller is a call in line.
type caller struct {
	cost  float64
	due   time.Time // a turn that comes later is too late
	last  time.Time // it begins at the latest
	late  time.Time // later, it could hardly end in time
	order time.Time // of the line
	since time.Time // it waits; zero: it did not have to
	index int       // in the line; -1: not in it
	wake  context.CancelFunc
}

// A line is a heap of the calls that wait.
type line []*caller

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].order.Before(l[j].order) }
func (l line) Swap(i, j int)      { l[i], l[j] = l[j], l[i]; l[i].index, l[j].index = i, j }
func (l *line) Push(x any)        { c := x.(*caller); c.index = len(*l); *l = append(*l, c) }
func (l *line) Pop() any {
	last := len(*l) - 1
	c := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	c.index = -1
	return c
}

// Wait waits until an attempt may begin. The call whose deadline comes first is the first. Wait
// returns an error if ctx ends or the Clock fails while it waits. While a limit is short, it
// also returns one, which matches [context.DeadlineExceeded], if less time is left than the
// shortest of recent requests took.
func (l *Limiter) Wait(ctx context.Context) error {
	c := &caller{cost: costOf(ctx), index: -1}
	defer l.conclude(c)
	var ended error
	for {
		woken, wake := context.WithCancel(ctx)
		wait, err := l.turn(ctx, c, wake, ended)
		if wait <= 0 {
			wake()
			if err != nil {
				return err
			}
			return l.keep(ctx, c)
		}
		ended = l.sleep(woken, c, wait)
		if woken.Err() != nil {
			ended = ctx.Err() // nil if only woken
		}
		wake()
	}
}

// conclude counts the wait of a call that does not wait any more.
func (l *Limiter) conclude(c *caller) {
	l.mu.Lock()
	if c.index >= 0 { // the Clock panicked; the calls behind must not wait for this one
		l.leave(c)
	}
	l.mu.Unlock()
	if c.since.IsZero() {
		return
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Waits++
	l.stats.Waited += max(0, now.Sub(c.since))
}

// sleep waits, and notes when a call began to wait.
func (l *Limiter) sleep(ctx context.Context, c *caller, d time.Duration) error {
	if c.since.IsZero() {
		c.since = l.now()
	}
	return l.clock().Sleep(ctx, d)
}

// turn returns how long a call waits before it asks again; 0: it begins, or ends with the
// error.
func (l *Limiter) turn(ctx context.Context, c *caller, wake context.CancelFunc, ended error) (time.Duration, error) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended != nil {
		l.leave(c)
		return 0, ended
	}
	if l.hopeless(ctx, now) {
		l.leave(c)
		return 0, errLate
	}
	if c.index < 0 {
		l.bound(ctx, now, c)
		if l.waiting() >= l.maxLine() || len(l.line) == 0 && !l.gate(now, c.cost).After(now) {
			l.start(now, c.cost)
			return 0, nil
		}
		c.order = c.due
		heap.Push(&l.line, c)
	}
	c.wake = wake
	if c.late.After(c.due) && !c.due.After(now) && l.short(now) {
		l.yield(c)
	}
	at := c.last
	if c.index == 0 {
		gate := l.gate(now, c.cost)
		if gate.Before(c.due) {
			at = earlier(at, gate)
		} else {
			at = now // its turn would come too late: as without a Limiter
		}
	}
	if at.After(now) {
		return at.Sub(now), nil
	}
	l.start(now, c.cost)
	l.leave(c)
	return 0, nil
}

// yield moves a call that may be too late behind those that are not. It still begins if the
// others leave something.
func (l *Limiter) yield(c *caller) {
	c.order = c.order.Add(time.Hour)
	c.due, c.last = c.late, c.late
	heap.Fix(&l.line, c.index)
}

var errLate = fmt.Errorf("ratelimit: %w, as requests usually take: it would use up the limit for nothing", context.DeadlineExceeded)

// hopeless reports whether a call could not end in time although the limit is short: it must not
// use up what others need.
func (l *Limiter) hopeless(ctx context.Context, now time.Time) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(now) < l.least && l.short(now)
}

// short reports whether calls have to wait for a limit, or had to lately.
func (l *Limiter) short(now time.Time) bool {
	for _, d := range l.levels {
		if d.short(now) {
			return true
		}
	}
	return false
}

// bound sets until when a call may wait.
func (l *Limiter) bound(ctx context.Context, now time.Time, c *caller) {
	c.due = now.Add(l.maxWait())
	c.last, c.late = c.due, c.due
	if deadline, ok := ctx.Deadline(); ok {
		c.due = earlier(c.due, deadline.Add(-l.rtt*5/4))
		c.last = earlier(c.due, now.Add(deadline.Sub(now)*3/4))
		c.late = deadline.Add(-l.least)
	}
}

func (l *Limiter) leave(c *caller) {
	if c.index >= 0 {
		heap.Remove(&l.line, c.index)
	}
	l.wakeFirst()
}

func (l *Limiter) wakeFirst() {
	if len(l.line) > 0 && l.line[0].wake != nil {
		l.line[0].wake()
	}
}
