package retrykeep_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/retrytest"
)

var (
	errRefused = errors.New("connection refused")
	errRevoked = status(401)
)

type status int

func (s status) Error() string       { return "status" }
func (s status) HTTPStatusCode() int { return int(s) }

// lives returns a session whose connections are up at once and live as long as life says.
// A negative life is a connection that is not made.
func lives(life func(n int) time.Duration) (session func(context.Context, func()) error, count *int) {
	n := 0
	return func(ctx context.Context, up func()) error {
		n++
		d := life(n)
		if d < 0 {
			return errRefused
		}
		up()
		return (retry.SystemClock{}).Sleep(ctx, d)
	}, &n
}

// TestHowOften: how many connections a client makes in an hour and in a day.
func TestHowOften(t *testing.T) {
	for name, tt := range map[string]struct {
		life        func(n int) time.Duration
		span        time.Duration
		least, most int
	}{
		"greeted and thrown out": {func(int) time.Duration { return 20 * time.Millisecond }, time.Hour, 90, 200},
		"thrown out, for a day":  {func(int) time.Duration { return 20 * time.Millisecond }, 24 * time.Hour, 2500, 3400},
		"refused":                {func(int) time.Duration { return -1 }, time.Hour, 90, 200},
		"ten minutes":            {func(int) time.Duration { return 10 * time.Minute }, time.Hour, 6, 6},
		"an hour, for a day":     {func(int) time.Duration { return time.Hour }, 24 * time.Hour, 24, 24},
		"three refusals, then five minutes": {func(n int) time.Duration {
			if n%4 == 0 {
				return 5 * time.Minute
			}
			return -1
		}, time.Hour, 40, 48},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.span)
				defer cancel()
				session, count := lives(tt.life)
				err := new(retrykeep.Keeper).Run(ctx, session)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				t.Log(*count, "connections")
				assert.GreaterOrEqual(t, *count, tt.least)
				assert.LessOrEqual(t, *count, tt.most)
			})
		})
	}
}

// TestHerd: 1,000 clients lose their server at the same moment.
func TestHerd(t *testing.T) {
	busiest := func(spread time.Duration) int {
		most := 0
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex
			connections := map[time.Duration]int{}
			begun := time.Now()
			var clients sync.WaitGroup
			for seed := range uint64(1000) {
				clients.Go(func() {
					k := &retrykeep.Keeper{Spread: spread, Policy: retry.Policy{Rand: retrytest.Seeded(seed)}}
					session, _ := lives(func(n int) time.Duration {
						if n == 1 {
							return 2 * time.Minute
						}
						mu.Lock()
						defer mu.Unlock()
						connections[time.Since(begun).Truncate(100*time.Millisecond)]++
						return time.Hour
					})
					_ = k.Run(ctx, session)
				})
			}
			time.Sleep(5 * time.Minute)
			cancel()
			clients.Wait()
			for _, n := range connections {
				most = max(most, n)
			}
		})
		return most
	}
	spread, together := busiest(0), busiest(-1)
	t.Log("connections in the busiest 100 ms:", spread, "and without a spread", together)
	assert.LessOrEqual(t, spread, 15)
	assert.GreaterOrEqual(t, together, 80)
}

// TestFinal: which failures end the loop.
func TestFinal(t *testing.T) {
	unrepeatable := retry.Policy{Classifier: retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Unrepeatable: true} })}
	for name, tt := range map[string]struct {
		policy retry.Policy
		life   time.Duration // 0: not up
		err    error
		final  bool
	}{
		"refused":                        {err: errRefused},
		"ended without an error":         {life: time.Second},
		"marked":                         {err: retry.Permanent(errRefused), final: true},
		"marked, after a useful session": {life: time.Hour, err: retry.Permanent(errRefused), final: true},
		"status 401":                     {err: errRevoked, final: true},
		"status 401, after a second":     {life: time.Second, err: errRevoked, final: true},
		"status 401, after an hour":      {life: time.Hour, err: errRevoked},
		"listed, after an hour":          {policy: retry.Policy{Classifier: retry.PermanentIf(errRefused)}, life: time.Hour, err: errRefused, final: true},
		"status 503":                     {err: status(503)},
		"an inner loop gave up":          {err: &retry.Error{Err: errRefused, Reason: retry.ErrMaxAttempts}},
		"an inner loop was throttled":    {err: &retry.Error{Err: status(429), Reason: retry.ErrMaxElapsed}},
		"an inner loop, marked":          {err: retry.Permanent(&retry.Error{Err: errRefused, Reason: retry.ErrMaxAttempts}), final: true},
		"a context of its own":           {err: context.Canceled},
		"unrepeatable for the database":  {policy: unrepeatable, err: errRefused},
		"marked as unrepeatable":         {err: retry.Unrepeatable(errRefused), final: true},
		"the policy's attempts are used": {policy: retry.Policy{MaxAttempts: 1}, err: errRefused, final: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
				defer cancel()
				sessions := 0
				k := &retrykeep.Keeper{Policy: tt.policy}
				err := k.Run(ctx, func(_ context.Context, up func()) error {
					sessions++
					if tt.life > 0 {
						up()
						time.Sleep(tt.life)
					}
					return tt.err
				})
				wanted := tt.err
				if wanted == nil {
					wanted = retrykeep.ErrEnded
				}
				assert.ErrorIs(t, err, wanted)
				assert.Equal(t, tt.final, !errors.Is(err, context.DeadlineExceeded), err)
				assert.Equal(t, tt.final, sessions == 1, sessions)
				assert.Equal(t, retrykeep.Stopped, k.State().Phase)
				assert.Equal(t, wanted, k.State().Err)
			})
		})
	}
}

// TestUnchanged: Run returns a final error as session returned it.
func TestUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		final := retry.Permanent(errRefused)
		err := new(retrykeep.Keeper).Run(t.Context(), func(_ context.Context, up func()) error {
			up()
			time.Sleep(time.Hour)
			return final
		})
		assert.True(t, err == final)
	})
}

func TestInvalid(t *testing.T) {
	session, count := lives(func(int) time.Duration { return -1 })
	for name, tt := range map[string]struct {
		keeper  *retrykeep.Keeper
		ctx     context.Context
		session func(context.Context, func()) error
		says    string
	}{
		"no context":         {&retrykeep.Keeper{}, nil, session, "nil"},
		"no session":         {&retrykeep.Keeper{}, t.Context(), nil, "nil"},
		"negative":           {&retrykeep.Keeper{Useful: -time.Second}, t.Context(), session, "Useful"},
		"negative in policy": {&retrykeep.Keeper{Policy: retry.Policy{MaxAttempts: -1}}, t.Context(), session, "MaxAttempts"},
		"waits for years":    {&retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.Exponential{Base: time.Second}}}, t.Context(), session, "Cap"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.keeper.Run(tt.ctx, tt.session)
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, tt.says)
		})
	}
	assert.Zero(t, *count)
}

// TestOneRun: a Keeper runs once at a time, and can run again.
func TestOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &retrykeep.Keeper{}
		session, count := lives(func(int) time.Duration { return time.Hour })
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- k.Run(ctx, session) }()
			synctest.Wait()
			assert.ErrorIs(t, k.Run(ctx, session), retry.ErrInvalid)
			cancel()
			assert.ErrorIs(t, <-done, context.Canceled)
		}
		assert.Equal(t, 2, *count)
	})
}

// TestState: what a status page shows, and the order of the changes.
func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		at := func(d time.Duration) time.Time { return begun.Add(d) }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen []retrykeep.State
		k := &retrykeep.Keeper{
			Policy: retry.Policy{Backoff: retry.Constant(10 * time.Second), Rand: retrytest.Fixed(0.5)},
			OnChange: func(_ context.Context, s retrykeep.State) {
				seen = append(seen, s)
				if s.Attempt == 1 && len(seen) > 5 {
					cancel()
				}
			},
		}
		assert.Equal(t, retrykeep.State{}, k.State())
		session, _ := lives(func(n int) time.Duration {
			if n == 1 {
				return -1
			}
			return time.Hour
		})
		err := k.Run(ctx, session)
		assert.ErrorIs(t, err, context.Canceled)
		life := 10*time.Second + time.Hour
		assert.Equal(t, []retrykeep.State{
			{Phase: retrykeep.Connecting, Since: at(0), Attempt: 1},
			{Phase: retrykeep.Waiting, Since: at(0), Attempt: 1, Next: at(10 * time.Second), Err: errRefused},
			{Phase: retrykeep.Connecting, Since: at(10 * time.Second), Attempt: 2, Err: errRefused},
			{Phase: retrykeep.Connected, Since: at(10 * time.Second), Attempt: 2, Err: errRefused},
			{Phase: retrykeep.Waiting, Since: at(life), Attempt: 2, Next: at(life + 15*time.Second), Err: retrykeep.ErrEnded, Lived: time.Hour, Useful: true},
			{Phase: retrykeep.Connecting, Since: at(life + 15*time.Second), Attempt: 1, Err: retrykeep.ErrEnded, Lived: time.Hour, Useful: true},
			{Phase: retrykeep.Connected, Since: at(life + 15*time.Second), Attempt: 1, Err: retrykeep.ErrEnded, Lived: time.Hour, Useful: true},
			{Phase: retrykeep.Stopped, Since: at(life + 15*time.Second), Attempt: 1, Err: context.Canceled},
		}, seen)
		assert.Equal(t, seen[len(seen)-1], k.State())
	})
}

func TestPhase(t *testing.T) {
	for phase, want := range map[retrykeep.Phase]string{
		retrykeep.Stopped: "stopped", retrykeep.Connecting: "connecting", retrykeep.Connected: "connected", retrykeep.Waiting: "waiting", 9: "unknown",
	} {
		assert.Equal(t, want, phase.String())
	}
}

// TestRetryNow: when the next session begins after RetryNow, called a second after the start.
func TestRetryNow(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration // for the first session to fail; 0: it fails at once
		up    bool
		want  time.Duration
	}{
		"in a wait":                       {0, false, time.Second},
		"in an attempt, for its own wait": {5 * time.Second, false, 5 * time.Second},
		"no effect on a connection":       {5 * time.Second, true, 5*time.Second + time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				k := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.Constant(time.Hour)}}
				go func() {
					time.Sleep(time.Second)
					k.RetryNow()
				}()
				var second, third time.Duration
				n := 0
				_ = k.Run(ctx, func(_ context.Context, up func()) error {
					n++
					switch n {
					case 1:
						if tt.up {
							up()
						}
						time.Sleep(tt.takes)
					case 2:
						second = time.Since(begun)
					case 3:
						third = time.Since(begun)
						cancel()
					}
					return retry.After(errRefused, 10*time.Minute)
				})
				assert.Equal(t, tt.want, second)
				assert.Equal(t, tt.want+time.Hour, third, "one wait only")
			})
		})
	}
	t.Run("before the connection is up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.Constant(time.Hour), MaxAttempts: 2}}
			begun := time.Now()
			err := k.Run(t.Context(), func(_ context.Context, up func()) error {
				k.RetryNow()
				up()
				return errRefused
			})
			assert.ErrorIs(t, err, retry.ErrMaxAttempts)
			assert.Equal(t, time.Hour, time.Since(begun), "the connection was made")
		})
	})
	t.Run("not running", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.Constant(time.Hour), MaxAttempts: 2}}
			k.RetryNow()
			begun := time.Now()
			session, _ := lives(func(int) time.Duration { return -1 })
			assert.ErrorIs(t, k.Run(t.Context(), session), retry.ErrMaxAttempts)
			assert.Equal(t, time.Hour, time.Since(begun))
		})
	})
}

// TestHanging: AttemptTimeout ends an attempt to connect, and not the life of a connection.
func TestHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var failures []retry.Attempt
		n := 0
		k := &retrykeep.Keeper{Policy: retry.Policy{
			Backoff: retry.NoDelay{}, AttemptTimeout: 5 * time.Second,
			Hooks: retry.Hooks{OnRetry: func(_ context.Context, a retry.Attempt, _ time.Duration) { failures = append(failures, a) }},
		}}
		begun := time.Now()
		err := k.Run(ctx, func(ctx context.Context, up func()) error {
			n++
			_, limited := ctx.Deadline()
			assert.True(t, limited, "that of the caller")
			if n == 1 {
				<-ctx.Done()
				up() // too late
				return ctx.Err()
			}
			assert.Equal(t, 5*time.Second, time.Since(begun))
			time.Sleep(4 * time.Second)
			up()
			up()
			<-ctx.Done()
			return ctx.Err()
		})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Hour, time.Since(begun))
		require.Len(t, failures, 1)
		assert.Equal(t, retry.ClassTimeout, failures[0].Class)
		assert.ErrorContains(t, failures[0].Err, "exceeded 5s")
		assert.Equal(t, 2, n)
	})
}

// TestContext: the context of a session ends with the session.
func TestContext(t *testing.T) {
	var inner context.Context
	err := new(retrykeep.Keeper).Run(t.Context(), func(ctx context.Context, up func()) error {
		inner = ctx
		up()
		return retry.Permanent(errRefused)
	})
	assert.ErrorIs(t, err, errRefused)
	assert.ErrorIs(t, inner.Err(), context.Canceled)
}

// TestCause: Run returns the cause of the end of its context.
func TestCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errShutdown := errors.New("shutdown")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(errShutdown) })
		session, _ := lives(func(int) time.Duration { return time.Minute })
		assert.ErrorIs(t, new(retrykeep.Keeper).Run(ctx, session), errShutdown)
	})
}

// TestShutdown: a failure that the end of ctx has caused is no answer, even if a rule of the
// Policy says that it is permanent.
func TestShutdown(t *testing.T) {
	for _, life := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		k := &retrykeep.Keeper{Policy: retry.Policy{Classifier: retry.PermanentIf(errRefused)}}
		err := k.Run(ctx, func(_ context.Context, up func()) error {
			if life {
				up()
			}
			cancel()
			return errRefused
		})
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errRefused)
	}
}

// TestPanic: a panic passes through, and the Keeper is stopped.
func TestPanic(t *testing.T) {
	k := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	n := 0
	assert.PanicsWithValue(t, "x", func() {
		_ = k.Run(t.Context(), func(context.Context, func()) error {
			if n++; n == 1 {
				return errRefused
			}
			panic("x")
		})
	})
	assert.Equal(t, retrykeep.Stopped, k.State().Phase)
	assert.Equal(t, retry.ErrNoReturn, k.State().Err)
	assert.ErrorIs(t, k.Run(t.Context(), func(context.Context, func()) error { return retry.Permanent(errRefused) }), errRefused)
}

// TestVirtualClock: a Keeper takes its time from the Policy's Clock.
func TestVirtualClock(t *testing.T) {
	clock := &retrytest.Clock{}
	k := &retrykeep.Keeper{Policy: retry.Policy{Clock: clock, MaxAttempts: 4, Backoff: retry.Constant(time.Second), Rand: retrytest.Fixed(0.5)}}
	n := 0
	err := k.Run(t.Context(), func(_ context.Context, up func()) error {
		up()
		if n++; n == 2 {
			clock.Advance(time.Minute)
		}
		return errRefused
	})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, []time.Duration{time.Second, 15 * time.Second, time.Second, time.Second}, clock.Waits())
	assert.Equal(t, 5, n, "a useful session counts as the first of the next four")
}

// TestAnywhere: up, RetryNow, Reconnect, Probe and State are called from any goroutine at any time.
func TestAnywhere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	connected := 0
	k := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.NoDelay{}}, Spread: -1, Useful: time.Nanosecond}
	k.OnChange = func(_ context.Context, s retrykeep.State) {
		if s.Phase == retrykeep.Connected {
			if connected++; connected == 200 {
				cancel()
			}
		}
		k.RetryNow()
		k.Reconnect()
		_ = k.State()
	}
	var others sync.WaitGroup
	defer others.Wait()
	_ = k.Run(ctx, func(ctx context.Context, up func()) error {
		for range 3 {
			others.Go(up)
		}
		others.Go(k.RetryNow)
		others.Go(k.Reconnect)
		others.Go(func() { retrykeep.Probe(ctx, isDead) })
		if rand.IntN(2) == 0 {
			up()
		}
		return errRefused
	})
	assert.GreaterOrEqual(t, connected, 200)
}

// TestLimiterUntilMaxElapsed: a Limiter waits until MaxElapsed is over, and no longer.
func TestLimiterUntilMaxElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		k := retrykeep.Keeper{Policy: retry.Policy{MaxElapsed: time.Minute, Limiter: untilDone{}}}
		session, count := lives(func(int) time.Duration { return 0 })
		assert.ErrorIs(t, k.Run(t.Context(), session), retry.ErrMaxElapsed)
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Zero(t, *count)
	})
}

// untilDone is a Limiter that lets nothing through.
type untilDone struct{}

func (untilDone) Wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestNoFurtherDelay: a Backoff can end the Run, also after a useful session.
func TestNoFurtherDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return -1 })
		session, count := lives(func(int) time.Duration { return time.Hour })
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		k := retrykeep.Keeper{Policy: retry.Policy{Backoff: never}}
		assert.ErrorIs(t, k.Run(ctx, session), retry.ErrBackoff)
		assert.Equal(t, 1, *count)
	})
}
