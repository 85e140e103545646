package ratelimit

import (
	"math"
	"time"
)

// Bands tell refusals that come at random from those that a slower pace prevents. A band has what
// the server answered while requests began at one pace, within a factor of two. If the server has
// a limit, a quarter of the pace gets more successes for each refusal. If it refuses at random, it
// gets as many.
//
// Dry times with a full row are left out, because something is used up then.
type bands [16]band

type band struct {
	good, bad float64
	pace      float64 // of the last requests
	at        time.Time
}

// The numbers of the bands. TestNumbers has for each a server with which less is worse.
var (
	alike   = 1.3 // slower is better if it gets more than so many times as many successes for each refusal
	further = 2.  // so many times the pace at which the server refuses at random is tried next
)

// Bounds: no server says what they have to be.
const (
	enough  = 5                // refusals are needed to compare two bands
	slowest = 1. / 8           // requests a second, in the first band
	recent  = 10 * time.Minute // what happened before does not count
)

func bandOf(pace float64) int {
	return min(max(math.Ilogb(pace/slowest), 0), len(bands{})-1)
}

// add adds the responses of a time in which requests began at a pace.
func (all *bands) add(now time.Time, pace, good, bad float64) {
	b := &all[bandOf(pace)]
	if now.Sub(b.at) > recent {
		*b = band{}
	}
	b.good, b.bad, b.pace, b.at = b.good+good, b.bad+bad, pace, now
	if b.bad > 4*enough {
		b.good, b.bad = b.good/2, b.bad/2
	}
}

// least returns where the band of a pace begins, below which the rate should not fall until enough is
// known of the band. If enough is known, it returns 0.
func (all *bands) least(pace float64) (rate float64) {
	at := bandOf(pace)
	if all[at].bad >= enough {
		return 0
	}
	return math.Ldexp(slowest, at)
}

// random returns twice the fastest pace at which the server is known to refuse at random. 0 means
// that there is none.
func (all *bands) random(now time.Time) (rate float64) {
	var slower band
	for i, b := range all[2:] {
		if now.Sub(all[i].at) <= recent {
			slower.good += all[i].good
			slower.bad += all[i].bad
		}
		if now.Sub(b.at) > recent || min(b.bad, slower.bad) < enough {
			continue
		}
		gain := slower.good / slower.bad / (b.good / b.bad)
		if gain > 0.5 && gain <= alike { // with less than half as many, the server was in another state
			rate = max(rate, further*b.pace)
		}
	}
	return rate
}

// A row has the first three refused requests of a dry time, in the order in which they began.
type row [3]time.Time

func (r *row) add(at time.Time) {
	for i, t := range r {
		if t.IsZero() || at.Before(t) {
			r[i], at = at, t
		}
		if at.IsZero() {
			return
		}
	}
}

// full reports whether all three began before a time. If the first request that succeeds began then,
// they were hardly refused at random.
func (r *row) full(before time.Time) bool {
	last := r[len(r)-1]
	return !last.IsZero() && last.Before(before)
}
