package ratelimit

import "time"

// A closing is what refusals say whose hint no State explains. Three of them without a later
// success close the Limiter until the earliest hint is over. Single calls begin nevertheless,
// after 0.1, 0.2, 0.4 s and so on; the success of one opens the Limiter.
type closing struct {
	row    int       // of the refusals
	first  time.Time // when the first of them came
	early  time.Time // the earliest end of their hints
	closed time.Time // nothing begins before, except a probe
	probe  time.Time
	gap    time.Duration // between probes
	need   int           // refusals that close
	after  ramp
}

const slot = 100 * time.Millisecond

func (c *closing) note(now time.Time, b Begun, r Response, most time.Duration) {
	switch {
	case r.Refused && r.Hint > 0:
		end := now.Add(min(r.Hint, most))
		c.row++
		switch {
		case c.row == 1:
			c.first, c.early = now, end
		case end.Before(c.early) || !c.early.After(now):
			c.early = end
		}
		c.need = max(3, c.need)
		if c.row >= c.need && !c.closed.After(now) {
			c.closed, c.gap = c.early, slot
			c.probe = now.Add(c.gap)
			c.after = ramp{from: c.closed}
		}
	case r.OK && !b.at.Before(c.first):
		if c.closed.After(now.Add(slot)) { // the hint was too long
			c.need = min(4*c.need, 1000)
			c.closed = time.Time{}
		} else if c.row >= c.need {
			c.need = 3
		}
		c.row = 0
		c.after.over = true
	}
}

func (c *closing) gate(now time.Time) time.Time {
	if c.closed.After(now) {
		return earlier(c.closed, c.probe)
	}
	if c.closed.IsZero() {
		return time.Time{}
	}
	return c.after.gate(now)
}

func (c *closing) start(now time.Time) {
	if c.closed.After(now) && !c.probe.After(now) {
		c.gap *= 2
		c.probe = now.Add(c.gap)
	}
	if !c.closed.After(now) {
		c.after.begun++
	}
}

// A ramp lets eight calls begin at once, and twice as many in each 50 ms, because others may
// begin at the same time. It ends with the first response, or after half a second.
type ramp struct {
	from  time.Time
	begun float64
	over  bool
}

func (r *ramp) gate(now time.Time) time.Time {
	if r.over {
		return time.Time{}
	}
	if r.from.IsZero() {
		r.from = now
	}
	k := max(0, now.Sub(r.from)/(slot/2))
	switch {
	case k >= 10:
		r.over = true
	case r.begun >= float64(int(8)<<k):
		return r.from.Add((k + 1) * slot / 2)
	}
	return time.Time{}
}
