package ratelimit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/ratelimit"
)

// store is a Store in memory that may be broken.
type store struct {
	mu        sync.Mutex
	full      time.Time
	asked     atomic.Int32
	processes int
	broken    func(context.Context) error
}

func (s *store) Take(ctx context.Context, _ string, l ratelimit.Limit, n float64) (time.Duration, int, error) {
	s.asked.Add(1)
	if s.broken != nil {
		if err := s.broken(ctx); err != nil {
			return 0, 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.full.Before(now) {
		s.full = now
	}
	s.full = s.full.Add(time.Duration(n / l.Rate * 1e9))
	return s.full.Sub(now) - time.Duration(l.Burst/l.Rate*1e9), s.processes, nil
}

func (s *store) Empty(_ context.Context, _ string, l ratelimit.Limit, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = time.Now().Add(d + time.Duration(l.Burst/l.Rate*1e9))
	return nil
}

// begin starts a number of calls and returns how many have begun after each of the times.
func begin(limiters []*ratelimit.Limiter, calls int, at ...time.Duration) (begun []int) {
	var n atomic.Int32
	for i := range calls {
		go func() {
			if limiters[i%len(limiters)].Wait(context.Background()) == nil {
				n.Add(1)
			}
		}()
	}
	start := time.Now()
	for _, t := range at {
		time.Sleep(time.Until(start.Add(t)))
		synctest.Wait()
		begun = append(begun, int(n.Load()))
	}
	return begun
}

var tenASecond = ratelimit.Limit{Rate: 10, Burst: 5}

// ready returns a Limiter with a Limit whose ramp is over.
func ready(s ratelimit.Store) *ratelimit.Limiter {
	l := &ratelimit.Limiter{Limit: tenASecond, Store: s}
	l.Hear(l.Begin(context.Background()), ratelimit.Response{OK: true})
	return l
}

func TestLimitAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, []int{5, 10, 35, 40}, begin([]*ratelimit.Limiter{ready(nil)}, 40, 50*ms, 550*ms, 3050*ms, 9*sec))
	})
}

func TestLimitShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{processes: 2}
		assert.Equal(t, []int{5, 10, 35, 40}, begin([]*ratelimit.Limiter{ready(s), ready(s)}, 40, 50*ms, 550*ms, 3050*ms, 9*sec))
		assert.LessOrEqual(t, s.asked.Load(), int32(40))
	})
}

// TestBrokenStore: each process takes an equal share of the limit, after a quarter of a second at
// most, and asks at most once a second.
func TestBrokenStore(t *testing.T) {
	for name, broken := range map[string]func(context.Context) error{
		"fails":  func(context.Context) error { return errors.New("down") },
		"slow":   func(ctx context.Context) error { return sleep(ctx, time.Minute) },
		"hangs":  func(context.Context) error { time.Sleep(time.Hour); return errors.New("late") },
		"panics": func(context.Context) error { panic("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &store{processes: 2}
				l := ready(s)
				assert.NoError(t, l.Wait(t.Context())) // it hears of the other process
				time.Sleep(10 * sec)
				s.broken = broken
				before := s.asked.Load()
				begun := begin([]*ratelimit.Limiter{l}, 40, 260*ms, 3050*ms, 20*sec)
				assert.GreaterOrEqual(t, begun[0], 2, "calls wait for the Store for a quarter of a second")
				assert.InDelta(t, 17, begun[1], 1, "half of the limit")
				assert.Equal(t, 40, begun[2])
				begin([]*ratelimit.Limiter{l}, 10, 5*sec)
				assert.LessOrEqual(t, s.asked.Load()-before, int32(6))
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestStoreFailsLater: what a process used beyond its share while others used less does not make
// its calls wait when the Store fails.
func TestStoreFailsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{processes: 2}
		l := ready(s)
		for range 600 {
			assert.NoError(t, l.Wait(t.Context()))
		}
		s.broken = func(context.Context) error { return errors.New("down") }
		begun := begin([]*ratelimit.Limiter{l}, 40, 3050*ms, 6050*ms, 20*sec)
		assert.InDelta(t, 15, begun[0], 1, "half of the limit")
		assert.InDelta(t, 30, begun[1], 1)
		assert.Equal(t, 40, begun[2])
	})
}

// TestRefusalEmptiesTheLimit: the server knows better.
func TestRefusalEmptiesTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{processes: 2}
		one, other := ready(s), ready(s)
		one.Hear(one.Begin(t.Context()), ratelimit.Response{Refused: true, Hint: 2 * sec})
		synctest.Wait()
		assert.InDelta(t, 2, waits(t, other, t.Context()).Seconds(), 0.2)
	})
}

// TestHeadersOverruleTheLimit while more than a quarter is left.
func TestHeadersOverruleTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{Limit: tenASecond}
		for n := range 60 {
			assert.Zero(t, waits(t, l, t.Context()))
			call(l, success(99-float64(n), 9*sec))
		}
	})
}

// TestCorrect: what a call really cost counts, also if it was less.
func TestCorrect(t *testing.T) {
	for name, tt := range map[string]struct {
		really float64
		want   time.Duration
	}{
		"as expected": {5, 500 * ms}, "less": {1, 100 * ms}, "more": {25, 2500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := ready(nil)
				ctx := ratelimit.WithCost(t.Context(), 5)
				assert.Zero(t, waits(t, l, ctx))
				ratelimit.Correct(ctx, tt.really)
				assert.Equal(t, tt.want, waits(t, l, ratelimit.WithCost(t.Context(), 5)))
			})
		})
	}
}

// TestLeavingGivesBack: a call that ends while it waits leaves its units to others.
func TestLeavingGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ready(nil)
		assert.Zero(t, waits(t, l, ratelimit.WithCost(t.Context(), 5)))
		ctx, cancel := context.WithCancel(ratelimit.WithCost(t.Context(), 100))
		time.AfterFunc(ms, cancel)
		assert.ErrorIs(t, l.Wait(ctx), context.Canceled)
		assert.Less(t, waits(t, l, t.Context()), 200*ms)
	})
}

// TestCorrectNothing: Correct returns no units of a call that has none: it gave them back, or has
// begun without them, because the server said that enough is left.
func TestCorrectNothing(t *testing.T) {
	five := func(t *testing.T) context.Context { return ratelimit.WithCost(t.Context(), 5) }
	t.Run("it left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := ready(nil)
			assert.Zero(t, waits(t, l, five(t)))
			ctx, cancel := context.WithCancel(ratelimit.WithCost(t.Context(), 50))
			time.AfterFunc(ms, cancel)
			assert.ErrorIs(t, l.Wait(ctx), context.Canceled)
			ratelimit.Correct(ctx, 0)
			assert.Equal(t, 499*ms, waits(t, l, five(t)))
		})
	})
	t.Run("it did not take any", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := ready(nil)
			call(l, success(100, 9*sec))
			ctx := ratelimit.WithCost(t.Context(), 50)
			assert.Zero(t, waits(t, l, ctx))
			time.Sleep(20 * sec) // what the server said is over
			assert.Zero(t, waits(t, l, five(t)))
			ratelimit.Correct(ctx, 0)
			assert.Equal(t, 500*ms, waits(t, l, five(t)))
		})
	})
}
