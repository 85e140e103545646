package admit

import (
	"container/heap"
	"flag"
	"math/rand/v2"
	"time"
)

var long = flag.Bool("long", false, "simulate servers with many slow requests")

const (
	ms  = time.Millisecond
	sec = time.Second
)

// bench is a server behind a Gate, in virtual time: a queue of events without goroutines,
// so that an hour of a thousand requests a second takes seconds.
type bench struct {
	gate   *Gate
	random *rand.Rand
	now    time.Duration
	events events

	slots int              // requests that are served at the same time; 0: all
	stall [2]time.Duration // nothing ends between these times
	busy  int
	queue []func()
}

func newBench(seed uint64) *bench {
	b := &bench{random: rand.New(rand.NewPCG(seed, 0))}
	b.gate = &Gate{Now: func() time.Time { return epoch.Add(b.now) }, Rand: b.random.Float64}
	return b
}

type event struct {
	at time.Duration
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (b *bench) after(d time.Duration, do func()) { heap.Push(&b.events, event{b.now + d, do}) }

func (b *bench) run(until time.Duration) {
	for len(b.events) > 0 && b.events[0].at <= until {
		e := heap.Pop(&b.events).(event)
		b.now = e.at
		e.do()
	}
	b.now = until
}

// arrive calls do at random times until the end, rate times a second.
func (b *bench) arrive(rate float64, end time.Duration, do func()) {
	b.after(time.Duration(b.random.ExpFloat64()/rate*1e9), func() {
		if b.now < end {
			do()
			b.arrive(rate, end, do)
		}
	})
}

// serve occupies a slot, and calls done when it is free again.
func (b *bench) serve(took time.Duration, done func()) {
	if b.slots > 0 && b.busy == b.slots {
		b.queue = append(b.queue, func() { b.serve(took, done) })
		return
	}
	b.busy++
	end := b.now + took
	if end > b.stall[0] && b.now < b.stall[1] {
		end = max(end, b.stall[1])
	}
	b.after(end-b.now, func() {
		b.busy--
		if len(b.queue) > 0 {
			first := b.queue[0]
			b.queue = b.queue[1:]
			first()
		}
		done()
	})
}

// took is how long a request takes that begins to be served now.
type took func(*bench) time.Duration

func always(d time.Duration) took { return func(*bench) time.Duration { return d } }

// from takes one time before, another from a moment on.
func from(at, before, after time.Duration) took {
	return func(b *bench) time.Duration {
		if b.now < at {
			return before
		}
		return after
	}
}

// either takes x with a probability, otherwise y.
func either(probability float64, x, y took) took {
	return func(b *bench) time.Duration {
		if b.random.Float64() < probability {
			return x(b)
		}
		return y(b)
	}
}

func uniform(low, high time.Duration) took {
	return func(b *bench) time.Duration { return low + time.Duration(b.random.Float64()*float64(high-low)) }
}

// inTurn takes x for a period, then y for as long, and so on.
func inTurn(period time.Duration, x, y took) took {
	return func(b *bench) time.Duration {
		if b.now/period%2 == 0 {
			return x(b)
		}
		return y(b)
	}
}

// share counts.
type share struct{ yes, all int }

func (s *share) count(yes bool) {
	s.all++
	if yes {
		s.yes++
	}
}

func (s share) percent() float64 { return 100 * float64(s.yes) / float64(s.all) }

// once is a request of a caller who does not come back.
func (b *bench) once(refused *share, took took) {
	ticket, err := b.gate.Enter(Caller{})
	refused.count(err != nil)
	if err == nil {
		b.serve(took(b), func() { b.gate.Leave(ticket) })
	}
}

// calls are those of clients with four attempts, a timeout for each, and 10 s.
type calls struct {
	good           share
	served, wasted int // requests, and those whose callers had left
}

func (b *bench) call(c *calls, took took, caller Caller, timeout time.Duration) {
	began := b.now
	var attempt func(number int)
	attempt = func(number int) {
		again := func(wait time.Duration) {
			if b.now+wait-began > 10*sec || number == 4 {
				c.good.count(false)
				return
			}
			b.after(wait, func() { attempt(number + 1) })
		}
		ticket, err := b.gate.Enter(caller)
		if err != nil {
			again(err.(Refused).RetryAfter())
			return
		}
		over := false
		b.after(min(timeout, began+10*sec-b.now), func() {
			if !over {
				over = true
				again(time.Duration(b.random.Float64() * float64(50*ms<<number)))
			}
		})
		b.serve(took(b), func() {
			b.gate.Leave(ticket)
			c.served++
			if over {
				c.wasted++
			} else {
				over = true
				c.good.count(true)
			}
		})
	}
	attempt(1)
}
