package ratelimit

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
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
	// without a Limiter. But if a refusal has said that nothing is left until then, the call
	// ends: see [Limiter.Wait]. 0 or less means a minute.
	MaxWait time.Duration

	// MaxLine is the maximum number of calls that wait. If MaxLine calls are already waiting, the
	// next call begins at once. 0 or less means 10,000.
	MaxLine int

	// Clock replaces the system's clock; nil means the system's. It should be the Clock of
	// the Policy.
	Clock retry.Clock

	mu      sync.Mutex
	queues  []*queue
	routes  map[string]*route
	known   int // routes of which a response has come
	levels  []*level
	learned learned
	probed  time.Time // a limit that is used up
	ramp    ramp      // of a Limiter that knows nothing yet
	heard   bool      // Hear has been called
	reserve reserve
	stats   Stats         // without States and Waiting
	rtt     time.Duration // of a request, on average
	least   time.Duration // the shortest of recent requests
}

// A Begun is a request that has begun. See [Limiter.Begin].
type Begun struct {
	at           time.Time
	cost         float64
	route        string
	calls, units float64 // begun on the route by then
	marks        []mark
}

// A mark is what this process had begun by then, as a level counts.
type mark struct {
	level *level
	sent  float64
}

// sent returns what this process had begun when a request began, as a level counts. since is
// what has begun on its route since.
func (b *Begun) sent(d *level, since float64, refused bool) float64 {
	for _, m := range b.marks {
		if m.level != d {
			continue
		}
		if refused {
			m.sent -= d.cost(b.cost)
		}
		return min(m.sent, d.begun)
	}
	return d.begun - since
}

func (b *Begun) counted(d *level) bool {
	return slices.ContainsFunc(b.marks, func(m mark) bool { return m.level == d })
}

// A Response is what came back for a request. The zero Response stands for a request without a
// response, or for a failure that says nothing about limits.
type Response struct {
	OK      bool          // the server executed the request
	Refused bool          // the server refused the request because of a limit
	Hint    time.Duration // the wait that the response asks for; a Limiter heeds that of a refusal; 0: none
	States  []State       // see [Read]
}

// ResponseOf returns what an HTTP response says by its status and its headers:
//
//   - A status that means throttling, and a 503 with a wait, are refusals.
//   - Any other status below 500 is OK.
//   - The wait is that of [retryhttp.RetryAfter]. A response with a status below 400 has one only if
//     its headers tell a limit.
//
// For now, see [Read].
//
// [retryhttp.RetryAfter]: https://pkg.go.dev/github.com/gobackoff/retry/retryhttp#RetryAfter
func ResponseOf(status int, header map[string][]string, now time.Time) Response {
	if status < 400 && !errfacts.Mentions(header) {
		return Response{OK: true}
	}
	head := errfacts.ReadHead(header, status, now)
	return Response{
		OK:      status < 500 && !head.Throttled,
		Refused: head.Throttled || status == 503 && head.Wait > 0,
		Hint:    head.Wait,
		States:  statesOf(head.Limits),
	}
}

// Begin notes that a request begins. Call it after Wait, and pass the result and the response to
// Hear: for HTTP, [ResponseOf] makes the Response. Package retryhttp does so for each request, and
// programs that use another client may do so themselves. Without Hear, the Limiter has only the
// hints of [Limiter.Observe].
func (l *Limiter) Begin(ctx context.Context) Begun {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mark(now, routeOf(ctx), costOf(ctx))
}

// Hear notes the response to a request that began with b. Call it when the response has arrived:
// the time since b tells how old the States may be.
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

// BegunAt is [Limiter.Begin] for a request that began at a time at which there was no Limiter yet.
// The zero time means that the request is not known, and Hear ignores its response.
func BegunAt(ctx context.Context, at time.Time) Begun {
	return Begun{at: at, cost: costOf(ctx), route: routeOf(ctx)}
}

func (l *Limiter) mark(now time.Time, name string, cost float64) Begun {
	r := l.route(name)
	b := Begun{at: now, cost: cost, route: name, calls: r.calls, units: r.units}
	for _, d := range l.boundBy(r).levels {
		b.marks = append(b.marks, mark{d, d.begun})
	}
	return b
}

// Observe notes whether an attempt was throttled, and the hint. [retry.Do] calls it. Once Hear
// has been called, Observe does nothing, because responses say more.
func (l *Limiter) Observe(a retry.Attempt) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard {
		return
	}
	l.ramp.over = true // there will be no States
	refused := a.Err != nil && (a.Class == retry.ClassThrottled || a.Hint > 0)
	if a.Err != nil && !refused && a.Class == retry.ClassPermanent {
		return // it says nothing about the server's load
	}
	l.note(now, l.mark(now, "", 1), Response{OK: a.Err == nil, Refused: refused, Hint: a.Hint})
}

func (l *Limiter) note(now time.Time, b Begun, r Response) {
	if rtt := now.Sub(b.at); r.OK && rtt > 0 {
		if l.rtt == 0 {
			l.rtt, l.least = rtt, rtt
		}
		l.rtt += (rtt - l.rtt) / 8
		l.least = min(rtt, l.least+l.least/64)
	}
	on := l.route(b.route)
	said := r.OK || r.Refused || len(r.States) > 0
	if said && !on.heard {
		on.heard = true
		l.known++
	}
	explained := l.tell(now, on, b, r)
	if said {
		l.ramp.over = l.ramp.over || len(r.States) == 0 || l.alone()
	}
	if r.Refused && r.Hint > 0 {
		l.block(now, r.Hint)
	}
	if !explained {
		l.learned.note(now, on, b, r)
	}
	for _, q := range l.queues {
		q.wakeFirst()
	}
}

// tell tells the levels what a response says. It returns whether one of them is why the server
// refused.
func (l *Limiter) tell(now time.Time, on *route, b Begun, r Response) (explained bool) {
	calls, units := max(0, on.calls-b.calls), max(0, on.units-b.units) // begun since
	told := make([]*level, 0, len(r.States))
	for _, s := range r.States {
		told = append(told, l.told(on, b, s))
	}
	if r.Refused {
		on.calls--
		on.units -= b.cost
		for _, m := range b.marks {
			m.level.forget(b)
		}
	}
	for i, d := range told {
		since := calls
		if d.inTokens {
			since = units
		}
		if d.hear(now, l, b, b.sent(d, since, r.Refused), r.States[i], r) {
			explained = true
		}
		d.sample.note(now, on, b, d)
	}
	l.untell(on, told, b, r.OK)
	return explained
}

// alone reports whether nobody else uses the limits.
func (l *Limiter) alone() bool {
	for _, d := range l.levels {
		if d.part < 1 {
			return false
		}
	}
	return true
}

// gate returns when the next call of a queue may begin.
func (l *Limiter) gate(now time.Time, by bound, cost float64) time.Time {
	at := l.ramp.gate(now)
	if by.slowed {
		at = later(at, l.learned.gate(now, by.dried))
	}
	for _, d := range by.levels {
		at = later(at, d.gate(now, l, cost))
	}
	return at
}

// start notes that a call begins.
func (l *Limiter) start(now time.Time, c *caller) {
	if c.by.slowed {
		l.learned.start(now)
	}
	l.ramp.begun++
	r := l.route(c.route)
	r.calls++
	r.units += c.cost
	for _, d := range c.by.levels {
		d.begun += d.cost(c.cost)
		d.last = now
		d.starts++
	}
}

func (l *Limiter) maxWait() time.Duration { return cmp.Or(max(0, l.MaxWait), time.Minute) }

func (l *Limiter) maxLine() int { return cmp.Or(max(0, l.MaxLine), 10_000) }

// waiting returns the number of calls that wait, for the levels or for the Limit.
func (l *Limiter) waiting() int {
	n := l.reserve.waiting
	for _, q := range l.queues {
		n += len(q.line)
	}
	return n
}

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
	cost    float64
	route   string
	by      bound
	queue   *queue    // nil: it does not wait
	due     time.Time // a turn that comes later is too late
	last    time.Time // it begins at the latest
	late    time.Time // later, it could hardly end in time
	order   time.Time // of the line
	since   time.Time // it waits; zero: it did not have to
	slept   time.Time // the end of its last wait; zero: there was none
	index   int       // in the line; -1: not in it
	yielded bool      // see yield
	chosen  bool      // see pass
	wake    context.CancelFunc
}

// A queue has the calls that wait for the same limits.
type queue struct {
	by   bound
	line line
}

func (q *queue) wakeFirst() {
	if len(q.line) > 0 && q.line[0].wake != nil {
		q.line[0].wake()
	}
}

// queue returns the queue of the calls that wait for the same limits, or a new one.
func (l *Limiter) queue(by bound) *queue {
	at := slices.IndexFunc(l.queues, func(q *queue) bool { return q.by.equal(by) })
	if at < 0 {
		return &queue{by: by}
	}
	return l.queues[at]
}

// A line is a heap of the calls that wait.
type line []*caller

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].order.Before(l[j].order) }
func (l line) Swap(i, j int)      { l[i], l[j] = l[j], l[i]; l[i].index, l[j].index = i, j }

// before returns how many calls come before a time in the order of the line, or a number above most.
func (l line) before(order time.Time, most float64) (n float64) {
	next := []int{0}
	for len(next) > 0 && n <= most {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		if i < len(l) && l[i].order.Before(order) {
			n++
			next = append(next, 2*i+1, 2*i+2)
		}
	}
	return n
}

func (l *line) Push(x any) { c := x.(*caller); c.index = len(*l); *l = append(*l, c) }
func (l *line) Pop() any {
	last := len(*l) - 1
	c := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	c.index = -1
	return c
}

// Wait waits until an attempt may begin. The call whose deadline comes first is the first. Wait
// returns an error in these cases:
//
//   - ctx ends, or the Clock fails, while Wait waits.
//   - A limit is short, and less time is left to the call than the shortest of recent requests
//     took. The error matches [context.DeadlineExceeded].
//   - A refusal has said that nothing is left until after MaxWait or the deadline of ctx. The
//     error is a [*UsedUpError]. For one call in ten seconds, Wait returns nil instead, so that
//     its response tells whether something is left again.
func (l *Limiter) Wait(ctx context.Context) error {
	c := &caller{cost: costOf(ctx), route: routeOf(ctx), index: -1}
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

// sleep waits, and notes when a call began to wait, and how late it is now at the earliest: a
// Clock that stands still must not keep a call for ever.
func (l *Limiter) sleep(ctx context.Context, c *caller, d time.Duration) error {
	began := later(l.now(), c.slept)
	if c.since.IsZero() {
		c.since = began
	}
	err := l.clock().Sleep(ctx, d)
	if err == nil && ctx.Err() == nil {
		c.slept = began.Add(d)
	}
	return err
}

// turn returns how long a call waits before it asks again; 0: it begins, or ends with the
// error.
func (l *Limiter) turn(ctx context.Context, c *caller, wake context.CancelFunc, ended error) (time.Duration, error) {
	now := later(l.now(), c.slept)
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended != nil {
		l.leave(c)
		return 0, ended
	}
	if c.queue == nil || c.index == 0 {
		l.bind(c)
	}
	if l.hopeless(ctx, now, c.by) {
		l.leave(c)
		return 0, errLate
	}
	if err := l.usedUp(ctx, now, c); err != nil {
		l.leave(c)
		return 0, err
	}
	dry := c.by.slowed && l.learned.dry > 0
	if c.index < 0 {
		l.limitWait(ctx, now, c)
		c.order = c.due
		if dry {
			l.learned.came++
		}
		q := l.queue(c.by)
		tooLong := l.waiting() >= l.maxLine() || c.by.slowed && l.learned.tooLong(now, l.queues, c)
		if tooLong || len(q.line) == 0 && !l.gate(now, c.by, c.cost).After(now) {
			l.start(now, c)
			return 0, nil
		}
		l.join(q, c)
	}
	c.wake = wake
	if c.late.After(c.due) && !c.due.After(now) && l.short(now, c.by) {
		l.yield(c)
	}
	at := c.last
	if c.index == 0 {
		gate := l.gate(now, c.by, c.cost)
		switch {
		case dry && !gate.After(now) && l.pass(now, c):
		case gate.Before(c.due):
			at = earlier(at, gate)
		case dry: // the next success changes that
		default:
			at = now // its turn would come too late: as without a Limiter
		}
	}
	if at.After(now) {
		return at.Sub(now), nil
	}
	err := l.dry(now, c)
	if err == nil && c.yielded && c.by.slowed && l.gate(now, c.by, c.cost).After(now) {
		err = errLate // the others have left nothing
	}
	if err == nil {
		l.start(now, c)
	}
	l.leave(c)
	return 0, err
}

// bind finds out what a call waits for. That may have changed while it waited.
func (l *Limiter) bind(c *caller) {
	by := l.boundBy(l.route(c.route))
	if c.queue == nil {
		c.by = by
		return
	}
	if by.equal(c.by) {
		return
	}
	l.leave(c)
	c.by = by
	l.join(l.queue(by), c)
}

// pass lets the call that has the most time left begin in place of the first, if the first has less
// than half as much, and returns whether it did. While nothing succeeds, a request has to find out
// whether that still holds, and one that ends too soon finds out nothing.
func (l *Limiter) pass(now time.Time, c *caller) bool {
	if !c.last.After(now) || c.chosen {
		return false
	}
	best := slices.MaxFunc(c.queue.line, func(a, b *caller) int { return a.due.Compare(b.due) })
	if 2*c.due.Sub(now) >= best.due.Sub(now) {
		return false
	}
	best.chosen = true
	best.order = c.order.Add(-1)
	heap.Fix(&c.queue.line, best.index)
	c.queue.wakeFirst()
	return true
}

// yield moves a call that may be too late behind those that are not. It still begins if the
// others leave something.
func (l *Limiter) yield(c *caller) {
	c.yielded = true
	c.order = c.order.Add(time.Hour)
	c.due, c.last = c.late, c.late
	heap.Fix(&c.queue.line, c.index)
}

var errLate = fmt.Errorf("ratelimit: %w, as requests usually take: it would use up the limit for nothing", context.DeadlineExceeded)

// hopeless reports whether a call could not end in time although a limit is short: it must not
// use up what others need.
func (l *Limiter) hopeless(ctx context.Context, now time.Time, by bound) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(now) < l.least && l.short(now, by)
}

// short reports whether calls have to wait for a limit, or had to lately.
func (l *Limiter) short(now time.Time, by bound) bool {
	if by.slowed && l.learned.short(now) {
		return true
	}
	return slices.ContainsFunc(by.levels, func(d *level) bool { return d.short(now) })
}

// Paces reports whether the Limiter, and not a Budget, bounds the retries after throttling:
// [retry.Do] asks. It does while the Limiter knows a limit that is short, or refusals have made it
// slow.
func (l *Limiter) Paces(retry.Attempt) bool {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.short(now, bound{levels: l.levels}) || l.learned.rate > 0
}

// limitWait sets until when a call may wait.
func (l *Limiter) limitWait(ctx context.Context, now time.Time, c *caller) {
	c.due = now.Add(l.maxWait())
	c.last, c.late = c.due, c.due
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(now)
		takes := l.rtt * 5 / 4
		if takes == 0 {
			takes = left / 8 // nobody knows
		}
		c.due = earlier(c.due, deadline.Add(-takes))
		c.last = c.due
		if !l.short(now, c.by) { // the wait may be for nothing
			c.last = earlier(c.due, now.Add(left*3/4))
		}
		c.late = earlier(c.late, deadline.Add(-cmp.Or(l.least, takes/16)))
	}
}

func (l *Limiter) join(q *queue, c *caller) {
	if len(q.line) == 0 {
		l.queues = append(l.queues, q)
	}
	c.queue = q
	heap.Push(&q.line, c)
}

func (l *Limiter) leave(c *caller) {
	q := c.queue
	if q == nil {
		return
	}
	if c.index >= 0 {
		heap.Remove(&q.line, c.index)
		if len(q.line) == 0 {
			l.queues = slices.DeleteFunc(l.queues, func(other *queue) bool { return other == q })
		}
	}
	q.wakeFirst()
}
