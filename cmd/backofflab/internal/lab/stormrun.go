package lab

// A trial of a storm.

import (
	"context"
	"fmt"
)

// Keys of the random numbers.
const (
	forArrivals = iota
	forProcesses
	forWork
	forPolicies
	forFaults
	forGate
)

const lookAtContext = 4096 // events between two checks of the context

// stormRun is a trial of a [Storm].
type stormRun struct {
	world
	storm  *Storm
	server *server
	meter  *meter

	processes []process
	arrivals  stream
	choice    stream // random numbers that choose a call's process
	draws     stream // random numbers for the policies

	callers []*caller
	free    []*caller // without a call; a stack
}

func runStorm(ctx context.Context, s *Storm, contender Contender, number int) (*StormTrial, error) {
	r := newStormRun(s, contender, number)
	defer r.stop()
	if err := r.loop(ctx); err != nil {
		return nil, err
	}
	if r.meter.made > s.MostAttempts {
		return nil, errorOf("Contenders", fmt.Sprintf("%q makes more than %d attempts in a trial", contender.Name, s.MostAttempts))
	}
	return r.result(number), nil
}

func newStormRun(s *Storm, contender Contender, number int) *stormRun {
	key := derive(s.Seed, uint64(number))
	streamOf := func(purpose uint32) stream { return newStream(key, purpose, 0) }
	r := &stormRun{
		storm: s, meter: newMeter(s), processes: make([]process, s.Processes),
		arrivals: streamOf(forArrivals), choice: streamOf(forProcesses), draws: streamOf(forPolicies),
	}
	r.server = newServer(s, &r.timers, &r.now, streamOf(forWork), streamOf(forFaults), r.respond)
	if s.Gate != nil {
		hints := streamOf(forGate)
		r.server.gate = s.Gate()
		r.server.gate.Now, r.server.gate.Rand = r.Now, hints.uniform
	}
	for i := range r.processes {
		p, timeout := r.own(contender.Policy(r))
		if timeout == 0 {
			timeout = s.Timeout
		}
		r.processes[i] = process{policy: p, timeout: int64(min(timeout, s.Deadline))}
	}
	return r
}

// loop runs the trial to its end, or until it has made too many attempts.
func (r *stormRun) loop(ctx context.Context) error {
	end := int64(r.storm.Horizon)
	arrival := r.nextArrival()
	for events := 1; ; events++ {
		if events%lookAtContext == 0 && (ctx.Err() != nil || r.meter.made > r.storm.MostAttempts) {
			return ctx.Err()
		}
		if first := r.timers.first(); first < arrival {
			if first >= end {
				return nil
			}
			r.now = first
			r.timers.next().fire()
			continue
		}
		if arrival >= end {
			return nil
		}
		r.now = arrival
		r.beginCall()
		arrival = r.nextArrival()
	}
}

func (r *stormRun) nextArrival() int64 {
	return r.now + nanoseconds(r.arrivals.exponential()/r.storm.Rate*1e9)
}

func (r *stormRun) beginCall() {
	var c *caller
	if last := len(r.free) - 1; last >= 0 {
		c, r.free = r.free[last], r.free[:last]
	} else {
		c = newCaller(r)
		r.callers = append(r.callers, c)
	}
	c.process = &r.processes[int(r.choice.uniform()*float64(len(r.processes)))]
	r.meter.arrival(r.now)
	c.arrived = r.now
	c.deadline = r.now + int64(r.storm.Deadline)
	c.wake()
}

func (r *stormRun) respond(j job, err error) {
	if !j.expired() {
		c := j.caller
		r.timers.stop(&c.timer)
		c.outcome = err
		c.wake()
	}
}

func (r *stormRun) stop() {
	r.stopped = true
	for _, c := range r.callers {
		c.stop()
	}
}

func (r *stormRun) result(number int) *StormTrial {
	m := r.meter
	t := &StormTrial{
		Number:        number,
		Amplification: ratio(float64(m.attempts), float64(m.calls)),
		Goodput:       float64(m.goodput) / (r.storm.Rate * m.aftermath.seconds()),
		OutageSuccess: m.cohorts[ofOutage].share(),
		LastSuccess:   m.cohorts[ofEnd].share(),
		Success:       m.cohorts[ofAll].share(),
		Mean:          m.latency.meanSeconds(),
		P50:           m.latency.quantile(0.5),
		P99:           m.latency.quantile(0.99),
		Wasted:        ratio(float64(r.server.wasted), float64(r.server.served)),
		PerSuccess:    ratio(float64(m.made), float64(m.latency.n)),
		Attempts:      m.attemptsBySecond,
		Goodputs:      m.goodputBySecond,
	}
	for _, n := range m.attemptsBySecond {
		t.Peak = max(t.Peak, float64(n)/r.storm.Rate)
	}
	t.Before, _ = m.before()
	seconds, ok := m.recovery()
	t.Recovered, t.Recovery = ok, float64(seconds)
	return t
}
