package ratelimit

import "time"

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
