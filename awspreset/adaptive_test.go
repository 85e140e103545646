package awspreset_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

var (
	responded = retry.Attempt{Number: 1}
	refused   = failedWith(retry.ClassThrottled)
	timedOut  = failedWith(retry.ClassTimeout)
	errNoWait = errors.New("this clock does not wait")
)

// A stoppedClock does not wait.
type stoppedClock struct{ now time.Time }

func (c stoppedClock) Now() time.Time                           { return c.now }
func (stoppedClock) Sleep(context.Context, time.Duration) error { return errNoWait }

// throttledOnce throttles l at 10 attempts per second.
func throttledOnce(t *testing.T, l *awspreset.AdaptiveLimiter) *awspreset.AdaptiveLimiter {
	t.Helper()
	for i := range 60 {
		time.Sleep(100 * ms)
		if i == 59 {
			l.Observe(refused)
			break
		}
		l.Observe(responded)
	}
	require.InDelta(t, 7, l.Rate(), 0.1, "0.7 of the measured rate")
	return l
}

func drained(t *testing.T, l *awspreset.AdaptiveLimiter) *awspreset.AdaptiveLimiter {
	t.Helper()
	throttledOnce(t, l)
	for l.State().Tokens > 0.5 {
		require.NoError(t, l.Wait(t.Context()))
	}
	return l
}

var everyAdaptive = []struct {
	name string
	make func() *awspreset.AdaptiveLimiter
}{
	{"zero value", func() *awspreset.AdaptiveLimiter { return &awspreset.AdaptiveLimiter{} }},
	{"botocore", func() *awspreset.AdaptiveLimiter { return &awspreset.AdaptiveLimiter{InitialRate: 1} }},
}

func TestAdaptiveLimiterUnthrottled(t *testing.T) {
	for _, tt := range everyAdaptive {
		t.Run(tt.name, func(t *testing.T) {
			l := tt.make()
			l.Clock = stoppedClock{time.Unix(1000, 0)}
			ctx := t.Context()
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				if l.Wait(ctx) != nil {
					t.Fatal("Wait does not return at once before any throttling")
				}
				l.Observe(responded)
				l.Observe(timedOut)
			}))
			assert.Zero(t, l.Rate())
			l.Observe(refused)
			assert.Equal(t, 0.5, l.Rate())
			assert.ErrorIs(t, l.Wait(ctx), errNoWait)
		})
	}
}

func TestAdaptiveLimiterOutcomes(t *testing.T) {
	failed := func(class retry.Class) retry.Attempt { return failedWith(class) }
	tests := []struct {
		name    string
		attempt retry.Attempt
	}{
		{"success", responded},
		{"permanent failure", failed(retry.ClassPermanent)},
		{"transient failure", failed(retry.ClassTransient)},
		{"timeout", failed(retry.ClassTimeout)},
		{"no failure, whatever its class", retry.Attempt{Verdict: retry.Verdict{Class: retry.ClassThrottled}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, limiter := range everyAdaptive {
					l := throttledOnce(t, limiter.make())
					before := l.Rate()
					time.Sleep(100 * ms)
					l.Observe(tt.attempt)
					assert.Greater(t, l.Rate(), before, limiter.name)
					grown := l.Rate()
					l.Observe(refused)
					assert.InDelta(t, 0.7*grown, l.Rate(), 1e-6, limiter.name)
				}
			})
		})
	}
}

func TestAdaptiveLimiterTakesTurns(t *testing.T) {
	for _, tt := range everyAdaptive {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := drained(t, tt.make())
				rate := l.Rate()
				missing := 1 - l.State().Tokens
				start := time.Now()
				const callers = 100
				done := make(chan int, callers)
				for i := range callers {
					go func() {
						assert.NoError(t, l.Wait(t.Context()))
						came := time.Since(start).Seconds() * rate
						assert.InDelta(t, missing+float64(i), came, 0.02, "new tokens when caller %d was served", i)
						done <- i
					}()
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				assert.Len(t, done, callers)
			})
		})
	}
}

func TestAdaptiveLimiterCanceled(t *testing.T) {
	for _, tt := range everyAdaptive {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := drained(t, tt.make())
				missing := (1 - l.State().Tokens) / l.Rate()
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				require.ErrorIs(t, l.Wait(ended), context.Canceled)

				start := time.Now()
				var group sync.WaitGroup
				for range 5 {
					group.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
						defer cancel()
						assert.ErrorIs(t, l.Wait(ctx), context.DeadlineExceeded)
					})
				}
				group.Wait()
				require.Equal(t, 50*ms, time.Since(start))
				require.NoError(t, l.Wait(t.Context()))
				assert.InDelta(t, missing, time.Since(start).Seconds(), 0.001, "when the token arrives")
			})
		})
	}
}

// TestAdaptiveLimiterCanceledInLine: a caller that leaves makes room for those behind it.
func TestAdaptiveLimiterCanceledInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := drained(t, &awspreset.AdaptiveLimiter{})
		rate := l.Rate()
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var last atomic.Int64
		for i := range 60 {
			waiter := ctx
			if i%2 == 0 {
				waiter = t.Context()
			}
			go func() {
				if l.Wait(waiter) == nil {
					last.Store(int64(time.Since(start)))
				}
			}()
			synctest.Wait()
		}
		cancel()
		time.Sleep(time.Minute)
		assert.InDelta(t, 30/rate, time.Duration(last.Load()).Seconds(), 0.02, "the last of 30 callers at %v a second", rate)
	})
}

// TestAdaptiveLimiterRisingRate: callers in line profit at once from a rate that rises, as if
// they had come when it was that high.
func TestAdaptiveLimiterRisingRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := drained(t, &awspreset.AdaptiveLimiter{})
		for range 3 {
			l.Observe(refused)
		}
		slow := l.Rate()
		var served atomic.Int64
		start := time.Now()
		for range 20 {
			go func() {
				assert.NoError(t, l.Wait(t.Context()))
				served.Add(1)
			}()
			synctest.Wait()
		}
		tokens := l.State().Tokens
		for served.Load() < 20 && time.Since(start) < time.Minute { // other calls succeed
			time.Sleep(10 * ms)
			before := l.Rate()
			l.Observe(responded)
			synctest.Wait()
			tokens += before * (10 * ms).Seconds()
			assert.InDelta(t, min(20, math.Floor(tokens)), served.Load(), 1, "served after %v", time.Since(start))
		}
		assert.Greater(t, l.Rate(), 2*slow)
		time.Sleep(time.Minute)
		assert.Equal(t, int64(20), served.Load())
	})
}

// TestAdaptiveLimiterFullLine: a line has an end.
func TestAdaptiveLimiterFullLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &awspreset.AdaptiveLimiter{}
		l.Observe(refused)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 10_000 {
			group.Go(func() { assert.ErrorIs(t, l.Wait(ctx), context.Canceled) })
		}
		synctest.Wait()
		assert.EqualError(t, l.Wait(t.Context()), "adaptive limiter: 10000 callers already wait")
		cancel()
		group.Wait()
		assert.NoError(t, l.Wait(t.Context()), "the line is empty again")
	})
}

// TestAdaptiveLimiterOrder: callers are served in order of arrival, even if others leave.
func TestAdaptiveLimiterOrder(t *testing.T) {
	for stay := range 21 {
		synctest.Test(t, func(t *testing.T) {
			l := drained(t, &awspreset.AdaptiveLimiter{})
			leaving, leave := context.WithCancel(t.Context())
			var group sync.WaitGroup
			var mu sync.Mutex
			var want, served []int
			for i := range 20 {
				ctx := leaving
				if i < stay {
					ctx = t.Context()
					want = append(want, i)
				}
				group.Go(func() {
					if l.Wait(ctx) == nil {
						mu.Lock()
						defer mu.Unlock()
						served = append(served, i)
					}
				})
				synctest.Wait()
			}
			leave()
			group.Wait()
			assert.Equal(t, want, served)
		})
	}
}

func TestAdaptiveLimiterConcurrent(t *testing.T) {
	for _, tt := range everyAdaptive {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := tt.make()
				policy := retry.Policy{Limiter: l, Backoff: retry.NoDelay{}, MaxAttempts: retry.Unlimited}
				var attempts atomic.Int64
				var group sync.WaitGroup
				for range 100 {
					group.Go(func() {
						assert.NoError(t, retry.Do(t.Context(), policy, func(context.Context) error {
							time.Sleep(10 * ms)
							if attempts.Add(1)%3 != 0 {
								return retry.Throttled(errOp)
							}
							assert.GreaterOrEqual(t, l.Rate(), 0.)
							return nil
						}))
					})
				}
				group.Wait()
				assert.GreaterOrEqual(t, attempts.Load(), int64(300))
				assert.GreaterOrEqual(t, l.Rate(), 0.5)
			})
		})
	}
}

// TestAdaptiveLimiterClockGoesBack: a clock that goes backward prolongs only the wait in
// progress.
func TestAdaptiveLimiterClockGoesBack(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(10_000, 0)}
	l := &awspreset.AdaptiveLimiter{Clock: clock}
	l.Observe(refused)
	require.NoError(t, l.Wait(t.Context()))
	require.Equal(t, []time.Duration{2 * time.Second}, clock.Waits())
	clock.Advance(time.Second)
	clock.Advance(-time.Hour)
	require.NoError(t, l.Wait(t.Context()))
	assert.LessOrEqual(t, clock.Waits()[1], 2*time.Second)
	for range 100 {
		clock.Advance(100 * ms)
		l.Observe(responded)
	}
	assert.Greater(t, l.Rate(), 10., "rates are still measured")
}

// TestAdaptiveLimiterLeavesBudget: even with an AdaptiveLimiter, successes refill the
// budget, unlike in the adaptive mode of aws/aws-sdk-go-v2 v1.47.6.
func TestAdaptiveLimiterLeavesBudget(t *testing.T) {
	clock := &retrytest.Clock{}
	budget := &awspreset.TokenBudget{}
	policy := retry.Policy{Budget: budget, Limiter: &awspreset.AdaptiveLimiter{Clock: clock}, Clock: clock, MaxAttempts: retry.Unlimited}
	require.ErrorIs(t, retry.Do(t.Context(), policy, func(context.Context) error { return errOp }), retry.ErrBudget)
	require.ErrorIs(t, retry.Do(t.Context(), policy, func(context.Context) error { return retry.Throttled(errOp) }), retry.ErrBudget)
	require.Less(t, budget.Balance(), 5.)

	before := budget.Balance()
	for range 100 {
		require.NoError(t, retry.Do(t.Context(), policy, succeed))
	}
	assert.Equal(t, before+100, budget.Balance())
}

type fuzzClock struct {
	t         *testing.T
	now       time.Time
	longest   time.Duration
	waits     int
	mostWaits int
}

func (c *fuzzClock) Now() time.Time { return c.now }

func (c *fuzzClock) Sleep(_ context.Context, d time.Duration) error {
	if c.waits++; c.waits > c.mostWaits || d <= 0 || d > c.longest {
		c.t.Fatalf("wait %d for one token is %v", c.waits, d)
	}
	c.now = c.now.Add(d)
	return nil
}

// FuzzAdaptiveLimiter: whatever happens, and however the clock moves, the rate is at least
// one attempt in two seconds, no wait is longer than two seconds, and the bucket never
// overflows.
func FuzzAdaptiveLimiter(f *testing.F) {
	f.Add(uint8(0), []byte{3, 0, 1, 100, 4, 200, 0, 255})
	f.Add(uint8(1), []byte("throttled, then waits, then the clock goes back"))
	f.Add(uint8(3), []byte{0x03, 0xff, 0x00, 0xfb, 0x01, 0xf0, 0x02, 0xe1, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, kind uint8, events []byte) {
		tested := everyAdaptive[int(kind)%len(everyAdaptive)]
		clock := &fuzzClock{t: t, now: time.Unix(int64(kind), 123456789), longest: 2 * time.Second, mostWaits: 2}
		l := tested.make()
		l.Clock = clock
		for range min(len(events)/2, 100) {
			clock.now = clock.now.Add(fuzzStep(events[1]))
			clock.waits = 0
			switch events[0] % 4 {
			case 0:
				if err := l.Wait(context.Background()); err != nil {
					t.Fatal(err)
				}
			case 1:
				l.Observe(responded)
			case 2:
				l.Observe(timedOut)
			case 3:
				l.Observe(refused)
			}
			events = events[2:]
			requireSound(t, l)
		}
	})
}

// fuzzStep returns a step of the clock: usually up to two seconds, but also up to 146
// years, forward or backward.
func fuzzStep(b byte) time.Duration {
	if b < 192 {
		return time.Duration(b) * 10 * ms
	}
	step := time.Duration(1) << (2 * (b & 31))
	if b&32 != 0 {
		return -step
	}
	return step
}

func requireSound(t *testing.T, l *awspreset.AdaptiveLimiter) {
	t.Helper()
	s, rate := l.State(), l.Rate()
	finite := true
	for _, x := range []float64{s.Fill, s.Capacity, s.Tokens, s.Measured, s.Top, s.Window} {
		finite = finite && math.Abs(x) <= math.MaxFloat64
	}
	switch {
	case !finite:
		t.Fatalf("not finite: %+v", s)
	case s.Tokens > s.Capacity, s.Tokens < 0:
		t.Fatalf("tokens out of bounds: %+v", s)
	case s.Enabled != (rate >= 0.5), s.Enabled != (rate != 0):
		t.Fatalf("rate %v: %+v", rate, s)
	}
}

// quota is a server that limits the rate of attempts and, after a pause, accepts a
// burst of up to one second's worth. An attempt takes a millisecond.
type quota struct {
	clock    *retrytest.Clock
	rate     float64
	saved    float64
	at       time.Time
	attempts int
	refused  int
}

func (q *quota) serve(context.Context) error {
	q.clock.Advance(ms)
	at := q.clock.Now()
	if q.at.IsZero() {
		q.at = at
	}
	q.saved = min(q.rate, q.saved+at.Sub(q.at).Seconds()*q.rate)
	q.at = at
	q.attempts++
	if q.saved < 1 {
		q.refused++
		return retry.Throttled(errOp)
	}
	q.saved--
	return nil
}

func TestAdaptiveLimiterFindsRate(t *testing.T) {
	for _, rate := range []float64{2, 10, 50, 300} {
		t.Run(fmt.Sprintf("%v a second", rate), func(t *testing.T) {
			clock := &retrytest.Clock{Start: time.Unix(1000, 0)}
			limiter := &awspreset.AdaptiveLimiter{Clock: clock}
			policy := retry.Policy{Clock: clock, Limiter: limiter, Backoff: retry.NoDelay{}, MaxAttempts: retry.Unlimited}
			server := &quota{clock: clock, rate: rate}
			run := func(d time.Duration) (attempts, refused float64) {
				start, before := clock.Now(), *server
				for clock.Now().Sub(start) < d {
					require.NoError(t, retry.Do(t.Context(), policy, server.serve))
				}
				seconds := clock.Now().Sub(start).Seconds()
				return float64(server.attempts-before.attempts) / seconds, float64(server.refused-before.refused) / seconds
			}
			run(time.Minute)
			attempts, refused := run(10 * time.Minute)
			t.Logf("%.2f attempts per second, %.2f refused", attempts, refused)
			assert.InDelta(t, rate, attempts, 0.3*rate)
			assert.Less(t, refused, 0.3*attempts)
		})
	}
}

func BenchmarkAdaptiveLimiter(b *testing.B) {
	b.Run("not throttled", func(b *testing.B) { benchmarkAdaptive(b, &awspreset.AdaptiveLimiter{}) })
	b.Run("throttled", func(b *testing.B) {
		l := &awspreset.AdaptiveLimiter{Clock: &retrytest.Clock{}}
		l.Observe(refused)
		benchmarkAdaptive(b, l)
	})
}

func benchmarkAdaptive(b *testing.B, l *awspreset.AdaptiveLimiter) {
	b.ReportAllocs()
	ctx := b.Context()
	for b.Loop() {
		if err := l.Wait(ctx); err != nil {
			b.Fatal(err)
		}
		l.Observe(responded)
	}
}

// A program makes 1000 writes to a table that accepts 20 per second.
func ExampleAdaptiveLimiter() {
	clock := &retrytest.Clock{Start: time.Unix(0, 0)}
	refused := func(limiter retry.Limiter) int {
		policy := retry.Policy{Clock: clock, Limiter: limiter, Backoff: retry.Constant(5 * ms), MaxAttempts: retry.Unlimited}
		table := &quota{clock: clock, rate: 20}
		for range 1000 {
			if err := retry.Do(context.Background(), policy, table.serve); err != nil {
				fmt.Println(err)
			}
		}
		return table.refused
	}
	limiter := &awspreset.AdaptiveLimiter{Clock: clock}
	fmt.Println("thousands refused without a limiter:", refused(nil)/1000)
	fmt.Println("fewer than 50 with one:", refused(limiter) < 50)
	fmt.Printf("writes a second: about %.0f\n", math.Round(limiter.Rate()/10)*10)
	// Output:
	// thousands refused without a limiter: 8
	// fewer than 50 with one: true
	// writes a second: about 20
}

// TestAdaptiveLimiterRecoversFromACrowd: after throttling has ended, callers get tokens
// even if those ahead of them in line are close to their deadlines.
func TestAdaptiveLimiterRecoversFromACrowd(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			var (
				l      awspreset.AdaptiveLimiter
				calls  sync.WaitGroup
				served atomic.Int32
				begin  = time.Now()
				random = rand.New(rand.NewPCG(seed, 0))
			)
			arrive := func(n int) {
				for range n {
					time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Second) / 7))
					calls.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), 9900*time.Millisecond)
						defer cancel()
						if l.Wait(ctx) != nil {
							return
						}
						if time.Since(begin) < time.Minute {
							l.Observe(retry.Attempt{Number: 1, Err: errors.New("busy"), Verdict: retry.Verdict{Class: retry.ClassThrottled}})
							return
						}
						l.Observe(retry.Attempt{Number: 1})
						served.Add(1)
					})
				}
			}
			arrive(7 * 120)
			before := served.Load()
			arrive(200)
			assert.Greater(t, served.Load()-before, int32(180), "after throttling has ended, at a rate of %v", l.Rate())
			calls.Wait()
		})
	}
}
