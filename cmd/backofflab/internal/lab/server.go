package lab

// The simulated server of a Storm.

import (
	"math"

	"github.com/gobackoff/retry/admit"
)

type server struct {
	storm  *Storm
	timers *timers
	now    *int64

	work    stream    // for service times
	faults  stream    // for failures
	idle    []*worker // a stack
	queue   jobs
	gate    *admit.Gate // nil: none
	respond func(job, error)

	served, wasted int // attempts, and those whose clients had given up
}

// job is an attempt at the server.
type job struct {
	caller  *caller
	attempt uint64 // the caller may have begun another one meanwhile
	ticket  admit.Ticket
}

func (j job) expired() bool { return j.caller.attempt != j.attempt }

type worker struct {
	server *server
	timer  timer
	job    job
}

func newServer(s *Storm, timers *timers, now *int64, work, faults stream, respond func(job, error)) *server {
	v := &server{storm: s, timers: timers, now: now, work: work, faults: faults, respond: respond}
	for range s.Workers {
		w := &worker{server: v}
		w.timer.fire = w.done
		v.idle = append(v.idle, w)
	}
	return v
}

// submit returns an error if it refuses the job.
func (v *server) submit(j job) error {
	o := &v.storm.Outage
	failing := *v.now >= int64(o.From) && *v.now < int64(o.To)
	switch {
	case failing && o.Kind == Down, failing && o.Kind == Partial && v.faults.uniform() >= o.Share:
		return errRefused
	}
	if v.gate != nil {
		var err error
		if j.ticket, err = v.gate.Enter(admit.Caller{}); err != nil {
			return err
		}
	}
	switch {
	case len(v.idle) > 0:
		w := v.idle[len(v.idle)-1]
		v.idle = v.idle[:len(v.idle)-1]
		w.begin(j)
	case v.queue.size >= v.storm.Queue:
		v.leave(j)
		return v.storm.full
	default:
		v.queue.push(j)
	}
	return nil
}

func (v *server) take() (j job, ok bool) {
	for v.queue.size > 0 {
		if v.storm.LIFO {
			j = v.queue.popLast()
		} else {
			j = v.queue.popFirst()
		}
		if !v.storm.DropExpired || !j.expired() {
			return j, true
		}
		v.leave(j)
	}
	return job{}, false
}

func (v *server) leave(j job) {
	if v.gate != nil {
		v.gate.Leave(j.ticket)
	}
}

func (w *worker) begin(j job) {
	w.job = j
	v := w.server
	v.served++
	if j.expired() {
		v.wasted++
	}
	var work float64
	if l := v.storm.Latency; l != nil {
		work = l.quantile(v.work.uniform())
	} else {
		work = v.work.exponential() * float64(v.storm.Service)
	}
	v.timers.start(&w.timer, v.storm.Outage.finish(*v.now, work))
}

func (w *worker) done() {
	j := w.job
	w.server.leave(j)
	if next, ok := w.server.take(); ok {
		w.begin(next)
	} else {
		w.job = job{}
		w.server.idle = append(w.server.idle, w)
	}
	var err error
	if share := w.server.storm.Failures; share > 0 && w.server.faults.uniform() < share {
		err = errReset
	}
	w.server.respond(j, err)
}

// finish returns the time at which a job ends. Its arguments are the time at which the
// job begins, and the nanoseconds that it takes at the normal pace. If the outage begins
// or ends meanwhile, the job continues at the new pace.
func (o *Outage) finish(at int64, work float64) int64 {
	from, to := int64(o.From), int64(o.To)
	pace := 1.0
	switch o.Kind {
	case Stall:
		pace = 0
	case BrownOut:
		pace = o.Share
	}
	if at < from {
		before := float64(from - at)
		if work <= before {
			return at + int64(work)
		}
		at, work = from, work-before
	}
	if at < to {
		within := float64(to-at) * pace
		if work < within {
			return at + int64(work/pace)
		}
		at, work = to, work-within
	}
	return at + nanoseconds(work)
}

// nanoseconds converts d to an integer, and limits it so that sums of times do not
// overflow.
func nanoseconds(d float64) int64 { return int64(min(d, math.MaxInt64/4)) }

// jobs is a double-ended queue.
type jobs struct {
	ring  []job // its length is a power of two
	first int
	size  int
}

func (q *jobs) push(j job) {
	if q.size == len(q.ring) {
		grown := make([]job, max(64, 2*q.size))
		n := copy(grown, q.ring[q.first:])
		copy(grown[n:], q.ring[:q.first])
		q.ring, q.first = grown, 0
	}
	q.ring[(q.first+q.size)&(len(q.ring)-1)] = j
	q.size++
}

func (q *jobs) popFirst() job {
	j := q.ring[q.first]
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.size--
	return j
}

func (q *jobs) popLast() job {
	q.size--
	return q.ring[(q.first+q.size)&(len(q.ring)-1)]
}

// overload is the response of a server whose queue is full: an error with an HTTP status.
type overload int

func (e overload) Error() string { return "overloaded" }

func (e overload) HTTPStatusCode() int { return int(e) }

type noResponse struct{}

func (noResponse) Error() string { return "no response in time" }
func (noResponse) Timeout() bool { return true }
