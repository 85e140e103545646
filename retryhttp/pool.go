package retryhttp

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// A Pool has several values, such as the keys of an API, of which each request needs one. Requests
// take them in turn. If the server refuses one, it rests, and the request is sent again at once with
// another, whatever its method. The method Sign is for [Transport].Sign:
//
//	keys := &retryhttp.Pool[string]{Values: keys, Set: retryhttp.InHeader("X-Api-Key", "")}
//	client := &http.Client{Transport: &retryhttp.Transport{Sign: keys.Sign}}
//
// A value that is throttled rests for as long as the response asks for. If a response says that
// nothing is left of the value's limit, the value rests until the limit is available again. If the
// response does not say how long, the value rests for 1 s, and then for twice as long each time, up
// to Rest.
//
// If a response refuses a value otherwise, by a 401, the reason may be the value or the request. If
// the same request is accepted with another value, the refused value rests for Rest. If the request
// is refused with every value, the response is returned, and no value rests. For 1 s after that, and
// for twice as long each further time, up to a minute, requests that are refused are not sent again
// with another value. This ends when a request is accepted with a value that was refused before.
//
// While all values rest, an attempt fails without a request, and its hint is the time until the first
// value may be used.
//
// The Transport's own Limiter does not count requests with a value of a Pool, because it would make
// them wait for what was said of another value. A PerScope or a Limiter of the Policy counts all
// values together. A Pool is safe for concurrent use. It must not be copied, nor its fields changed,
// once it is in use.
type Pool[T any] struct {
	// Values are what the Pool has. If there is none, each request fails with an error that matches
	// [retry.ErrInvalid].
	Values []T

	// Set adds a value to a request, as the comment on [Transport].Sign describes. [InHeader] makes
	// such functions.
	Set func(req *http.Request, value T) error

	// Refused reports whether a response refuses the value, besides 429 and its equivalents. nil means
	// status 401.
	Refused Refused

	// Rest is how long a value rests after it was refused. It is also the longest rest of a value
	// that was throttled by a response that does not say how long. 0 or less means a minute.
	Rest time.Duration

	// Clock is for tests. nil means the system's.
	Clock retry.Clock

	mu      sync.Mutex
	state   []poolState // of each value
	next    int         // the index of the value that is to be used next
	vain    int         // requests in a row that were refused with every value
	resting time.Time   // until then, a request that is refused is not sent again with another value
}

// poolState is that of one value.
type poolState struct {
	back      time.Time // when it may be used
	throttled int       // how often in a row, without a hint
}

// Sign is for [Transport].Sign.
func (p *Pool[T]) Sign(req *http.Request) (Refused, error) {
	switch {
	case len(p.Values) == 0:
		return nil, invalidSigning("Pool", "it has no Values")
	case p.Set == nil:
		return nil, invalidSigning("Pool", "it has no Set")
	}
	s := signingOf(req.Context())
	s.pooled = true
	i, wait := p.take(s)
	if wait > 0 {
		return nil, retry.After(retry.Throttled(fmt.Errorf("retryhttp: all %d values of the Pool rest", len(p.Values))), wait)
	}
	err := p.Set(req, p.Values[i])
	if err != nil {
		return nil, err
	}
	return func(resp *http.Response, peek func(int) ([]byte, error)) bool {
		switch {
		case isThrottling(resp), s.secondary > 0:
			return p.throttle(i, resp, s)
		case p.Refused.of(resp, peek):
			return p.refuse(i, s)
		}
		p.keep(i, resp, s)
		return false
	}, nil
}

// take returns the value whose turn it is, or the time until one may be used.
func (p *Pool[T]) take(s *signing) (i int, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		p.state = make([]poolState, len(p.Values))
	}
	i, wait = p.first(p.now(), s)
	if wait == 0 {
		p.next = (i + 1) % len(p.state)
	}
	return i, wait
}

// first returns the next value that may be used and has not been refused in the attempt, or the time
// until there is one. p.mu is held.
func (p *Pool[T]) first(now time.Time, s *signing) (i int, wait time.Duration) {
	wait = math.MaxInt64
	for k := range p.state {
		i = (p.next + k) % len(p.state)
		if slices.Contains(s.turned[p], i) {
			continue
		}
		left := p.state[i].back.Sub(now)
		if left <= 0 {
			return i, 0
		}
		wait = min(wait, left)
	}
	return 0, wait
}

// keep notes that a response does not refuse a value.
func (p *Pool[T]) keep(i int, resp *http.Response, s *signing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for _, limit := range ratelimit.Read(resp.Header, now) {
		if limit.Remaining == 0 {
			p.state[i].rest(now.Add(limit.Reset))
		}
	}
	if resp.StatusCode >= 400 {
		return
	}
	p.state[i].throttled = 0
	if len(s.turned[p]) == 0 {
		p.vain = min(p.vain, 1)
		return
	}
	for _, other := range s.turned[p] {
		p.state[other].rest(now.Add(p.longest()))
	}
	p.vain, p.resting = 0, time.Time{}
}

// throttle notes that a value is throttled. It reports whether another may be used now.
func (p *Pool[T]) throttle(i int, resp *http.Response, s *signing) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	pause := cmp.Or(s.secondary, RetryAfter(resp, now))
	if pause <= 0 {
		p.state[i].throttled++
		pause = min(rest(p.state[i].throttled), p.longest())
	}
	p.state[i].rest(now.Add(pause))
	_, wait := p.first(now, s)
	s.hint = &wait
	return wait == 0
}

// refuse notes that a value is refused, not throttled. It reports whether another may be used now.
func (p *Pool[T]) refuse(i int, s *signing) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.turned == nil {
		s.turned = map[any][]int{}
	}
	s.turned[p] = append(s.turned[p], i)
	now := p.now()
	if len(s.turned[p]) == len(p.state) {
		p.vain++
		p.resting = now.Add(rest(p.vain))
	}
	if now.Before(p.resting) {
		return false
	}
	_, wait := p.first(now, s)
	return wait == 0
}

// rest makes the value rest until t, unless it rests for longer already.
func (s *poolState) rest(t time.Time) {
	if t.After(s.back) {
		s.back = t
	}
}

func (p *Pool[T]) longest() time.Duration {
	if p.Rest <= 0 {
		return time.Minute
	}
	return p.Rest
}

func (p *Pool[T]) now() time.Time {
	return cmp.Or[retry.Clock](p.Clock, retry.SystemClock{}).Now()
}
