package lab

// The contention model: one event per call, without calls to retry.Do.

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gobackoff/retry"
)

// event is the arrival of a write. A client has no other events: a write succeeds if
// and only if the last commit is not after the read that the write is based on, so
// reads and responses need no events.
type event struct {
	at, read int64 // nanoseconds
	delay    time.Duration
	client   uint32
	attempt  uint32
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.client < other.client
}

type model struct {
	net      delays
	backoff  retry.Backoff
	attempts uint32        // maximum
	elapsed  time.Duration // limit per client; 0: none
	waitless uint32        // maximum if nothing waits; 0: attempts
	stagger  time.Duration
	key      uint64

	commit int64 // time of the last commit; -1: none
	outcome
	timing []int64 // calls in each TimingBin

	queue heap

	progress *progress
	reported int64 // clients of this trial reported to progress
}

// endOfTime is the latest time of an event. A client whose next attempt would be later
// leaves the trial.
const endOfTime = math.MaxInt64 / 4

const checkEvery = 1 << 16 // simulated calls between two calls to goOn

// run runs a trial and reports whether it reached its end.
func (m *model) run(ctx context.Context, c *Contention, cell *cell, trial int) bool {
	if !cell.plain {
		if !runCrowd(ctx, c, cell, trial) {
			return false
		}
		m.progress.add(cell.Clients)
		return true
	}
	m.setUp(c, cell, trial)
	m.reported = 0
	if !m.simulate(ctx, cell.Clients) {
		return false
	}
	cell.add(trial, m.outcome, m.timing)
	m.report(int64(cell.Clients)) // including those that gave up
	return true
}

// goOn updates the progress, and reports whether the trial may continue.
func (m *model) goOn(ctx context.Context) bool {
	m.report(m.done)
	return ctx.Err() == nil
}

func (m *model) report(done int64) {
	m.progress.add(int(done - m.reported))
	m.reported = done
}

func (m *model) setUp(c *Contention, cell *cell, trial int) {
	m.net = c.Network.delays()
	m.key = trialKey(c, cell, trial)
	m.backoff = cell.policy.Backoff
	if m.backoff == nil {
		m.backoff = retry.Capped{} // the default rule, without a cap
	}
	m.attempts, m.elapsed, m.stagger = mostAttempts(cell.policy), cell.policy.MaxElapsed, cell.contender.Stagger
	if m.waitless = 0; cell.policy.MaxAttempts == 0 && cell.policy.Attempts() == retry.Unlimited {
		m.waitless = mostAttempts(retry.Policy{})
	}
	m.commit = -1
	m.outcome = outcome{}
	if len(m.timing) != c.Timing {
		m.timing = make([]int64, c.Timing)
	}
	clear(m.timing)
}

func trialKey(c *Contention, cell *cell, trial int) uint64 {
	return derive(derive(c.Seed, uint64(trial)), uint64(cell.Clients))
}

func mostAttempts(p retry.Policy) uint32 {
	return uint32(min(uint64(p.Attempts()), math.MaxUint32-1))
}

func (m *model) start(client uint32) (int64, stream) {
	s := newStream(m.key, client, 0)
	return int64(float64(m.stagger) * s.uniform()), s
}

func (m *model) first(client uint32) event {
	start, s := m.start(client)
	e := event{client: client, attempt: 1}
	_, reply := m.net.two(&s)
	e.read = start + m.net.one(&s)
	e.at = e.read + reply
	return e
}

func (m *model) count(e *event) {
	m.calls++
	if len(m.timing) > 0 {
		if bin := e.at / int64(TimingBin); bin < int64(len(m.timing)) {
			m.timing[bin]++
		}
	}
}

func (m *model) wins(e *event) {
	m.commit = e.at
	m.done++
	s := newStream(m.key, e.client, e.attempt)
	m.leaves(e.at + m.net.one(&s))
}

func (m *model) leaves(at int64) { m.time = max(m.time, at) }

func (m *model) current(e *event) bool { return e.read >= m.commit }

// loses turns e into the client's next write, and reports whether there is one.
func (m *model) loses(e *event) bool {
	s := newStream(m.key, e.client, e.attempt)
	u := s.uniform()
	delay := max(0, m.backoff.Delay(retry.Attempt{Number: int(e.attempt), Waited: e.delay, Err: errConflict, Verdict: retry.Verdict{Class: retry.ClassTransient}}, u))
	spins := m.waitless != 0 && e.attempt >= m.waitless && delay == 0 && e.delay == 0
	if spins || e.attempt >= m.attempts || delay > endOfTime-time.Duration(e.at) {
		m.leaves(e.at + m.net.one(&s))
		return false
	}
	away, reply := m.net.two(&s)
	if m.elapsed > 0 {
		response := m.net.one(&s)
		away = response + m.net.one(&s)
		start, _ := m.start(e.client)
		if delay > m.elapsed-time.Duration(e.at+response-start) {
			m.leaves(e.at + response)
			return false
		}
	}
	e.read = e.at + int64(delay) + away
	e.at = e.read + reply
	e.delay = delay
	e.attempt++
	return true
}

// simulate handles the events in order, and reports whether it handled them all.
func (m *model) simulate(ctx context.Context, clients int) bool {
	m.queue = slices.Grow(m.queue[:0], clients)
	for i := range clients {
		if i%checkEvery == 0 && !m.goOn(ctx) {
			return false
		}
		m.queue.push(m.first(uint32(i)))
	}
	for len(m.queue) > 0 {
		e := &m.queue[0]
		m.count(e)
		if m.calls%checkEvery == 0 && !m.goOn(ctx) {
			return false
		}
		if m.current(e) {
			m.wins(e)
			m.queue.pop()
		} else if m.loses(e) {
			m.queue.down()
		} else {
			m.queue.pop()
		}
	}
	return true
}
