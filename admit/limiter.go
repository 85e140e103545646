package admit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// limiter is the rule of the limit: see the package comment.
type limiter struct {
	within time.Duration // 0 before first use
	limit  float64       // number of requests in progress
	least  time.Duration // the shortest median so far; 0: unknown
	proven time.Duration // a longer one, although no request waited; 0: none
	seen   time.Duration // when requests last took at least half of proven
	median time.Duration // of the last batch, or how long requests in progress will take
	rate   float64

	suspect bool  // the last batch was slow, and no cut preceded it
	cut     point // the slowest batch since the first cut; without a median while none leaves
	low     point // the slow batch with the fewest requests in progress

	came  int           // requests admitted since one left
	since time.Duration // when the first of them was

	period  uint64
	started time.Duration // when the period did
	recent  [periods]int  // requests in progress by the period of their admission, latest first

	batch
}

// point is what a batch tells about a number of requests in progress.
type point struct {
	limit  float64 // before; 0: no point
	median time.Duration
	number float64 // of requests in progress at the admissions
}

// batch is a sample of requests that were admitted one after the other.
type batch struct {
	id       uint64
	began    time.Duration // the first admission, or the end of the last batch
	admitted int           // without those that have stayed for long
	done     int
	took     [batchSize]time.Duration
	inFlight int  // sum over the admissions of those done
	left     int  // requests, of this batch or not
	refused  bool // any request since began
}

const (
	batchSize    = 32
	fewest       = 5 // requests in a judged batch
	fewestInTest = 15
	initialLimit = 64
	counted      = 2 // periods whose requests count against the limit
	periods      = 4 // periods whose requests may have delayed others
)

// begin forgets what is over.
func (l *limiter) begin(within, now time.Duration) {
	if l.within == 0 {
		l.within, l.limit = cmp.Or(max(0, within), 200*time.Millisecond), cmp.Or(l.limit, initialLimit)
		l.started = now
		l.next(now)
	}
	if now-l.seen > 10*l.proven+300*l.within {
		l.proven = 0
	}
	if l.came >= fewest && l.cut.limit == 0 && l.least > 0 && now-l.since > l.long() {
		l.cut = point{limit: l.limit, number: float64(l.inProgress(periods))}
		l.reduce(0)
	}
	if now-l.started > l.long() {
		l.started = now
		l.period++
		copy(l.recent[1:], l.recent[:])
		l.recent[0] = 0
		if l.stopped() { // perhaps all requests hang
			l.limit = max(1, l.limit*0.9)
		} else if now-l.began > 2*l.long() {
			l.admitted, l.began = l.done, now
			if l.done >= fewest {
				l.judge(now)
			}
		}
	}
}

func (l *limiter) next(now time.Duration) {
	l.batch = batch{id: l.batch.id + 1, began: now}
}

// allowed returns the time above which requests wait for each other.
func (l *limiter) allowed(own time.Duration) time.Duration { return own*3/2 + l.within }

func (l *limiter) longest() time.Duration { return max(l.least, l.proven) }

// own returns the handler's own time.
func (l *limiter) own() time.Duration { return min(l.longest(), l.median) }

// long returns the time after which a request may be a stream, or hang.
func (l *limiter) long() time.Duration {
	return max(l.allowed(l.longest()), l.median*3/2) + 2*l.within
}

// stopped reports whether no request has left since the limit was cut for that reason.
func (l *limiter) stopped() bool { return l.cut.limit > 0 && l.cut.median == 0 }

// inProgress returns the number of requests in progress that were admitted in the last
// periods.
func (l *limiter) inProgress(periods int) (n int) {
	for _, m := range l.recent[:periods] {
		n += m
	}
	return n
}

// full reports whether a request is to be refused. A refusal because of an announced
// timeout says nothing about the limit.
func (l *limiter) full(c Caller) bool {
	limit := l.limit
	if c.Share > 0 && c.Share < 1 {
		limit *= c.Share
	}
	n := float64(l.inProgress(counted))
	if n >= math.Floor(max(1, limit)) { // which may be more than any int
		l.refused = true
		return true
	}
	if c.Patience > 0 && l.least > 0 {
		limit *= min(1, float64(c.Patience)*2/3/float64(l.allowed(l.own())))
	}
	return n >= math.Floor(max(1, limit))
}

func (l *limiter) admit(now time.Duration) Ticket {
	if l.came == 0 {
		l.since = now
	}
	l.came++
	l.recent[0]++
	t := Ticket{admitted: now, period: l.period, inFlight: l.inProgress(periods)}
	if l.admitted < batchSize && !l.stopped() {
		if l.admitted == 0 {
			l.began = now
		}
		l.admitted++
		t.batch = l.id
	}
	return t
}

func (l *limiter) leave(t Ticket, now time.Duration) {
	if ago := l.period - t.period; ago < periods {
		l.recent[ago]--
	}
	took := max(1, now-t.admitted)
	switch {
	case !l.stopped():
	case took <= l.allowed(l.longest()):
		l.limit, l.cut = l.cut.limit, point{} // those that stay do not delay others
	default:
		l.cut.median = now - l.since
		l.limit = max(1, min(l.cut.limit, l.cut.number/4))
		l.next(now)
	}
	l.came = 0
	l.left++
	if t.batch == l.id && l.done < batchSize {
		l.took[l.done] = took
		l.done++
		l.inFlight += t.inFlight
	}
	// More than half have left, so that the median is known.
	need := fewest
	if l.cut.limit > 0 {
		need = fewestInTest
	}
	if l.done >= need && 2*l.done > l.admitted && now-l.began >= l.within/4 {
		l.judge(now)
	}
}

// judge changes the limit according to the batch, and begins the next.
func (l *limiter) judge(now time.Duration) {
	slices.Sort(l.took[:l.done])
	median := l.took[min(l.done-1, l.admitted/2)]
	number := float64(l.inFlight) / float64(l.done)
	here := point{l.limit, median, number}
	l.rate = float64(l.left) / max(1, now-l.began).Seconds()
	l.median, l.least = median, min(cmp.Or(l.least, median), median)
	if median > l.proven/2 {
		l.seen = now
	}
	l.doubt(here)
	allowed, usual := l.allowed(l.longest()), l.allowed(l.least)
	// The number in progress at which requests would take as long as usual.
	target := number * float64(usual) / float64(median)
	switch {
	case median <= allowed:
		if l.refused && median <= allowed-l.within/2 {
			target = 2 * l.limit
		}
		l.limit = max(l.limit, min(target, 2*l.limit))
		l.suspect, l.cut = false, point{}
	case !l.suspect && l.cut.limit == 0:
		l.suspect = true
	case number <= 1 || number <= l.cut.number/2 && elasticity(l.cut, here) < 0.25:
		// Far fewer requests take as long.
		l.proven, l.seen = median, now
		l.limit = max(l.limit, l.cut.limit)
		l.suspect, l.cut = false, point{}
	default:
		if l.cut.limit == 0 || number > l.cut.number {
			l.cut = point{cmp.Or(l.cut.limit, l.limit), median, number}
		}
		l.median = max(median, time.Duration(float64(l.inProgress(periods))/l.rate*1e9))
		l.reduce(target)
	}
	l.next(now)
}

// doubt forgets the proven time if more requests in progress take longer in proportion:
// then they wait for each other after all.
func (l *limiter) doubt(here point) {
	switch {
	case here.median <= l.allowed(l.least):
		l.low = point{}
	case l.low.limit == 0 || here.number < l.low.number:
		l.low = here
	case here.number >= 2*l.low.number:
		if l.proven > 0 && elasticity(l.low, here) > 0.75 {
			l.proven, l.suspect = 0, true
		}
		l.low = here
	}
}

// elasticity is 1 if the time is in proportion to the number in progress, as in a queue,
// and 0 if it does not depend on it.
func elasticity(a, b point) float64 {
	return math.Log(float64(b.median)/float64(a.median)) / math.Log(b.number/a.number)
}

// reduce reduces the limit to target, but at least to a quarter of those in progress.
func (l *limiter) reduce(target float64) {
	l.limit = max(1, min(l.limit, max(target, float64(l.inProgress(periods))/4)))
}
