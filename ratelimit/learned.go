package ratelimit

import (
	"math"
	"time"
)

// A learned is the rate at which calls may begin, as far as refusals show that no State explains.
// Refusals without a success in between are a dry time. What succeeds from the end of one dry
// time to the end of the next is what the server gives to this process, whatever its rule: a
// window is used up and comes back, a bucket is dry for a moment.
//
//	off ── a refusal ──▶ dry ── a success ──▶ flowing ── a refusal ──▶ dry
//
//	dry      Calls begin more and more rarely, at last one in ten seconds, or one for every
//	         thirty calls that come, if that is more. The one that has the most time left
//	         begins. After three refusals with hints of more than five seconds, nothing begins
//	         until the earliest of them is over, except a probe. If the hint of the probe ends
//	         later, that one counts, and there is no further probe.
//	flowing  Calls begin at the rate that the last times gave, and a little faster with each
//	         success. After the first dry time, it is the rate before the refusals, or that at
//	         which calls came meanwhile, less for each second that the dry time took; it doubles
//	         with six successes until it is what it was. Beyond ten in a second, successes raise it
//	         to at most a quarter above what succeeds in a second. If five requests in a row fail without
//	         being refused, it falls to a quarter, in the time that some requests take. Calls
//	         for which the line is too long do not wait.
//	off      A minute without a refusal has passed, and nothing waits for the rate.
//
// A server may also refuse at random, as a language model does while others use all of it. Going
// slower does not help then. The bands show this. The rate is then at least the one that they tell, and
// refusals do not lower it further while a success may still be on its way.
//
// Only the calls of routes that were refused wait, and only their successes count.
type learned struct {
	rate    float64   // calls in a second; 0: off
	next    time.Time // the next call begins then
	refused time.Time // the last refusal
	cut     time.Time // when a refusal last lowered the rate
	flowed  float64   // the rate before the dry time

	dry     int           // refusals without a success
	dryFrom time.Time     // the first of them
	came    float64       // calls since then
	turned  time.Time     // the end of the last dry time; zero: there was none
	gained  float64       // successes since then
	lost    float64       // refusals since then
	row     row           // the first three refused requests of this dry time
	random  float64       // a rate at which the server refuses at random
	takes   time.Duration // the shortest of recent successes
	grown   float64       // successes since the last refusal
	missed  int           // failures since the last success that were no refusals
	before  float64       // the rate before them
	success time.Time     // the last one

	units, tried, seconds float64 // sums of what was gained, of that and what was lost, and of the time
	bands                 bands

	hints    int       // refusals with a hint, in this dry time
	hinted   time.Time // the first of them, or the third
	earliest time.Time // the end of their hints
	closed   time.Time // nothing begins before
	probe    time.Time // but one call begins now; zero: none

	time, spell   int     // how often it was off, and how many dry times there were
	slowed, dried int     // routes that were refused since it is on, and in this dry time
	weighed       int     // successes and refusals
	good, bad     float64 // of the last hundred or so
	pace          pace    // of the successes
}

// A pace counts the successes of this second and of the one before.
type pace struct {
	since     time.Time
	now, last float64
}

func (p *pace) note(now time.Time) {
	if passed := now.Sub(p.since); passed >= time.Second {
		p.last = p.now
		if passed >= 2*time.Second {
			p.last = 0
		}
		p.since, p.now = now, 0
	}
	p.now++
}

// rate returns the successes of a second.
func (p *pace) rate(now time.Time) float64 {
	if now.Sub(p.since) >= 2*time.Second {
		return 0
	}
	return max(p.now, p.last)
}

// The numbers of what is learned. TestNumbers has for each a server with which another value is worse.
var (
	firstRate = 10.             // calls in a second until the first success
	fewer     = 0.67            // what a refusal leaves of the rate
	more      = 0.02            // a success, or a second, adds this part
	calm      = time.Minute     // without refusals
	shortHint = 2 * time.Second // and less is what a server says that knows no better
	longHint  = 5 * time.Second // and less may be of this call alone, as that of a Gate is, so others may begin sooner
)

// Bounds: no server says what they have to be.
const (
	probing   = 10 * time.Second // between probes while nothing succeeds
	leastRate = float64(time.Second) / float64(probing)
	mostHint  = time.Hour // so much of a hint is believed
)

// slows reports whether the calls of a route wait for the rate: it is refused about as often as
// the others.
func (d *learned) slows(r *route) bool {
	return d.rate > 0 && r.slow == d.time && 4*r.bad*(d.good+d.bad) >= d.bad*(r.good+r.bad)
}

// dries reports whether a route was refused in this dry time.
func (d *learned) dries(r *route) bool { return d.dry > 0 && r.dry == d.spell && d.slows(r) }

func (d *learned) note(now time.Time, on *route, b Begun, r Response) {
	switch {
	case r.Refused:
		d.refuse(now, b, r.Hint)
		d.count(on)
		d.weigh(on, 0, 1)
	case r.OK && d.rate == 0:
		d.pace.note(now)
	case r.OK && on.slow == d.time:
		slowed := d.slows(on)
		d.weigh(on, 1, 0)
		if slowed {
			d.succeed(now, b)
		}
	case !r.OK && d.rate > 0 && on.slow == d.time && d.slows(on):
		d.miss(now, b)
	}
}

// miss notes a request that failed without being refused, such as one to which no response came in
// time. Five without a success in between say that the server has more to do than it can.
func (d *learned) miss(now time.Time, b Begun) {
	if d.missed == 0 {
		d.before = d.rate
	}
	d.missed++
	d.grown = 0
	if d.missed >= 5 && b.at.After(d.cut) {
		d.rate, d.cut = min(d.rate, max(d.rate*fewer, d.before/4, leastRate)), now
	}
}

// count counts the routes that are refused.
func (d *learned) count(r *route) {
	if r.slow != d.time {
		r.slow, r.weighed, r.good, r.bad = d.time, 0, 0, 0
		d.slowed++
	}
	if r.dry != d.spell {
		r.dry = d.spell
		d.dried++
	}
}

// weigh adds to the sums of a route's responses, and of all, among the last hundred or so of all.
func (d *learned) weigh(r *route, good, bad float64) {
	d.weighed++
	left := math.Pow(0.99, float64(d.weighed-r.weighed))
	r.weighed = d.weighed
	r.good, r.bad = r.good*left+good, r.bad*left+bad
	d.good, d.bad = d.good*0.99+good, d.bad*0.99+bad
}

func (d *learned) refuse(now time.Time, b Begun, hint time.Duration) {
	d.refused, d.grown = now, 0
	first := d.rate == 0
	if first {
		pace := d.pace.rate(now)
		*d = learned{
			rate: max(firstRate, pace), refused: now, cut: now, next: now,
			time: d.time + 1, spell: d.spell, pace: d.pace, bands: d.bands,
		}
	}
	d.lost++
	if d.dry == 0 && b.at.Before(d.turned) {
		return // the server refused it in the dry time that has ended
	}
	if d.dry == 0 {
		d.flowed, d.dryFrom, d.came, d.row, d.dried = d.rate, now, 0, row{}, 0
		d.spell++
	}
	d.dry++
	if b.at.After(d.dryFrom) {
		d.row.add(b.at)
	}
	if !first && b.at.After(d.cut) {
		least := max(leastRate, d.demand(now)/30)
		if now.Sub(d.dryFrom) <= min(2*d.takes, probing) { // a success may be on its way
			least = max(least, min(d.rate, d.random))
		}
		d.rate, d.cut = max(d.rate*fewer, least), now
		d.next = later(d.next, now.Add(duration(1/d.rate)))
	}
	if hint <= longHint {
		if hint > shortHint {
			d.next = earlier(d.next, now.Add(hint))
		}
		return
	}
	end := now.Add(min(hint, mostHint))
	if d.hinted.IsZero() {
		d.earliest, d.hinted = end, now
	}
	d.hints++
	switch {
	case b.at.After(d.hinted) && d.hints > 3 && end.After(d.closed.Add(2*time.Second)):
		d.closed, d.probe = end, time.Time{} // the probe has made it longer
	case d.hints == 3:
		d.earliest = earlier(d.earliest, end)
		d.closed, d.probe, d.hinted = d.earliest, now.Add(probing), now
	default:
		d.earliest = earlier(d.earliest, end)
	}
}

func (d *learned) succeed(now time.Time, b Begun) {
	d.pace.note(now)
	d.gained++
	d.missed = 0
	returning := d.seconds == 0 && d.rate < d.flowed
	weight := 1.
	if !returning { // the successes of a tenth of a second count as one
		weight = min(1, firstRate/d.rate)
	}
	d.grown += weight
	passed := min(now.Sub(d.success), probing).Seconds()
	took := now.Sub(b.at)
	if d.success.IsZero() {
		d.takes = took
	}
	d.takes = min(took, d.takes+d.takes/8)
	d.success = now
	if d.dry > 0 && !b.at.Before(d.dryFrom) {
		d.flow(now, b)
		return
	}
	if d.dry > 0 || !d.next.After(now) {
		return // the rate is not what bounds the calls
	}
	if !returning && d.rate > max(firstRate, 1.25*d.pace.rate(now)) {
		return // the server does not do more
	}
	part := more * (1 + d.grown/20)
	if returning {
		part = 0.12
	}
	d.rate += d.rate * part * max(weight, passed)
}

// demand returns how many calls came in a second of this dry time.
func (d *learned) demand(now time.Time) float64 {
	return d.came / max(1, now.Sub(d.dryFrom).Seconds())
}

// tooLong reports whether a call would come too late in the lines of those that wait for the rate. If
// it begins at once, it has as much time as without a Limiter.
func (d *learned) tooLong(now time.Time, queues []*queue, c *caller) bool {
	most := d.rate * c.due.Sub(now).Seconds()
	all, before := 0.0, 0.0
	for _, q := range queues {
		if q.by.slowed {
			all += float64(len(q.line))
		}
	}
	if d.dry > 0 || all <= most {
		return false
	}
	for _, q := range queues {
		if q.by.slowed {
			before += q.line.before(c.order, most-before)
		}
	}
	return before > most
}

// flow ends a dry time.
func (d *learned) flow(now time.Time, b Begun) {
	if d.turned.IsZero() {
		d.flowed = max(d.flowed, d.demand(now))
		d.rate = max(d.rate, d.flowed/(1+now.Sub(d.dryFrom).Seconds()))
	} else {
		d.units = d.units/2 + d.gained
		d.tried = d.tried/2 + d.gained + d.lost
		d.seconds = max(0.01, d.seconds/2+now.Sub(d.turned).Seconds())
		d.rate = max(leastRate, d.units/d.seconds)
		d.random = 0
		if !d.row.full(b.at) {
			pace := d.tried / d.seconds
			d.bands.add(now, pace, d.gained, d.lost)
			d.random = d.bands.random(now)
			d.rate = max(d.rate, d.random, d.bands.least(pace))
		}
	}
	d.turned, d.gained, d.lost = now, 0, 0
	d.dry, d.hints = 0, 0
	d.hinted, d.closed, d.probe = time.Time{}, time.Time{}, time.Time{}
	d.next = now
}

// gate returns when the next call may begin. dried says whether its route was refused in this
// dry time.
func (d *learned) gate(now time.Time, dried bool) time.Time {
	switch {
	case d.rate == 0:
		return time.Time{}
	case dried && d.closed.After(now):
		if d.probe.IsZero() {
			return d.closed
		}
		return earlier(d.closed, d.probe)
	case now.Sub(later(d.refused, d.next)) > calm:
		d.rate = 0
		return time.Time{}
	}
	return d.next
}

func (d *learned) start(now time.Time) {
	if d.rate == 0 {
		return
	}
	if idle := now.Sub(later(d.next, d.success)); idle > probing && d.dry == 0 {
		d.turned = d.turned.Add(idle)
	}
	d.next = later(d.next, now.Add(-slot)).Add(duration(1 / d.rate))
	d.next = earlier(d.next, now.Add(duration(1/d.rate)))
	if d.closed.After(now) && !d.probe.IsZero() && !d.probe.After(now) {
		d.probe = now.Add(probing)
	}
}

// short reports whether the rate bounds the calls.
func (d *learned) short(now time.Time) bool { return d.rate > 0 && (d.dry > 0 || d.next.After(now)) }
