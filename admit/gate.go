package admit

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"time"
)

// A Gate decides which requests a server admits. The zero value is ready to use. A Gate
// may be used by several goroutines. It must not be copied, nor its fields changed, after
// first use.
type Gate struct {
	// Within is how long a request may wait for others and still be useful to its caller.
	// It should be at most half of the callers' timeout. 0 or less: 200 ms.
	Within time.Duration

	// Return is the longest time after which a refused caller is asked to return. Each is
	// told a random time between a fifth of Return and Return. 0 or less: 5 s.
	Return time.Duration

	// OnRefuse, if not nil, is called for each refusal by the goroutine that is refused.
	OnRefuse func(Refused)

	Now  func() time.Time // the clock; nil: time.Now
	Rand func() float64   // random numbers in [0, 1) for Return; nil: math/rand/v2

	mu                sync.Mutex
	inFlight          int
	admitted, refused uint64
	limiter           limiter
}

// A Caller is what a [Gate] needs to know about a request. The zero value is a request
// like any other.
type Caller struct {
	// Share is the share of the limit that the request may use: under overload, requests
	// with 0.75 are refused before those with 1. 0 or less, and above 1: 1.
	Share float64

	// Patience is the timeout that the caller has announced. A request is refused if it
	// would probably take more than two thirds of it. 0 or less: unknown.
	Patience time.Duration
}

// A Ticket is the admission of one request. Pass it to [Gate.Leave] exactly once.
type Ticket struct {
	admitted time.Duration // when
	inFlight int           // requests, this one included
	period   uint64
	batch    uint64
}

// Refused is the error of a refused request. Its value is how long the caller should wait
// before it tries again. Package retry's DefaultClassifier reads it as throttling with a hint.
type Refused time.Duration

// Error returns a text with the time.
func (r Refused) Error() string {
	return "server overloaded: retry after " + time.Duration(r).Round(time.Millisecond).String()
}

// RetryAfter returns how long the caller should wait before it tries again.
func (r Refused) RetryAfter() time.Duration { return time.Duration(r) }

// HTTPStatusCode returns 429.
func (Refused) HTTPStatusCode() int { return 429 }

// Enter admits a request, whose end must be reported to Leave, or returns an error of
// type [Refused]. It never waits.
func (g *Gate) Enter(c Caller) (Ticket, error) {
	g.mu.Lock()
	now := g.now()
	g.limiter.begin(g.Within, now)
	if g.limiter.full(c) {
		g.refused++
		g.mu.Unlock()
		return Ticket{}, g.refuse()
	}
	g.inFlight++
	g.admitted++
	t := g.limiter.admit(now)
	g.mu.Unlock()
	return t, nil
}

func (g *Gate) refuse() Refused {
	random := g.Rand
	if random == nil {
		random = rand.Float64
	}
	r := Refused(float64(cmp.Or(max(0, g.Return), 5*time.Second)) * (0.2 + 0.8*random()))
	if g.OnRefuse != nil {
		g.OnRefuse(r)
	}
	return r
}

// Leave reports the end of an admitted request, whether it succeeded or not.
func (g *Gate) Leave(t Ticket) {
	g.mu.Lock()
	g.inFlight--
	g.limiter.leave(t, g.now())
	g.mu.Unlock()
}

// Stats is the state of a [Gate].
type Stats struct {
	Limit    float64       // requests that may be in progress
	InFlight int           // requests in progress
	Admitted uint64        // requests since the start
	Refused  uint64        // requests since the start
	Own      time.Duration // the handler's own time; 0: not measured yet
	Rate     float64       // requests a second that left, measured over the last batch
}

// Stats returns the current state.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.limiter
	return Stats{cmp.Or(l.limit, initialLimit), g.inFlight, g.admitted, g.refused, l.own(), l.rate}
}

var epoch = time.Now()

func (g *Gate) now() time.Duration {
	if g.Now == nil {
		return time.Since(epoch)
	}
	return g.Now().Sub(epoch)
}
