package ratelimit

import (
	"math"
	"strings"
	"time"
)

// The numbers of a level. TestNumbers has for each a server with which another value is worse.
var (
	low      = 0.25                    // below this part of a limit, it is tight
	drain    = 6.                      // how many times as fast as it would last until the reset, what is left is used
	grow     = 0.02                    // added to the part of a process, so that newcomers get theirs
	rounding = 1100 * time.Millisecond // the most by which two told resets of one window differ
	proof    = 20.                     // calls that show that a header is wrong
	slot     = 100 * time.Millisecond  // what begins within it begins at the same time
)

// A level is one limit of the server, as this process has last heard of it. Windows and buckets
// have the same states:
//
//	calm ── less than a quarter is left ──▶ tight ── the reset has passed ──▶ assumed
//	  ▲                                      │ ▲                                 │
//	  └──── a whole window was not tight ────┘ └──────── the first response ─────┘
//
//	calm     A call begins at once.
//	tight    Calls begin at the rate at which this process's part of what is left would be used
//	         up in a sixth of the time to the reset. Whatever the sum of the parts is, what is
//	         left fades and does not run out: in a window, it ends with the window; in a bucket,
//	         it stays where all use what is refilled.
//	assumed  Nobody has confirmed the new window. One call begins. The others wait until a response
//	         confirms it, but no longer than resets may be wrong.
//
// A level whose headers proved to be wrong is ignored until a refusal agrees with them.
type level struct {
	id       State // its Name, Limit and Window as told
	inTokens bool
	known    bool
	begun    float64   // by this process, on all routes
	routes   int       // that were told of it
	heard    time.Time // when a response last told of it
	sample   sample

	limit, left float64
	at          time.Time     // when the request began whose response said so
	sentAt      float64       // what this process had begun by then
	end         time.Time     // when all is available again
	again       time.Time     // when the latest refusal said that something is left
	late        time.Duration // by how much end is too early, as refusals show
	window      time.Duration // the longest time to a reset

	since   time.Time // when this window began
	before  time.Time // the end of the window before
	starts  int       // calls since then
	assumed bool      // end has passed, and no response has confirmed it
	tight   bool      // in this window
	was     bool      // in the window before

	mine, all float64 // used lately, by this process and by all
	part      float64

	refills     int       // above 0: what is left grows before the reset, as in a bucket
	told        time.Time // an end, some time ago
	toldAt      time.Time // when the request began whose response said so
	used, reset float64   // sums of what was used and of seconds to the reset: their ratio is the refill

	verified bool      // a refusal has agreed
	wrong    bool      // until a refusal agrees
	right    bool      // the headers show the calls of this process: believed, as long as something is left
	moved    bool      // what is left has changed
	lies     int       // calls in a row that succeeded although nothing was left
	claimed  float64   // begun by this process
	shown    float64   // how much less is left since
	last     time.Time // when a call began
}

func newLevel(s State) *level {
	id := State{Name: s.Name, Limit: s.Limit, Window: s.Window}
	return &level{id: id, inTokens: strings.Contains(s.Name, "token")}
}

// is reports whether a State is about this limit, or about one that looks the same.
func (d *level) is(s State) bool {
	return d.id == State{Name: s.Name, Limit: s.Limit, Window: s.Window}
}

// A sample is what a response on one route told of a level.
type sample struct {
	route     *route
	left      float64
	at, heard time.Time // when the request began, and when the response came
	end       time.Time
}

// note takes what a level has just heard as the sample, if that is newer by a response.
func (s *sample) note(now time.Time, on *route, b Begun, d *level) {
	if s.route == nil || b.at.After(s.heard) {
		*s = sample{on, d.left, d.at, now, d.end}
	}
}

// another reports whether a State on a route is about another limit than this level. It is if more
// is left than the sample of another route said, plus what a bucket may have refilled since, and the
// reset is still to come.
func (d *level) another(r *route, b Begun, s State) bool {
	full := d.sample.end.Add(-rounding)
	if d.sample.route == r || !b.at.After(d.sample.heard) || !b.at.Before(full) {
		return false
	}
	limit := max(s.Limit, d.limit)
	grown := (limit - d.sample.left) * b.at.Sub(d.sample.at).Seconds() / full.Sub(d.sample.at).Seconds()
	return s.Remaining > d.sample.left+max(0, grown)+limit*low
}

func (d *level) cost(units float64) float64 {
	if d.inTokens {
		return units
	}
	return 1
}

// forget removes a refused request from what this process has begun: the server does not count it.
func (d *level) forget(b Begun) {
	d.begun -= d.cost(b.cost)
	if !b.at.After(d.at) {
		d.sentAt -= d.cost(b.cost)
	}
}

// refill is what becomes available in a second before the reset.
func (d *level) refill() float64 {
	if d.refills <= 0 || d.reset <= 0 {
		return 0
	}
	return min(d.used/d.reset, d.limit/max(1e-3, d.window.Seconds())) // the reset of a sliding window is that of one call
}

func (d *level) leftAt(t time.Time) float64 {
	return min(d.limit, d.left+d.refill()*max(0, t.Sub(d.at).Seconds()))
}

// hear notes what a response says. It returns whether this limit is why the server refused.
// sent is what this process had begun when the request began.
func (d *level) hear(now time.Time, l *Limiter, b Begun, sent float64, s State, r Response) bool {
	cost := d.cost(b.cost)
	d.heard = now
	limit := max(s.Limit, s.Remaining)
	if s.Limit == 0 {
		limit = max(d.limit, s.Remaining)
	}
	left := min(s.Remaining, limit)
	over := r.Refused && left < cost
	if over {
		left = min(left, max(0, cost-1))
	}
	if d.known && (b.at.Before(d.at) || b.at.Equal(d.at) && left >= d.left) { // older than what is known
		if b.at.Equal(d.at) {
			d.sentAt = max(d.sentAt, sent)
		}
		return over
	}
	reset := d.resetOf(s, r, over)
	end := b.at.Add(reset)
	if !d.known || limit != d.limit {
		*d = level{
			id: d.id, inTokens: d.inTokens, begun: d.begun, routes: d.routes, heard: d.heard, sample: d.sample,
			known: true, limit: limit, left: left, at: b.at, sentAt: sent,
			end: end, window: max(reset, s.Window), since: b.at, was: reset/2 <= l.maxWait(),
			mine: sent, all: max(sent, limit-left), verified: d.verified, last: d.last, told: end, toldAt: b.at,
		}
		d.part = min(1, (d.mine+cost)/(d.all+cost))
	}
	if over && r.Hint > 0 {
		d.again = now.Add(r.Hint)
	}
	d.window = max(d.window, s.Window, reset)
	d.compare(b.at, end, over, r.Hint)
	if left < limit {
		d.used, d.reset = d.used+limit-left, d.reset+reset.Seconds()
	}

	turned := d.refills <= 0 && end.After(d.end.Add(rounding)) && (left > d.left || over || d.assumed)
	before := d.leftAt(b.at)
	mine := max(0, sent-d.sentAt)
	used := max(mine, before-left)
	switch {
	case turned && !d.assumed:
		used = max(mine, limit-left)
	case d.assumed && over: // the window has not begun yet
		used = mine
	}
	keep := math.Exp(-b.at.Sub(d.at).Seconds() / max(1, d.window.Seconds()))
	d.mine, d.all = d.mine*keep+mine, d.all*keep+used
	d.part = min(1, (d.mine+cost)/(d.all+cost))

	switch {
	case d.assumed && over && !turned: // the window has not begun yet
		d.late = min(max(d.late, b.at.Sub(d.before)+slot), rounding+slot)
		d.end, d.tight, d.was = earlier(end, d.before), true, true
	case d.assumed:
		d.end = d.unrounded(end)
	case turned:
		d.turn(b.at)
		d.end = d.unrounded(end)
	case d.refills > 0:
		d.end = end
	case end.Before(d.end) && end.Add(d.late).After(now), !d.end.After(now):
		d.end = end // the earliest of the rounded ends
	}
	d.assumed = false
	d.prove(b.at, cost, left, mine, turned, over, r.OK)
	d.left, d.at, d.sentAt = left, b.at, sent
	d.tight = left < limit*low || d.tight && d.refills <= 0
	return over
}

// unrounded returns the end of a window. The told end may be rounded up, but windows end at equal
// intervals.
func (d *level) unrounded(end time.Time) time.Time {
	if d.refills > 0 || d.window <= 0 || end.Before(d.end) {
		return end
	}
	expected := d.end.Add(end.Sub(d.end) / d.window * d.window)
	if end.Sub(expected) < rounding {
		return expected
	}
	return end
}

// resetOf returns the time to the reset. A refusal's hint replaces one that is missing.
func (d *level) resetOf(s State, r Response, over bool) time.Duration {
	reset := s.Reset
	if reset <= 0 && over {
		reset = r.Hint
	}
	if reset <= 0 && s.Remaining < s.Limit {
		reset = max(s.Window, time.Second)
	}
	return max(0, reset)
}

// compare finds out whether what is left grows before the reset. Then the end moves with time.
func (d *level) compare(at, end time.Time, over bool, hint time.Duration) {
	if over && hint > 0 && end.Sub(at)-hint > max(rounding, end.Sub(at)/2) {
		d.refills = min(3, d.refills+2) // something is left again long before all is
	}
	if at.Sub(d.toldAt) < 2*rounding {
		return
	}
	moved := end.Sub(d.told)
	if d.told.Add(-rounding).After(at) { // that window is not over
		if moved.Abs() > rounding {
			d.refills = min(3, d.refills+1)
		} else {
			d.refills = max(-3, d.refills-1)
		}
	}
	d.told, d.toldAt = end, at
}

// prove finds headers that are wrong: calls succeed although nothing is left, or do not change
// what is left.
func (d *level) prove(at time.Time, cost, left, mine float64, turned, over, ok bool) {
	switch {
	case over:
		d.verified, d.lies, d.wrong = true, 0, false
	case turned || left >= cost:
		d.lies = 0
	case ok && d.left < cost && at.After(d.at):
		d.lies++
	}
	d.wrong = d.wrong || float64(d.lies) >= proof
	d.moved = d.moved || left != d.left
	if !turned {
		d.claimed += mine
		d.shown += d.leftAt(at) - left
	}
	if d.claimed >= proof*cost && d.refills != 0 {
		d.wrong = d.wrong || d.tight && d.shown < d.claimed/4
		d.right = d.right || d.moved && cost > 0 && d.shown >= d.claimed
		d.claimed, d.shown = 0, 0
	}
}

// turn begins a new window.
func (d *level) turn(at time.Time) {
	d.was, d.tight = d.tight, false
	d.before, d.since, d.starts = d.end, at, 0
}

// plenty reports whether more than a quarter is left, as far as the server has said lately.
func (d *level) plenty(now time.Time, units float64) bool {
	out := max(0, d.begun-d.sentAt)
	return d.leftAt(now)-out-d.cost(units) >= d.limit*low && now.Before(d.at.Add(max(d.window, time.Second)))
}

// state returns what is left now.
func (d *level) state(now time.Time) State {
	out := max(0, d.begun-d.sentAt)
	return State{
		Name:      d.id.Name,
		Limit:     d.limit,
		Remaining: max(0, d.leftAt(now)-out),
		Reset:     max(0, d.end.Add(d.late).Sub(now)),
		Window:    d.window,
	}
}

// confirmed reports whether a refusal has agreed with what is known of this window.
func (d *level) confirmed(now time.Time) bool {
	return d.known && d.verified && d.refills <= 0 && !d.wrong
}

// short reports whether calls have to wait in this window, or had to in the one before, and a refusal
// has shown that they do not wait for nothing.
func (d *level) short(now time.Time) bool {
	return d.known && !d.wrong && (d.tight || d.was) && d.verified
}

// assume begins a new window that no response has confirmed.
func (d *level) assume(now time.Time, sent float64) {
	window := max(d.window, slot)
	passed := now.Sub(d.end.Add(d.late)) / window
	if passed > 0 {
		d.tight = false // a whole window ago
	}
	d.turn(now)
	d.assumed = true
	d.left, d.at, d.sentAt = d.limit, now, sent
	d.end = d.end.Add(window * (passed + 1))
}

// gate returns when a call may begin.
func (d *level) gate(now time.Time, l *Limiter, units float64) time.Time {
	if !d.known || d.wrong {
		return time.Time{}
	}
	cost, sent := min(d.cost(units), d.limit), d.begun
	if d.refills <= 0 && !now.Before(d.end.Add(d.late)) && d.left < d.limit {
		d.assume(now, sent)
	}
	if d.was && d.assumed && d.starts >= 1 {
		if at := d.since.Add(rounding); at.After(now) {
			return at
		}
	}
	out := max(0, sent-d.sentAt)
	left := d.leftAt(now)
	if left-out-cost < d.limit*low {
		d.tight = true
	} else if !d.was && !d.tight {
		return time.Time{}
	}
	if !d.verified && out <= 0 && (!d.right || left < cost) { // one at a time, until a refusal shows that it is true
		return time.Time{}
	}
	end := d.end.Add(d.late)
	part := min(1, d.part+grow)
	if d.part >= 1 {
		if left-out >= cost {
			return time.Time{}
		}
		return d.available(now, end, cost-left+out)
	}
	left = min(left, d.left+part*d.refill()*max(0, now.Sub(d.at).Seconds())) // others use their parts
	if left-out/part < cost {
		return d.available(now, end, max(cost/2, cost+out-left)/part)
	}
	left -= out / part
	horizon := end.Sub(now)
	if d.refills <= 0 && horizon/2 > l.maxWait() {
		return time.Time{} // nobody waits for that long, so the calls of an hour are not spread
	}
	refill := d.refill()
	if refill > 0 {
		horizon = duration((d.limit - left) / refill)
	}
	horizon = max(horizon, l.rtt, slot)
	due := cost * horizon.Seconds() / (part * drain)
	if d.refills > 0 {
		return now.Add(grown(left, part*refill, now.Sub(d.last).Seconds(), due))
	}
	return earlier(end, d.last.Add(duration(due/left)))
}

// grown returns after how long left × passed is due. Both grow: passed by a second in each second, and
// left by more.
func grown(left, more, passed, due float64) time.Duration {
	b, c := left+more*passed, left*passed-due
	if c >= 0 {
		return 0
	}
	return duration(-2 * c / (b + math.Sqrt(b*b-4*more*c)))
}

// available returns when more is available, at the reset at the latest.
func (d *level) available(now, end time.Time, more float64) time.Time {
	if refill := d.refill(); refill > 0 {
		return now.Add(duration(more / refill))
	}
	return end
}
