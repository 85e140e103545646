package pause_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/pause"
	"github.com/gobackoff/retry/retrytest"
)

const (
	sec = time.Second
	ms  = time.Millisecond
)

var errRefused = errors.New("refused")

// outcome is how an attempt ended; a zero outcome is a success.
type outcome struct {
	class retry.Class
	hint  time.Duration
}

func (o outcome) attempt() retry.Attempt {
	if o == (outcome{}) {
		return retry.Attempt{Number: 1}
	}
	return retry.Attempt{Number: 1, Err: errRefused, Verdict: retry.Verdict{Class: o.class, Hint: o.hint}}
}

var (
	success = outcome{}
	noHint  = outcome{class: retry.ClassTimeout}
)

func hint(d time.Duration) outcome { return outcome{retry.ClassThrottled, d} }

// observe reports an outcome a number of times, evenly over a time, the last at its end.
func observe(l *pause.Limiter, number int, over time.Duration, o outcome) {
	for i := range number {
		if i > 0 {
			time.Sleep(over / time.Duration(number-1))
		}
		l.Observe(o.attempt())
	}
}

// waits returns how long a call without a deadline waits.
func waits(t *testing.T, l *pause.Limiter) time.Duration {
	start := time.Now()
	require.NoError(t, l.Wait(t.Context()))
	return time.Since(start)
}

// begin begins a pause of a time.
func begin(l *pause.Limiter, length time.Duration) {
	observe(l, 20, 190*ms, hint(length+190*ms))
}

// script is how long a call waits after some outcomes. The limiter is Strict so that the
// call does not begin during the pause.
type script struct {
	name     string
	outcomes func(*pause.Limiter)
	wait     time.Duration
}

func (s script) check(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pause.Limiter{Strict: true}
		s.outcomes(l)
		assert.Equal(t, s.wait, waits(t, l))
		assert.Zero(t, waits(t, l), "afterwards")
	})
}

// TestBegins: which outcomes begin a pause.
func TestBegins(t *testing.T) {
	for _, tt := range []script{
		{"nothing", func(*pause.Limiter) {}, 0},
		{"20 failures over 100 ms", func(l *pause.Limiter) { observe(l, 21, 100*ms, hint(sec)) }, 900 * ms},
		{"19 failures", func(l *pause.Limiter) { observe(l, 19, sec, hint(2*sec)) }, 0},
		{"20 failures over less", func(l *pause.Limiter) { observe(l, 20, 95*ms, hint(sec)) }, 0},
		{"with a success among them", func(l *pause.Limiter) {
			observe(l, 10, sec, hint(9*sec))
			observe(l, 1, 0, success)
			observe(l, 19, sec, hint(9*sec))
		}, 0},
		{"with a 404 among them", func(l *pause.Limiter) {
			observe(l, 10, sec, hint(9*sec))
			observe(l, 1, 0, outcome{class: retry.ClassPermanent})
			observe(l, 19, sec, hint(9*sec))
		}, 0},
		{"permanent, but with a hint", func(l *pause.Limiter) { observe(l, 20, 190*ms, outcome{retry.ClassPermanent, sec}) }, 810 * ms},
		{"one without a hint outweighs ten", func(l *pause.Limiter) {
			observe(l, 1, 0, noHint)
			observe(l, 29, 280*ms, hint(9*sec))
		}, 0},
		{"but not eleven", func(l *pause.Limiter) {
			observe(l, 1, 0, noHint)
			observe(l, 30, 290*ms, hint(9*sec))
		}, 9*sec - 190*ms},
		{"many without outweigh 1,000", func(l *pause.Limiter) {
			observe(l, 5000, 0, noHint)
			observe(l, 1019, sec, hint(9*sec))
		}, 0},
		{"but not more", func(l *pause.Limiter) {
			observe(l, 5000, 0, noHint)
			observe(l, 1020, 1019*10*ms, hint(9*sec))
		}, 9*sec - 190*ms},
		{"a success forgives all", func(l *pause.Limiter) {
			observe(l, 5000, 0, noHint)
			observe(l, 1, 0, success)
			begin(l, sec)
		}, sec},
	} {
		t.Run(tt.name, tt.check)
	}
}

// TestUntil: until when calls wait.
func TestUntil(t *testing.T) {
	for _, tt := range []script{
		{"the earliest hint", func(l *pause.Limiter) {
			observe(l, 10, 90*ms, hint(9*sec))
			observe(l, 1, 0, hint(4*sec))
			observe(l, 10, 180*ms, hint(9*sec))
		}, 4*sec - 180*ms},
		{"the earliest that is not over", func(l *pause.Limiter) { observe(l, 20, 19*sec, hint(1500*ms)) }, 500 * ms},
		{"too long a hint", func(l *pause.Limiter) { observe(l, 50, sec, hint(time.Minute+1)) }, 0},
		{"too long hints are ignored", func(l *pause.Limiter) {
			begin(l, 5*sec)
			observe(l, 51, sec, hint(time.Hour))
		}, 4 * sec},
		{"success ends it", func(l *pause.Limiter) {
			begin(l, 5*sec)
			observe(l, 1, 0, success)
		}, 0},
		{"an earlier hint ends it earlier", func(l *pause.Limiter) {
			begin(l, 5*sec)
			observe(l, 1, 0, hint(2*sec))
		}, 2 * sec},
		{"a later hint changes nothing", func(l *pause.Limiter) {
			begin(l, 5*sec)
			observe(l, 1, 0, hint(20*sec))
		}, 5 * sec},
		{"the row goes on after a pause", func(l *pause.Limiter) {
			begin(l, 5*sec)
			time.Sleep(6 * sec)
			observe(l, 1, 0, hint(3*sec))
		}, 3 * sec},
		{"but not after a success", func(l *pause.Limiter) {
			begin(l, 5*sec)
			time.Sleep(6 * sec)
			observe(l, 1, 0, success)
			observe(l, 1, 0, hint(3*sec))
		}, 0},
	} {
		t.Run(tt.name, tt.check)
	}
}

// TestMaxHint: the longest hint that counts.
func TestMaxHint(t *testing.T) {
	for _, tt := range []struct{ max, longest time.Duration }{{0, time.Minute}, {-1, time.Minute}, {5 * sec, 5 * sec}, {time.Hour, time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			l := &pause.Limiter{MaxHint: tt.max, Strict: true}
			observe(l, 20, 190*ms, hint(tt.longest+1))
			assert.Zero(t, waits(t, l))
			observe(l, 20, 190*ms, hint(tt.longest))
			assert.Equal(t, tt.longest-190*ms, waits(t, l))
		})
	}
}

// leave starts calls, and returns the numbers and times of those that begin, in order, once
// the pause is over.
func leave(t *testing.T, l *pause.Limiter, ctx func(number int) context.Context, number int) func() (order []int, at []time.Duration) {
	var mu sync.Mutex
	var order []int
	var at []time.Duration
	var calls sync.WaitGroup
	start := time.Now()
	for i := range number {
		calls.Go(func() {
			err := l.Wait(ctx(i))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				order, at = append(order, i), append(at, time.Since(start))
			}
		})
		synctest.Wait()
	}
	return func() ([]int, []time.Duration) {
		calls.Wait()
		return order, at
	}
}

// TestOrder: 5,000 calls leave in the order of their arrival, ten in the first 100 ms and
// twice as many in each 100 ms after; of others, which are canceled, nothing remains.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pause.Limiter{Strict: true}
		begin(l, sec)
		canceled, cancel := context.WithCancel(t.Context())
		start := time.Now()
		wait := leave(t, l, func(i int) context.Context {
			if i%2 == 1 {
				return canceled
			}
			return t.Context()
		}, 10_000)
		cancel()
		synctest.Wait()
		assert.Equal(t, start, time.Now(), "canceled calls leave at once")
		order, at := wait()
		require.Len(t, order, 5_000)
		assert.True(t, slices.IsSorted(order))
		slots := make([]int, 10)
		for _, d := range at {
			slots[(d-sec)/(100*ms)]++
		}
		assert.Equal(t, []int{10, 20, 40, 80, 160, 320, 640, 1280, 2450, 0}, slots)
		assert.Equal(t, []time.Duration{sec, sec + 10*ms, sec + 20*ms}, at[:3])
		assert.Zero(t, waits(t, l))
	})
}

// TestArrivals: calls that arrive while others leave are behind them.
func TestArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pause.Limiter{Strict: true}
		begin(l, sec)
		wait := leave(t, l, func(int) context.Context { return t.Context() }, 25)
		time.Sleep(sec + 105*ms) // 12 have left
		assert.Equal(t, 100*ms-105*ms+75*ms, waits(t, l))
		order, _ := wait()
		assert.Len(t, order, 25)
		assert.Zero(t, waits(t, l))
	})
}

// TestProbe: every second one call begins, at the end more, and its success ends the pause.
func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(pause.Limiter)
		begin(l, 10*sec)
		var mu sync.Mutex
		var at []time.Duration
		start := time.Now()
		var calls sync.WaitGroup
		for i := range 100 {
			calls.Go(func() {
				assert.NoError(t, l.Wait(t.Context()))
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Since(start))
				if i == 4 {
					l.Observe(success.attempt())
				} else if i < 4 {
					l.Observe([]outcome{hint(20 * sec), noHint}[i%2].attempt())
				}
			})
			synctest.Wait()
		}
		calls.Wait()
		assert.Equal(t, []time.Duration{sec, 2 * sec, 3 * sec, 4 * sec, 5 * sec, 5 * sec, 5*sec + 10*ms}, at[:7])
		assert.Less(t, at[99], 6*sec)
	})
	synctest.Test(t, func(t *testing.T) { // in the last second
		l := new(pause.Limiter)
		begin(l, 2500*ms)
		for _, wait := range []time.Duration{sec, 500 * ms, 200 * ms, 200 * ms, 200 * ms, 200 * ms, 200 * ms} {
			assert.Equal(t, wait, waits(t, l))
			l.Observe(hint(20 * sec).attempt())
		}
	})
	synctest.Test(t, func(t *testing.T) { // nobody waits
		l := new(pause.Limiter)
		begin(l, 10*sec)
		time.Sleep(4500 * ms)
		assert.Zero(t, waits(t, l))
		assert.Equal(t, sec, waits(t, l))
		time.Sleep(sec)
		assert.Zero(t, waits(t, l))
	})
}

// TestCanceled: a call that its caller cancels has learned nothing, so it neither ends a
// pause nor the row before one.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(pause.Limiter)
		cancel := func() {
			a := retry.Attempt{Number: 1, Err: fmt.Errorf("Get: %w", context.Canceled)}
			a.Verdict = retry.Policy{}.Classify(a.Err)
			l.Observe(a)
		}
		cancel() // without a row
		observe(l, 10, 90*ms, hint(9*sec))
		cancel()
		observe(l, 10, 90*ms, hint(9*sec))
		assert.Equal(t, sec, waits(t, l), "the row goes on")
		cancel()
		assert.Equal(t, sec, waits(t, l), "the pause goes on")
		l.Observe(success.attempt())
		assert.Zero(t, waits(t, l))
	})
}

// TestDeadline: a call that cannot wait begins at once, or when a quarter of its time is left
// if the next pause begins while it waits. If the limiter is strict, it fails.
func TestDeadline(t *testing.T) {
	for _, strict := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &pause.Limiter{Strict: strict}
			within := func(d time.Duration) (time.Duration, error) {
				ctx, cancel := context.WithTimeout(t.Context(), d)
				defer cancel()
				start := time.Now()
				err := l.Wait(ctx)
				return time.Since(start), err
			}
			check := func(wait time.Duration, err error, want, fails time.Duration) {
				t.Helper()
				if strict {
					assert.Equal(t, fails, wait)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					assert.ErrorContains(t, err, "pause: the server asks for a wait beyond the deadline")
				} else {
					assert.Equal(t, want, wait)
					assert.NoError(t, err)
				}
			}
			begin(l, 900*ms)
			wait, err := within(900 * ms)
			check(wait, err, 0, 0)
			wait, err = within(901 * ms)
			assert.NoError(t, err)
			assert.Equal(t, map[bool]time.Duration{true: 900 * ms, false: 200 * ms}[strict], wait)

			observe(l, 1, 0, hint(500*ms)) // the next pause
			var calls sync.WaitGroup
			for range 10 {
				calls.Go(func() { assert.NoError(t, l.Wait(t.Context())) })
			}
			synctest.Wait()
			calls.Go(func() {
				wait, err := within(800 * ms)
				check(wait, err, 520*ms+(800*ms-520*ms)*3/4, 520*ms)
			})
			time.Sleep(520 * ms) // three have left
			observe(l, 1, 0, hint(500*ms))
			calls.Wait()
			assert.Zero(t, waits(t, l))
		})
	}
}

// TestEnds: a call that waits ends with its context, and with the Clock.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pause.Limiter{Strict: true}
		begin(l, 10*sec)
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(sec, func() { cancel(cause) })
		start := time.Now()
		err := retry.Do(ctx, retry.Policy{Limiter: l}, func(context.Context) error { t.Error("called"); return nil })
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, cause)
		assert.Equal(t, sec, time.Since(start))
		assert.Equal(t, 9*sec, waits(t, l))
	})
	clock := &brokenClock{}
	l := &pause.Limiter{Clock: clock}
	for range 20 {
		clock.Advance(10 * ms)
		l.Observe(hint(sec).attempt())
	}
	assert.Equal(t, errRefused, l.Wait(t.Context()))
	clock.Advance(sec)
	assert.NoError(t, l.Wait(t.Context()))
}

type brokenClock struct{ retrytest.Clock }

func (*brokenClock) Sleep(context.Context, time.Duration) error { return errRefused }

// TestClockPanics: the calls behind one whose Clock panics go on.
func TestClockPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &oddClock{panics: true}
		l := &pause.Limiter{Clock: clock, Strict: true}
		begin(l, sec)
		assert.Panics(t, func() { _ = l.Wait(t.Context()) })
		clock.panics = false
		assert.Equal(t, sec, waits(t, l))
	})
}

// TestClockGoesBack: a pause is not longer than MaxHint if the Clock is set back.
func TestClockGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &oddClock{}
		l := &pause.Limiter{Clock: clock, MaxHint: 10 * sec, Strict: true}
		begin(l, sec)
		clock.back = time.Hour
		assert.Equal(t, 10*sec, waits(t, l))
		assert.Zero(t, waits(t, l))
	})
}

type oddClock struct {
	retry.SystemClock
	panics bool
	back   time.Duration
}

func (c *oddClock) Now() time.Time { return c.SystemClock.Now().Round(0).Add(-c.back) }

func (c *oddClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.panics {
		panic("odd")
	}
	return c.SystemClock.Sleep(ctx, d)
}

// TestClock: with a virtual clock, nothing waits in real time.
func TestClock(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(0, 0)}
	l := &pause.Limiter{Clock: clock, Strict: true}
	for range 20 {
		clock.Advance(10 * ms)
		l.Observe(hint(30 * sec).attempt())
	}
	require.NoError(t, l.Wait(t.Context()))
	assert.Equal(t, []time.Duration{30*sec - 190*ms}, clock.Waits())
}

// TestLag: if the first call in line is late, the others do not keep looking. On a busy
// machine, 100,000 calls that do keep it from running.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &lateClock{}
		l := &pause.Limiter{Clock: clock, Strict: true}
		begin(l, sec)
		order, _ := leave(t, l, func(int) context.Context { return t.Context() }, 100)()
		assert.Len(t, order, 100) // once the first is there, all leave in the same instant
		assert.Less(t, clock.sleeps.Load(), int64(100*12))
	})
}

// lateClock is the system clock, but its first Sleep takes ten seconds longer.
type lateClock struct {
	retry.SystemClock
	sleeps atomic.Int64
}

func (c *lateClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.sleeps.Add(1) == 1 {
		d, ctx = d+10*sec, context.WithoutCancel(ctx)
	}
	return c.SystemClock.Sleep(ctx, d)
}

// TestDo: waiting uses up no attempt, and the calls of one policy share the pause.
func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := retry.Policy{MaxAttempts: 2, Limiter: new(pause.Limiter)}
		open := time.Now().Add(2 * sec)
		var attempts atomic.Int64
		var calls sync.WaitGroup
		for range 1000 {
			time.Sleep(ms)
			calls.Go(func() {
				assert.NoError(t, retry.Do(t.Context(), policy, func(context.Context) error {
					attempts.Add(1)
					if left := time.Until(open); left > 0 {
						return retry.Throttled(retry.After(errRefused, left))
					}
					return nil
				}))
			})
		}
		calls.Wait()
		assert.LessOrEqual(t, attempts.Load(), int64(1000+110))
		assert.Less(t, time.Since(open), 2*sec)
	})
}

// TestConcurrent: whatever happens at the same time, every call ends, and then nothing waits.
func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(4) {
			l := &pause.Limiter{Strict: seed%2 == 0}
			var calls sync.WaitGroup
			for i := range uint64(200) {
				random := rand.New(rand.NewPCG(seed, i))
				calls.Go(func() {
					for range 20 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(20*sec))))
						if random.IntN(4) == 0 {
							time.AfterFunc(time.Duration(random.Int64N(int64(sec))), cancel)
						}
						if l.Wait(ctx) == nil {
							time.Sleep(time.Duration(random.Int64N(int64(100 * ms))))
							switch n := random.IntN(1000); {
							case n == 0:
								l.Observe(success.attempt())
							case n < 10:
								l.Observe(noHint.attempt())
							default:
								l.Observe(hint(time.Duration(random.Int64N(int64(9 * sec)))).attempt())
							}
						}
						cancel()
					}
				})
			}
			calls.Wait()
			l.Observe(success.attempt())
			assert.Zero(t, waits(t, l))
		}
	})
}

// FuzzBegins compares the beginning of a pause with a rule that remembers the whole row. A
// byte is an outcome and the time before it.
func FuzzBegins(f *testing.F) {
	f.Add([]byte("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"))
	f.Add([]byte("hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"))
	f.Fuzz(func(t *testing.T, script []byte) {
		clock := &retrytest.Clock{Start: time.Unix(0, 0)}
		l := &pause.Limiter{Clock: clock, Strict: true}
		score, row := 0, []time.Time(nil)
		for _, b := range script {
			clock.Advance(time.Duration(b>>4) * ms)
			now := clock.Now()
			paused := false
			switch {
			case b&15 == 0:
				l.Observe(success.attempt())
				score, row = 0, nil
			case b&15 == 1:
				l.Observe(noHint.attempt())
				if score = max(-1000, score-10); score <= 0 {
					row = nil
				}
			default:
				l.Observe(hint(sec).attempt())
				if score++; score > 0 {
					row = append(row, now)
				}
				paused = score >= 20 && now.Sub(row[0]) >= 100*ms
			}
			before := len(clock.Waits())
			require.NoError(t, l.Wait(t.Context()))
			require.Equal(t, paused, len(clock.Waits()) > before)
			if paused {
				return
			}
		}
	})
}

func TestAllocations(t *testing.T) {
	l := new(pause.Limiter)
	call := func() {
		_ = l.Wait(t.Context())
		l.Observe(retry.Attempt{Number: 1})
	}
	assert.Zero(t, testing.AllocsPerRun(1000, call))
}

// BenchmarkLimiter: a call without a pause, alone and from all processors.
func BenchmarkLimiter(b *testing.B) {
	l := new(pause.Limiter)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = l.Wait(b.Context())
			l.Observe(retry.Attempt{Number: 1})
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_ = l.Wait(b.Context())
				l.Observe(retry.Attempt{Number: 1})
			}
		})
	})
}

// TestLongestLine: a server that refuses for ever cannot make a client keep more calls than the
// line holds, even if nothing else ends them.
func TestLongestLine(t *testing.T) {
	for _, strict := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const most, calls = 10_000, 12_000
			limiter := &pause.Limiter{Strict: strict}
			refusal := retry.Attempt{Number: 1, Err: errRefused, Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: 30 * time.Second}}
			for range 100 {
				limiter.Observe(refusal)
				time.Sleep(10 * time.Millisecond)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var began, failed atomic.Int64
			var waiters sync.WaitGroup
			for range calls {
				waiters.Go(func() {
					err := limiter.Wait(ctx)
					switch {
					case err == nil:
						began.Add(1)
					case ctx.Err() == nil:
						failed.Add(1)
					}
				})
			}
			synctest.Wait()
			beyond := began.Load()
			if strict {
				beyond = failed.Load()
			}
			assert.InDelta(t, calls-most, beyond, 1, "a probe may have begun, too")
			cancel()
			waiters.Wait()
		})
	}
}
