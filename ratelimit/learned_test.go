package ratelimit_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/ratelimit"
)

// begunIn makes calls that have a minute, and returns how many of them begin within a time. Each
// succeeds after 10 ms.
func begunIn(t *testing.T, d time.Duration, l *ratelimit.Limiter, calls int) int {
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	var all sync.WaitGroup
	var begun atomic.Int64
	for range calls {
		all.Go(func() {
			err := l.Wait(ctx)
			if err != nil {
				return
			}
			begun.Add(1)
			call(l, ratelimit.Response{OK: true})
		})
	}
	time.Sleep(d)
	cancel()
	all.Wait()
	return int(begun.Load())
}

// TestLearnedRate: what a Limiter learns from refusals without headers.
func TestLearnedRate(t *testing.T) {
	refused := ratelimit.Response{Refused: true}
	for _, tt := range []struct {
		name        string
		before      func(t *testing.T, l *ratelimit.Limiter)
		least, most int // calls that begin in a second
	}{
		{"after successes, the only route still waits", func(t *testing.T, l *ratelimit.Limiter) {
			call(l, refused)
			for range 60 {
				call(l, ratelimit.Response{OK: true})
			}
		}, 10, 60},
		{"as many calls as came while nothing succeeded", func(t *testing.T, l *ratelimit.Limiter) {
			call(l, refused)
			ctx, cancel := context.WithCancel(t.Context())
			for range 300 {
				go l.Wait(ctx)
				time.Sleep(10 * ms)
			}
			cancel()
			call(l, ratelimit.Response{OK: true})
		}, 60, 100},
		{"as many after the late refusal of a request that began before the success", func(t *testing.T, l *ratelimit.Limiter) {
			for range 100 {
				call(l, ratelimit.Response{OK: true})
			}
			call(l, refused)
			late := l.Begin(t.Context())
			call(l, ratelimit.Response{OK: true})
			time.Sleep(20 * ms)
			l.Hear(late, refused)
		}, 80, 100},
		{"fewer after failures that are no refusals", func(t *testing.T, l *ratelimit.Limiter) {
			call(l, refused)
			for range 60 {
				call(l, ratelimit.Response{OK: true})
			}
			for range 20 {
				call(l, ratelimit.Response{})
			}
		}, 1, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{}
				tt.before(t, l)
				got := begunIn(t, sec, l, 100)
				assert.GreaterOrEqual(t, got, tt.least)
				assert.LessOrEqual(t, got, tt.most)
			})
		})
	}
}

// TestTooLongForTheRate: calls of two routes wait for one rate, also if each has a limit of its own, as
// searches of GitHub have. No more of them wait than can begin in time.
func TestTooLongForTheRate(t *testing.T) {
	core := []ratelimit.State{{Name: "core", Limit: 5000, Remaining: 4000, Reset: time.Hour}}
	search := []ratelimit.State{{Name: "search", Limit: 5000, Remaining: 4000, Reset: time.Hour}}
	for _, tt := range []struct {
		name  string
		other []ratelimit.State
	}{
		{"one limit", core},
		{"two limits", search},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{}
				states := map[string][]ratelimit.State{"a": core, "b": tt.other}
				for route, told := range states {
					callOn(t, l, route, ratelimit.Response{OK: true, States: told})
					callOn(t, l, route, ratelimit.Response{Refused: true, States: told})
				}
				for range 30 {
					for route, told := range states {
						callOn(t, l, route, ratelimit.Response{OK: true, States: told})
					}
				}
				var calls sync.WaitGroup
				var late atomic.Int64
				for n := range 600 {
					calls.Go(func() {
						ctx, cancel := context.WithTimeout(on(string("ab"[n%2])), 5*sec)
						defer cancel()
						began := time.Now()
						_ = l.Wait(ctx)
						if time.Since(began) > 4900*ms {
							late.Add(1)
						}
					})
					time.Sleep(ms)
				}
				calls.Wait()
				assert.LessOrEqual(t, late.Load(), int64(30), "calls that waited for nothing until hardly any time was left")
			})
		})
	}
}

// TestRefusedAtRandom: 20 workers soon begin about as many calls as without a Limiter if a server
// refuses 20 % of the requests at any rate, and no more than it allows if it has a limit. By chance, the
// refusals of a time may look like those of a limit, so one of three Limiters has to be fast.
func TestRefusedAtRandom(t *testing.T) {
	atRandom := func(*bucket) bool { return rand.Float64() < 0.2 }
	aboveTen := func(b *bucket) bool {
		_, ok := b.take(time.Now(), 1)
		return !ok
	}
	for _, tt := range []struct {
		name        string
		refuses     func(*bucket) bool
		least, most float64 // requests in a second, in the best minute
	}{
		{"at random", atRandom, 150, 200},
		{"above ten in a second", aboveTen, 7, 13},
	} {
		t.Run(tt.name, func(t *testing.T) {
			best := 0.0
			for n := 0; n < 3 && best < tt.least; n++ {
				best = max(best, bestMinute(t, tt.refuses))
			}
			assert.GreaterOrEqual(t, best, tt.least)
			assert.LessOrEqual(t, best, tt.most)
		})
	}
}

// bestMinute returns how many requests 20 workers make in a second, in the best of twelve minutes.
// The server may ask a bucket of ten in a second.
func bestMinute(t *testing.T, refuses func(*bucket) bool) (best float64) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		b := &bucket{limit: 10, rate: 10}
		var mu sync.Mutex // of the bucket
		var requests atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		var workers sync.WaitGroup
		for range 20 {
			workers.Go(func() {
				for ctx.Err() == nil && l.Wait(ctx) == nil {
					begun := l.Begin(ctx)
					requests.Add(1)
					time.Sleep(100 * ms)
					mu.Lock()
					refused := refuses(b)
					mu.Unlock()
					l.Hear(begun, ratelimit.Response{OK: !refused, Refused: refused})
				}
			})
		}
		for range 12 {
			requests.Store(0)
			time.Sleep(time.Minute)
			best = max(best, float64(requests.Load())/60)
		}
		cancel()
		workers.Wait()
	})
	return best
}
