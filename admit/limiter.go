package admit

import (
	"cmp"
	"slices"
	"time"
)

// limiter is the rule of the limit: see the package comment.
type limiter struct {
	within time.Duration // 0 before first use
	limit  float64       // number of requests in progress
	own    time.Duration // the handler's own time; 0: unknown
	least  time.Duration // the shortest median so far
	rate   float64

	suspect  bool          // the last batch was slow, and no cut preceded it
	cut      cut           // the first of the cuts since a batch was not slow
	risen    time.Duration // when own last rose; 0: never
	lastCame time.Duration // when a request was admitted
	came     int           // requests admitted since one left
	since    time.Duration // when the first of them was

	batch
}

type cut struct {
	limit  float64       // before the cut; 0: none
	median time.Duration // the time that requests took
	number float64       // of requests in progress at their admission
}

// batch is a sample of requests that were admitted one after the other.
type batch struct {
	id       uint64
	began    time.Duration // the first admission, or before it, the end of the last batch
	admitted int
	inFlight int // sum over the admissions
	done     int
	took     [batchSize]time.Duration
	left     int  // requests, of this batch or not
	refused  bool // any request since began
}

const (
	batchSize    = 32
	fewest       = 5 // requests in a judged batch
	fewestInTest = 15
	initialLimit = 64
	maxLimit     = 1e6
	patient      = 25 // times within: to trust a risen own time, or to wait for a request to leave
)

func (l *limiter) begin(within, now time.Duration) {
	if l.within == 0 {
		l.within, l.limit = cmp.Or(max(0, within), 200*time.Millisecond), cmp.Or(l.limit, initialLimit)
		l.lastCame = now
		l.next(now)
	}
}

func (l *limiter) next(now time.Duration) {
	l.batch = batch{id: l.batch.id + 1, began: now}
}

// allowed returns the time above which requests wait for each other.
func (l *limiter) allowed() time.Duration { return l.own*3/2 + l.within }

// room returns the number in progress at which a request is refused.
func (l *limiter) room(c Caller) int {
	limit := l.limit
	if c.Share > 0 && c.Share < 1 {
		limit *= c.Share
	}
	if c.Patience > 0 && l.own > 0 {
		limit *= min(1, float64(c.Patience)*2/3/float64(l.allowed()))
	}
	return int(max(1, limit))
}

// admit returns the batch of a request, or 0.
func (l *limiter) admit(now time.Duration, inFlight int) uint64 {
	if l.came == 0 {
		l.since = now
	}
	l.lastCame = now
	l.came++
	if l.admitted == batchSize {
		return 0
	}
	if l.admitted == 0 {
		l.next(now)
	}
	l.admitted++
	l.inFlight += inFlight
	return l.id
}

func (l *limiter) leave(t Ticket, now time.Duration, inFlight int) {
	l.came = 0
	l.left++
	if t.batch == l.id {
		l.took[l.done] = now - t.admitted
		l.done++
		if l.complete(now - l.began) {
			l.judge(now, inFlight)
			l.next(now)
		}
	} else if l.left > 10*batchSize && now-l.began > patient*l.within {
		l.next(now) // a batch of long streams
	}
}

// complete reports whether more than half of the batch has left, so that its median is
// known. A batch is larger while the effect of a cut is tested.
func (l *limiter) complete(age time.Duration) bool {
	need, overdue := fewest, 4*l.within
	if l.cut.limit > 0 {
		need, overdue = fewestInTest, max(overdue, 3*l.cut.median)
	}
	return 2*l.done > l.admitted && (l.done >= need && age >= l.within/4 || age > l.allowed()+overdue)
}

// watch cuts the limit if no request leaves for a while. It reports whether to admit a
// request beyond the limit, because none was admitted for long: those in progress may be
// streams, or hang, and say nothing about others.
func (l *limiter) watch(now time.Duration, inFlight int) (beyond bool) {
	if now-l.lastCame > patient*l.within {
		l.limit, l.came = max(l.limit, float64(inFlight+1)), 0
		return true
	}
	if l.came >= fewest && float64(inFlight) <= l.limit && l.own > 0 && now-l.since > l.allowed()+4*l.within {
		l.reduce(0, inFlight)
		l.next(now)
	}
	return false
}

// judge changes the limit according to the batch.
func (l *limiter) judge(now time.Duration, inFlight int) {
	slices.Sort(l.took[:l.done])
	median := max(1, l.took[l.admitted/2])
	number := float64(l.inFlight) / float64(l.admitted)
	l.rate = float64(l.left) / max(1, now-l.began).Seconds()
	l.learn(now, median)
	allowed := l.allowed()
	// The number in progress at which requests would take as long as they may.
	target := number * float64(allowed) / float64(median)
	switch {
	case median <= allowed:
		if l.refused && median <= l.own+l.within/2 {
			target = max(target, 2*l.limit)
		}
		l.limit = min(max(l.limit, target), maxLimit)
		l.suspect, l.cut = false, cut{}
	case !l.suspect && l.cut.limit == 0:
		l.suspect = true
	case number <= l.cut.number/2 && median > l.cut.median*4/5:
		// At most half as many requests take as long. The next batches test the opposite.
		l.own, l.risen = median, now
		l.limit = max(l.limit, min(l.cut.limit, 4*number))
		l.suspect, l.cut = false, cut{}
	default:
		if number > l.cut.number {
			l.cut.median, l.cut.number = median, number
		}
		l.reduce(target, inFlight)
	}
}

// reduce reduces the limit to target, but at least to a quarter of the number in progress.
func (l *limiter) reduce(target float64, inFlight int) {
	if l.cut.limit == 0 {
		l.cut.limit = l.limit
	}
	l.limit = max(1, min(l.limit, max(target, float64(inFlight)/4)))
}

// learn updates the handler's own time.
func (l *limiter) learn(now, median time.Duration) {
	if l.own == 0 {
		l.own, l.least = median, median
	}
	l.own, l.least = min(l.own, median), min(l.least, median)
	if l.own > l.least && now-l.risen > patient*l.within && (l.refused || median > l.own*3/2) {
		l.own = l.least
	}
}
