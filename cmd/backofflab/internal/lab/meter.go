package lab

// The figures of a storm's trial.

import (
	"math"
	"math/bits"
	"time"
)

const (
	aftermath     = 60 * time.Second // for Goodput
	steadySeconds = 10               // consecutive seconds of a recovery
	steadyShare   = 0.99             // of the level before the outage
	lastStretch   = 30 * time.Second // for LastSuccess
)

// span is a half-open interval of time.
type span struct{ from, to int64 }

func (s span) has(at int64) bool     { return at >= s.from && at < s.to }
func (s span) seconds() float64      { return float64(s.to-s.from) / 1e9 }
func spanOf(a, b time.Duration) span { return span{int64(a), int64(b)} }

// cohort counts the calls that arrive in a span.
type cohort struct {
	span
	calls, successes int
}

func (c *cohort) share() float64 { return ratio(float64(c.successes), float64(c.calls)) }

type meter struct {
	cohorts          [4]cohort // by ofOutage, ofEnd, ofAll and ofBefore
	shaken           span      // the outage and its aftermath
	calls, attempts  int       // during shaken
	made             int       // attempts in all
	aftermath        span
	goodput          int // successes in the aftermath, whenever the calls arrived
	attemptsBySecond []uint32
	goodputBySecond  []uint32
	recovering       []cohort // the seconds after the outage
	latency          latencies
	usual            float64 // success of a server that works, without retries
}

const (
	ofOutage = iota
	ofEnd
	ofAll
	ofBefore
)

func newMeter(s *Storm) *meter {
	o := &s.Outage
	settled := s.Horizon - s.Deadline // calls that arrive later may have no outcome
	m := &meter{
		usual:     1 - max(0, s.Failures),
		shaken:    spanOf(o.From, min(o.To+aftermath, s.Horizon)),
		aftermath: spanOf(o.To, min(o.To+aftermath, s.Horizon)),
	}
	m.cohorts[ofOutage].span = spanOf(o.From, o.To)
	m.cohorts[ofEnd].span = spanOf(max(0, settled-lastStretch), settled)
	m.cohorts[ofAll].span = spanOf(0, settled)
	// Later calls may not have ended when the outage begins.
	m.cohorts[ofBefore].span = spanOf(0, max(o.From-s.Deadline, o.From/2))
	seconds := secondOf(int64(s.Horizon)-1) + 1
	m.attemptsBySecond = make([]uint32, seconds)
	m.goodputBySecond = make([]uint32, seconds)
	m.recovering = make([]cohort, secondOf(int64(settled-o.To)))
	return m
}

func secondOf(at int64) int { return int(at / int64(time.Second)) }

func (m *meter) arrival(at int64) {
	for i := range m.cohorts {
		if c := &m.cohorts[i]; c.has(at) {
			c.calls++
		}
	}
	if c := m.second(at); c != nil {
		c.calls++
	}
	if m.shaken.has(at) {
		m.calls++
	}
}

func (m *meter) attempt(at int64) {
	m.made++
	m.attemptsBySecond[secondOf(at)]++
	if m.shaken.has(at) {
		m.attempts++
	}
}

func (m *meter) success(arrived, at int64) {
	for i := range m.cohorts {
		if c := &m.cohorts[i]; c.has(arrived) {
			c.successes++
		}
	}
	if c := m.second(arrived); c != nil {
		c.successes++
	}
	if m.aftermath.has(at) {
		m.goodput++
	}
	m.goodputBySecond[secondOf(at)]++
	m.latency.add(at - arrived)
}

// second returns the cohort of a call that arrives after the outage, or nil.
func (m *meter) second(arrived int64) *cohort {
	since := arrived - m.aftermath.from
	if i := secondOf(since); since >= 0 && i < len(m.recovering) {
		return &m.recovering[i]
	}
	return nil
}

// before returns the successful share of the calls before the outage, or 1 without calls,
// and the variance of a call's success.
func (m *meter) before() (level, variance float64) {
	c := &m.cohorts[ofBefore]
	if c.calls == 0 {
		return 1, 0
	}
	failing := float64(c.calls-c.successes+1) / float64(c.calls+2) // not 0 by chance
	return c.share(), failing * (1 - failing)
}

// recovery returns the number of seconds from the end of the outage to the first of
// steadySeconds consecutive seconds in which the success is that before the outage, apart
// from 1 % and three standard deviations.
func (m *meter) recovery() (seconds int, ok bool) {
	level, variance := m.before()
	if level < m.usual/2 {
		return 0, false // there is nothing to return to
	}
	good := 0
	for i := range m.recovering {
		c := &m.recovering[i]
		n := float64(c.calls)
		if float64(c.successes) < steadyShare*level*n-3*math.Sqrt(variance*n) {
			good = 0
			continue
		}
		if good++; good == steadySeconds {
			return i + 1 - steadySeconds, true
		}
	}
	return 0, false
}

// latencies is a histogram with buckets no wider than 1/128 of their value.
type latencies struct {
	buckets [latencyBuckets]uint32
	n       int
	sum     float64
}

const (
	latencyBits    = 7
	latencyBuckets = (64 - latencyBits) << latencyBits
)

func (l *latencies) add(ns int64) {
	v := uint64(max(0, ns))
	shift := max(0, bits.Len64(v)-latencyBits-1)
	l.buckets[shift<<latencyBits+int(v>>shift)]++
	l.n++
	l.sum += float64(ns)
}

func (l *latencies) meanSeconds() float64 { return ratio(l.sum, float64(l.n)) / 1e9 }

// quantile returns the seconds that the given share of the values does not exceed.
func (l *latencies) quantile(share float64) float64 {
	rank := int(share * float64(l.n))
	for i, n := range l.buckets {
		if rank -= int(n); rank < 0 {
			return middleNanoseconds(i) / 1e9
		}
	}
	return 0
}

func middleNanoseconds(i int) float64 {
	shift := max(0, i>>latencyBits-1)
	low := uint64(i-shift<<latencyBits) << shift
	return float64(low) + float64(uint64(1)<<shift-1)/2
}

// ratio returns a / b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
