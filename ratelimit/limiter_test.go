package ratelimit_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retrytest"
)

const (
	sec = time.Second
	ms  = time.Millisecond
)

// waits returns how long a call waits.
func waits(t *testing.T, l *ratelimit.Limiter, ctx context.Context) time.Duration {
	t.Helper()
	start := time.Now()
	require.NoError(t, l.Wait(ctx))
	return time.Since(start)
}

// call makes a request that takes 10 ms and gets a response.
func call(l *ratelimit.Limiter, r ratelimit.Response) {
	b := l.Begin(context.Background())
	time.Sleep(10 * ms)
	l.Hear(b, r)
}

func state(limit, remaining float64, reset time.Duration) []ratelimit.State {
	return []ratelimit.State{{Limit: limit, Remaining: remaining, Reset: reset}}
}

func success(remaining float64, reset time.Duration) ratelimit.Response {
	return ratelimit.Response{OK: true, States: state(100, remaining, reset)}
}

func refusal(reset time.Duration) ratelimit.Response {
	return ratelimit.Response{Refused: true, Hint: reset, States: state(100, 0, reset)}
}

// exhaust makes a Limiter learn that nothing is left until the reset, and believe it.
func exhaust(l *ratelimit.Limiter, reset time.Duration) {
	_ = l.Wait(context.Background())
	call(l, success(50, reset+20*ms))
	_ = l.Wait(context.Background())
	call(l, refusal(reset+10*ms))
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestNothingIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		for range 8 {
			assert.Zero(t, waits(t, l, t.Context()))
		}
		call(l, ratelimit.Response{OK: true})
		for range 1000 {
			assert.Zero(t, waits(t, l, t.Context()), "the server has no limit")
		}
	})
}

func TestWhileMuchIsLeftCallsBeginAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		for n := range 70 {
			assert.Zero(t, waits(t, l, t.Context()))
			call(l, success(99-float64(n), 9*sec))
		}
	})
}

func TestWaitsForTheReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		exhaust(l, 7*sec)
		assert.InDelta(t, 7, waits(t, l, t.Context()).Seconds(), 0.2)
	})
}

// TestTooLate: a call whose turn would come too late begins at once, as without a Limiter.
func TestTooLate(t *testing.T) {
	for _, tt := range []struct {
		name           string
		reset, maxWait time.Duration
		deadline       time.Duration
		want           time.Duration
	}{
		{"after a minute", time.Hour, 0, time.Hour, 0},
		{"within a minute", 50 * sec, 0, time.Hour, 50 * sec},
		{"after MaxWait", 50 * sec, 40 * sec, time.Hour, 0},
		{"after the deadline", 50 * sec, 0, 40 * sec, 0},
		{"before the deadline", 30 * sec, 0, 50 * sec, 30 * sec},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{MaxWait: tt.maxWait}
				exhaust(l, tt.reset)
				assert.InDelta(t, tt.want.Seconds(), waits(t, l, within(t, tt.deadline)).Seconds(), 0.2)
			})
		})
	}
}

// TestCostAboveTheLimit: a call that costs more than the whole limit begins at the reset.
func TestCostAboveTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		ctx := ratelimit.WithCost(t.Context(), 5000)
		r := ratelimit.Response{Refused: true, Hint: 9 * sec, States: []ratelimit.State{{Name: "tokens", Limit: 1000, Reset: 9 * sec}}}
		l.Hear(l.Begin(ctx), r)
		assert.InDelta(t, 9, waits(t, l, ctx).Seconds(), 0.2)
	})
}

// TestHopeless: a call that could not end in time does not use up what is left.
func TestHopeless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		b := l.Begin(t.Context())
		time.Sleep(10 * sec)
		l.Hear(b, success(5, 50*sec))
		assert.NoError(t, l.Wait(within(t, 9*sec)), "no refusal has shown that the header is right")
		call(l, refusal(40*sec))
		assert.ErrorIs(t, l.Wait(within(t, 9*sec)), context.DeadlineExceeded)
		assert.InDelta(t, 40, waits(t, l, within(t, 59*sec)).Seconds(), 0.2)
	})
}

// TestMaxElapsed: Do passes a context that ends then, also with another Clock.
func TestMaxElapsed(t *testing.T) {
	for name, clock := range map[string]retry.Clock{"system": nil, "virtual": &retrytest.Clock{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{Clock: clock}
				for range 3 {
					l.Observe(retry.Attempt{Err: errors.New("refused"), Verdict: retry.Verdict{Hint: time.Hour}})
				}
				calls := 0
				p := retry.Policy{Limiter: l, MaxElapsed: 2 * sec, Clock: clock, Backoff: retry.Constant(100 * ms)}
				err := retry.Do(t.Context(), p, func(context.Context) error {
					calls++
					return retry.After(errors.New("refused"), time.Hour)
				})
				assert.Error(t, err)
				assert.LessOrEqual(t, calls, 2)
			})
		})
	}
}

func TestMaxLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{MaxLine: 3}
		exhaust(l, 9*sec)
		var begun atomic.Int32
		for range 10 {
			go func() {
				_ = l.Wait(context.Background())
				begun.Add(1)
			}()
		}
		synctest.Wait()
		assert.EqualValues(t, 7, begun.Load())
		time.Sleep(time.Minute)
		assert.EqualValues(t, 10, begun.Load())
	})
}

// TestMaxLineOfBoth: calls that wait for the Limit and calls that wait for what the server tells
// are in one line.
func TestMaxLineOfBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{MaxLine: 3, Limit: ratelimit.Limit{Rate: 1}}
		call(l, ratelimit.Response{OK: true})
		begin := func() {
			for range 4 {
				go func() { _ = l.Wait(context.Background()) }()
			}
			synctest.Wait()
			assert.Equal(t, 3, l.Stats().Waiting)
		}
		begin()
		exhaust(l, 9*sec)
		begin()
		time.Sleep(time.Hour)
		assert.Zero(t, l.Stats().Waiting)
	})
}

// TestOrder: 20,000 calls begin in the order of their deadlines, and those that leave are
// forgotten.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 20_000
		l := &ratelimit.Limiter{MaxLine: calls, MaxWait: time.Hour}
		exhaust(l, 9*sec)
		var mu sync.Mutex
		var order []int
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n := range calls {
			go func() {
				deadline := time.Minute + time.Duration((n*7919)%calls)*ms
				if n%4 == 0 { // these leave
					deadline = time.Hour
				}
				ctx, cancel := context.WithTimeout(context.Background(), deadline)
				defer cancel()
				if n%4 == 0 {
					time.AfterFunc(sec, cancel)
				}
				if l.Wait(ctx) == nil {
					mu.Lock()
					order = append(order, (n*7919)%calls)
					mu.Unlock()
				}
			}()
		}
		synctest.Wait()
		runtime.ReadMemStats(&after)
		assert.Less(t, (int64(after.Sys)-int64(before.Sys))/calls, int64(32<<10), "bytes for each call")
		time.Sleep(2 * sec)
		mu.Lock()
		assert.Empty(t, order)
		mu.Unlock()
		time.Sleep(8 * sec)
		call(l, ratelimit.Response{OK: true, States: state(1e6, 1e6, 9*sec)})
		time.Sleep(20 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		assert.Len(t, order, calls*3/4)
		ranks := slices.Sorted(slices.Values(order))
		moved := 0
		for at, deadline := range order { // goroutines that begin at the same time run in any order
			rank, _ := slices.BinarySearch(ranks, deadline)
			moved += max(rank-at, at-rank)
		}
		assert.Less(t, moved/len(order), 1000, "places, instead of 5,000")
	})
}

func TestCanceledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		exhaust(l, 9*sec)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(sec, cancel)
		start := time.Now()
		assert.ErrorIs(t, l.Wait(ctx), context.Canceled)
		assert.Equal(t, sec, time.Since(start))
	})
}

// panicking is a Clock that panics once.
type panicking struct {
	retry.SystemClock
	calls atomic.Int32 // until it does
}

func (p *panicking) Now() time.Time {
	if p.calls.Add(-1) == 0 {
		panic("broken")
	}
	return p.SystemClock.Now()
}

func (p *panicking) Sleep(ctx context.Context, d time.Duration) error {
	if p.calls.Add(-1) == 0 {
		panic("broken")
	}
	return p.SystemClock.Sleep(ctx, d)
}

func TestPanicOfTheClockLosesNobody(t *testing.T) {
	for _, limit := range []ratelimit.Limit{{}, {Rate: 1, Burst: 1}} {
		for calls := range int32(60) {
			synctest.Test(t, func(t *testing.T) {
				clock := &panicking{}
				l := &ratelimit.Limiter{Clock: clock, Limit: limit, MaxWait: 20 * sec}
				exhaust(l, 9*sec)
				clock.calls.Store(calls + 1)
				var panics, begun atomic.Int32
				for range 5 {
					go func() {
						defer func() {
							if recover() != nil {
								panics.Add(1)
							}
						}()
						if l.Wait(context.Background()) == nil {
							begun.Add(1)
						}
					}()
				}
				time.Sleep(time.Minute)
				assert.LessOrEqual(t, panics.Load(), int32(1))
				assert.Equal(t, int32(5), panics.Load()+begun.Load(), "panic of call %d", calls)
				clock.calls.Store(0)
				assert.Zero(t, l.Stats().Waiting)
			})
		}
	}
}

// A frozen Clock always says the same time, as that of a test may.
type frozen struct{ sleeps atomic.Int64 }

func (*frozen) Now() time.Time { return time.Unix(1e9, 0) }

func (f *frozen) Sleep(context.Context, time.Duration) error {
	if f.sleeps.Add(1) > 100 {
		return errors.New("this does not end")
	}
	return nil
}

// TestClockThatStandsStill: what a call has slept counts, so it begins in the end.
func TestClockThatStandsStill(t *testing.T) {
	clock := new(frozen)
	l := &ratelimit.Limiter{Clock: clock}
	exhaust(l, 10*sec)
	for range 3 {
		assert.NoError(t, l.Wait(t.Context()))
	}
	assert.Positive(t, clock.sleeps.Load())
}

// TestHints: after three refusals with a long hint, without a success in between, nothing begins
// until the earliest hint is over, except one call after ten seconds.
func TestHints(t *testing.T) {
	refused := func(hint time.Duration) retry.Attempt {
		return retry.Attempt{Err: errors.New("refused"), Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: hint}}
	}
	closed := func(t *testing.T, hints ...time.Duration) *ratelimit.Limiter {
		l := &ratelimit.Limiter{}
		for _, hint := range hints {
			require.NoError(t, l.Wait(t.Context()))
			l.Observe(refused(hint))
		}
		return l
	}
	for _, tt := range []struct {
		name  string
		hints []time.Duration
		want  time.Duration // after the probe
	}{
		{"three close", []time.Duration{20 * sec, 20 * sec, 20 * sec}, 20 * sec},
		{"the earliest counts", []time.Duration{40 * sec, 15 * sec, 20 * sec}, 15 * sec},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := closed(t, tt.hints...)
				start := time.Now()
				assert.InDelta(t, 10, waits(t, l, t.Context()).Seconds(), 0.3, "a probe")
				require.NoError(t, l.Wait(t.Context()))
				assert.InDelta(t, tt.want.Seconds(), time.Since(start).Seconds(), 0.4)
			})
		})
	}
	t.Run("short ones do not close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := closed(t, 5*sec, 5*sec, 5*sec)
			assert.Less(t, waits(t, l, t.Context()), sec)
		})
	})
	t.Run("a success opens", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := closed(t, 40*sec, 40*sec, 40*sec)
			assert.Equal(t, 10*sec, waits(t, l, t.Context()).Round(sec))
			l.Observe(retry.Attempt{})
			assert.Less(t, waits(t, l, t.Context()), 2*sec)
		})
	})
	t.Run("a probe whose hint ends later is the last", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := closed(t, 40*sec, 40*sec, 40*sec)
			assert.Equal(t, 10*sec, waits(t, l, t.Context()).Round(sec))
			l.Observe(refused(40 * sec))
			assert.Equal(t, 40*sec, waits(t, l, t.Context()).Round(sec))
		})
	})
	t.Run("other failures are not refusals", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := &ratelimit.Limiter{}
			for range 100 {
				assert.Zero(t, waits(t, l, t.Context()))
				l.Observe(retry.Attempt{Err: errors.New("failed")})
			}
		})
	})
	t.Run("a refusal without a hint slows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := &ratelimit.Limiter{}
			l.Observe(refused(0))
			start := time.Now()
			for range 10 {
				require.NoError(t, l.Wait(t.Context()))
				l.Observe(refused(0))
			}
			assert.Greater(t, time.Since(start), 5*sec, "ten calls that are all refused")
			l.Observe(retry.Attempt{})
			time.Sleep(2 * time.Minute)
			start = time.Now()
			for range 10 {
				require.NoError(t, l.Wait(t.Context()))
			}
			assert.Zero(t, time.Since(start), "a minute without a refusal has passed")
		})
	})
}

// TestWrongHeaders: what is wrong with a header, and that it is ignored after a while.
func TestWrongHeaders(t *testing.T) {
	for name, says := range map[string]func(n int) []ratelimit.State{
		"always 0":            func(int) []ratelimit.State { return state(100, 0, time.Hour) },
		"of another scope":    func(int) []ratelimit.State { return state(1000, 5, time.Hour) },
		"a reset in the past": func(n int) []ratelimit.State { return state(100, 5, -time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ratelimit.Limiter{}
				for n := range 100 {
					require.NoError(t, l.Wait(t.Context()))
					call(l, ratelimit.Response{OK: true, States: says(n)})
				}
				var last time.Duration
				for n := range 100 {
					last = max(last, waits(t, l, t.Context()))
					call(l, ratelimit.Response{OK: true, States: says(n)})
				}
				assert.LessOrEqual(t, last, 300*ms)
			})
		})
	}
}

// TestCost: a limit on tokens counts what a call costs, another one counts calls.
func TestCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ratelimit.Limiter{}
		ctx := ratelimit.WithCost(t.Context(), 400)
		says := func(left float64) ratelimit.Response {
			return ratelimit.Response{OK: true, States: []ratelimit.State{{Name: "tokens", Limit: 1000, Remaining: left, Reset: 9 * sec}}}
		}
		begin := func(r ratelimit.Response) {
			require.NoError(t, l.Wait(ctx))
			b := l.Begin(ctx)
			time.Sleep(10 * ms)
			l.Hear(b, r)
		}
		begin(says(600))
		r := says(0)
		r.OK, r.Refused, r.Hint = false, true, 8*sec
		begin(r)
		assert.InDelta(t, 8, waits(t, l, ctx).Seconds(), 1.2)
	})
}

func BenchmarkWait(b *testing.B) {
	l := &ratelimit.Limiter{}
	call(l, success(99, sec))
	ctx := context.Background()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = l.Wait(ctx)
			l.Hear(l.Begin(ctx), success(99, sec))
		}
	})
}
