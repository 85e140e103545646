package retrykeep_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/retrytest"
)

// A device is a machine whose timers stand still while it is suspended.
type device struct {
	retry.SystemClock
	slept atomic.Int64
}

func (d *device) suspend(t time.Duration) { d.slept.Add(int64(t)) }

func (d *device) Now() time.Time { return time.Now().Add(time.Duration(d.slept.Load())) }

var errDead = errors.New("no answer")

func works(context.Context) error       { return nil }
func isDead(context.Context) error      { return errDead }
func hangs(ctx context.Context) error   { <-ctx.Done(); return ctx.Err() }
func isStuck(ctx context.Context) error { time.Sleep(30 * time.Minute); return nil }

// TestReconnect: when the second session begins, if something happens to a connection that has
// been up for an hour.
func TestReconnect(t *testing.T) {
	reconnect := func(k *retrykeep.Keeper, _ *device) { k.Reconnect() }
	jump := func(by time.Duration) func(*retrykeep.Keeper, *device) {
		return func(_ *retrykeep.Keeper, d *device) { d.suspend(by) }
	}
	const never = 2 * time.Hour
	for name, tt := range map[string]struct {
		ping        func(context.Context) error
		event       func(*retrykeep.Keeper, *device)
		least, most time.Duration // after the event
		says        string        // State.Err
	}{
		"asked, no probe":       {nil, reconnect, 0, 0, "Reconnect was called"},
		"asked, it works":       {works, reconnect, never, never, ""},
		"asked, it fails":       {isDead, reconnect, 0, 0, "the probe failed: no answer"},
		"asked, it hangs":       {hangs, reconnect, 5 * time.Second, 5 * time.Second, "the probe"},
		"asked, it is stuck":    {isStuck, reconnect, 5 * time.Second, 5 * time.Second, "the probe took too long"},
		"suspended, no probe":   {nil, jump(time.Hour), never, never, ""},
		"suspended, it works":   {works, jump(time.Hour), never, never, ""},
		"suspended, it fails":   {isDead, jump(time.Hour), 0, 5 * time.Second, "the probe failed: no answer"},
		"suspended, it hangs":   {hangs, jump(time.Hour), 5 * time.Second, 10 * time.Second, "the probe"},
		"the clock is adjusted": {isDead, jump(3 * time.Second), never, never, ""},
		"the clock is set back": {isDead, jump(-time.Hour), never, never, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &device{}
				k := &retrykeep.Keeper{Policy: retry.Policy{Clock: d}}
				ctx, cancel := context.WithCancel(t.Context())
				begun := time.Now()
				go func() {
					time.Sleep(time.Hour)
					tt.event(k, d)
					time.Sleep(never)
					cancel()
				}()
				second := time.Hour + never
				n := 0
				err := k.Run(ctx, func(ctx context.Context, up func()) error {
					n++
					if n == 2 {
						second = time.Since(begun)
						assert.ErrorContains(t, k.State().Err, tt.says)
						assert.True(t, k.State().Useful)
					}
					if tt.ping != nil {
						retrykeep.Probe(ctx, tt.ping)
					}
					up()
					<-ctx.Done()
					return ctx.Err()
				})
				assert.ErrorIs(t, err, context.Canceled)
				assert.GreaterOrEqual(t, second-time.Hour, tt.least)
				assert.LessOrEqual(t, second-time.Hour, tt.most)
				assert.LessOrEqual(t, n, 2)
			})
		})
	}
}

// TestReconnectIsNotFinal: the end of a session that the Keeper has ended does not end Run,
// however short the session was, unless the error is marked.
func TestReconnectIsNotFinal(t *testing.T) {
	listed := retry.Policy{Classifier: retry.PermanentIf(errRefused), MaxAttempts: 2}
	for name, tt := range map[string]struct {
		policy retry.Policy
		err    error
		final  bool
	}{
		"canceled":     {err: context.Canceled},
		"closed":       {err: net.ErrClosed},
		"status 401":   {err: errRevoked},
		"listed":       {policy: listed, err: errRefused},
		"marked":       {err: retry.Permanent(errRefused), final: true},
		"two attempts": {policy: retry.Policy{MaxAttempts: 2}, err: errRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				k := &retrykeep.Keeper{Policy: tt.policy}
				begun := time.Now()
				n := 0
				err := k.Run(ctx, func(ctx context.Context, up func()) error {
					n++
					up()
					if n == 5 {
						cancel()
						return ctx.Err()
					}
					time.Sleep(time.Second)
					k.Reconnect()
					<-ctx.Done()
					return tt.err
				})
				assert.ErrorIs(t, err, tt.err)
				if tt.final {
					assert.Equal(t, 1, n)
					return
				}
				assert.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, 5, n)
				assert.Equal(t, 4*time.Second, time.Since(begun), "without waits")
			})
		})
	}
}

// TestReconnectOften: a network that changes every second for a minute.
func TestReconnectOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &retrykeep.Keeper{}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for range 60 {
				time.Sleep(time.Second)
				k.Reconnect()
			}
			synctest.Wait()
			cancel()
		}()
		sessions, pings := 0, 0
		_ = k.Run(ctx, func(ctx context.Context, up func()) error {
			sessions++
			retrykeep.Probe(ctx, func(context.Context) error { pings++; return nil })
			up()
			<-ctx.Done()
			return ctx.Err()
		})
		assert.Equal(t, 1, sessions)
		assert.Equal(t, 60, pings)
	})
}

// TestReconnectDuringProbe: the network changes again while a ping that left before is under way.
func TestReconnectDuringProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &retrykeep.Keeper{}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				k.Reconnect()
			}
			time.Sleep(time.Minute)
			cancel()
		}()
		pings := 0
		_ = k.Run(ctx, func(ctx context.Context, up func()) error {
			retrykeep.Probe(ctx, func(context.Context) error {
				pings++
				time.Sleep(4 * time.Second)
				return nil
			})
			up()
			<-ctx.Done()
			return ctx.Err()
		})
		assert.Equal(t, 2, pings, "those that come during a ping are one")
	})
}

// TestReconnectElsewhere: Reconnect without a connection that is up.
func TestReconnectElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.Constant(time.Hour), MaxAttempts: 3}}
		k.Reconnect() // not running
		begun := time.Now()
		n := 0
		go func() {
			time.Sleep(time.Minute)
			k.Reconnect() // in the first wait
			time.Sleep(time.Minute)
			k.Reconnect() // in the second attempt, which has not called up
		}()
		err := k.Run(t.Context(), func(ctx context.Context, _ func()) error {
			n++
			retrykeep.Probe(ctx, func(context.Context) error { t.Error("a ping without a connection"); return nil })
			if n == 2 {
				time.Sleep(2 * time.Minute)
			}
			return errRefused
		})
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, 3*time.Minute, time.Since(begun))
		k.Reconnect() // stopped
	})
}

// TestProbe: which ping counts.
func TestProbe(t *testing.T) {
	fails := func(context.Context) error { return errDead }
	var none context.Context
	for name, tt := range map[string]struct {
		probe    func(ctx context.Context)
		sessions int // after Reconnect
	}{
		"the last":                     {func(ctx context.Context) { retrykeep.Probe(ctx, fails); retrykeep.Probe(ctx, works) }, 1},
		"nil removes it":               {func(ctx context.Context) { retrykeep.Probe(ctx, works); retrykeep.Probe(ctx, nil) }, 2},
		"of another context":           {func(context.Context) { retrykeep.Probe(context.Background(), works) }, 2},
		"of no context":                {func(context.Context) { retrykeep.Probe(none, works) }, 2},
		"of a context that has ended":  {func(ctx context.Context) { retrykeep.Probe(ended(ctx), works) }, 1},
		"of a context with a deadline": {func(ctx context.Context) { retrykeep.Probe(ended(ctx), fails) }, 2},
		"it outlives the session's end": {func(ctx context.Context) {
			retrykeep.Probe(ctx, func(ctx context.Context) error { time.Sleep(time.Minute); return errDead })
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				k := &retrykeep.Keeper{}
				go func() {
					time.Sleep(time.Minute)
					k.Reconnect()
					time.Sleep(time.Minute)
					cancel()
				}()
				n := 0
				_ = k.Run(ctx, func(ctx context.Context, up func()) error {
					n++
					tt.probe(ctx)
					up()
					<-ctx.Done()
					return ctx.Err()
				})
				assert.Equal(t, tt.sessions, n)
			})
		})
	}
}

func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// TestWaitOfSuspended: a wait of ten minutes, if the machine is suspended after 80 s.
func TestWaitOfSuspended(t *testing.T) {
	for name, tt := range map[string]struct{ asleep, want time.Duration }{
		"not":               {0, 10 * time.Minute},
		"an hour":           {time.Hour, 90 * time.Second},
		"a minute":          {time.Minute, 9 * time.Minute},
		"the clock is late": {-time.Hour, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &device{}
				k := &retrykeep.Keeper{Policy: retry.Policy{Clock: d, MaxAttempts: 2, Hint: retry.HintAtLeast{Exact: true}}}
				go func() {
					time.Sleep(80 * time.Second)
					d.suspend(tt.asleep)
				}()
				begun := time.Now()
				err := k.Run(t.Context(), func(context.Context, func()) error { return retry.After(errRefused, 10*time.Minute) })
				require.ErrorIs(t, err, retry.ErrMaxAttempts)
				assert.Equal(t, tt.want, time.Since(begun))
			})
		})
	}
}

// TestSlowClock: the wait of a Clock whose time goes slower than the system's is not cut short.
func TestSlowClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &retrykeep.Keeper{Policy: retry.Policy{Clock: slow{time.Now()}, MaxAttempts: 2, Backoff: retry.Constant(time.Minute)}}
		begun := time.Now()
		err := k.Run(t.Context(), func(context.Context, func()) error { return errRefused })
		require.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, 10*time.Minute, time.Since(begun))
	})
}

// A slow clock goes at a tenth of the speed.
type slow struct{ start time.Time }

func (s slow) Now() time.Time { return s.start.Add(time.Since(s.start) / 10) }

func (s slow) Sleep(ctx context.Context, d time.Duration) error {
	return retry.SystemClock{}.Sleep(ctx, 10*d)
}

// TestInvited: the first wait after a session that the server has ended.
func TestInvited(t *testing.T) {
	for name, tt := range map[string]struct {
		life        time.Duration
		err         error
		least, most time.Duration
	}{
		"a useful session":    {time.Hour, retrykeep.Invited(errRefused), 0, 0},
		"with a hint":         {time.Hour, retry.After(retrykeep.Invited(errRefused), time.Minute), time.Minute, 2 * time.Minute},
		"a short session":     {time.Second, retrykeep.Invited(errRefused), 1, time.Second},
		"a permanent status":  {time.Second, retrykeep.Invited(errRevoked), 1, time.Second},
		"not invited":         {time.Hour, errRefused, 15 * time.Second, 15 * time.Second},
		"wrapped by a marker": {time.Hour, retry.Transient(retrykeep.Invited(errRefused)), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &retrykeep.Keeper{Policy: retry.Policy{Rand: retrytest.Fixed(0.5)}}
				var ended time.Time
				wait := time.Duration(-1)
				err := k.Run(t.Context(), func(_ context.Context, up func()) error {
					if !ended.IsZero() {
						wait = time.Since(ended)
						return retry.Permanent(errDead)
					}
					up()
					time.Sleep(tt.life)
					ended = time.Now()
					return tt.err
				})
				assert.ErrorIs(t, err, errDead)
				assert.GreaterOrEqual(t, wait, tt.least)
				assert.LessOrEqual(t, wait, tt.most)
			})
		})
	}
	assert.NoError(t, retrykeep.Invited(nil))
	assert.Equal(t, errRefused.Error(), retrykeep.Invited(errRefused).Error())
	assert.ErrorIs(t, retrykeep.Invited(errRefused), errRefused)
	assert.ErrorIs(t, new(retrykeep.Keeper).Run(t.Context(), func(context.Context, func()) error {
		return retry.Permanent(retrykeep.Invited(errRefused))
	}), errRefused)
}

// TestThousand: a thousand clients lose their connections at the same moment. The server refuses
// connections for 10 s after that, and accepts them then.
func TestThousand(t *testing.T) {
	for name, tt := range map[string]struct {
		end       func(k *retrykeep.Keeper, d *device) // what ends the connections
		err       error                                // what the sessions return then; nil: they do not notice
		ping      func(context.Context) error
		returning int // in the busiest 100 ms after the server is back, at most
	}{
		"the connections break":    {err: errRefused, returning: 30},
		"it asked them to return":  {err: retrykeep.Invited(errRefused), returning: 30},
		"their networks changed":   {end: func(k *retrykeep.Keeper, _ *device) { k.Reconnect() }, returning: 30},
		"the probes fail":          {end: func(k *retrykeep.Keeper, _ *device) { k.Reconnect() }, ping: isDead, returning: 30},
		"they were all suspended":  {end: func(_ *retrykeep.Keeper, d *device) { d.suspend(time.Hour) }, ping: isDead, returning: 30},
		"suspended, silent probes": {end: func(_ *retrykeep.Keeper, d *device) { d.suspend(time.Hour) }, ping: hangs, returning: 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				lost := make(chan struct{})
				var mu sync.Mutex
				attempts := map[time.Duration]int{} // by tenths of a second since the end
				var end time.Time
				var clients sync.WaitGroup
				for range 1000 {
					d := &device{}
					k := &retrykeep.Keeper{Policy: retry.Policy{Clock: d}}
					session := func(ctx context.Context, up func()) error {
						mu.Lock()
						first := end.IsZero()
						since := time.Since(end)
						if !first {
							attempts[since.Truncate(100*time.Millisecond)]++
						}
						mu.Unlock()
						if !first && since < 10*time.Second {
							return errRefused
						}
						retrykeep.Probe(ctx, tt.ping)
						up()
						broken := lost
						if !first || tt.err == nil {
							broken = nil
						}
						select {
						case <-broken:
							return tt.err
						case <-ctx.Done():
							return ctx.Err()
						}
					}
					clients.Go(func() { _ = k.Run(ctx, session) })
					if tt.end != nil {
						clients.Go(func() { <-lost; tt.end(k, d) })
					}
				}
				time.Sleep(2 * time.Minute)
				mu.Lock()
				end = time.Now()
				mu.Unlock()
				close(lost)
				time.Sleep(5 * time.Minute)
				cancel()
				clients.Wait()
				busiest, all := 0, 0
				for at, n := range attempts {
					all += n
					if at >= 10*time.Second {
						busiest = max(busiest, n)
					}
				}
				t.Log(all, "attempts,", busiest, "in the busiest 100 ms of a server that is back, at once:", attempts[0])
				assert.LessOrEqual(t, busiest, tt.returning)
				assert.LessOrEqual(t, all, 3000)
				assert.GreaterOrEqual(t, all, 1000)
			})
		})
	}
}

// TestVirtualProbe: a Keeper with a virtual Clock and a probe runs, and its waits are recorded as
// without one.
func TestVirtualProbe(t *testing.T) {
	clock := &retrytest.Clock{}
	k := &retrykeep.Keeper{Policy: retry.Policy{Clock: clock, MaxAttempts: 3, Backoff: retry.Constant(time.Hour)}}
	err := k.Run(t.Context(), func(ctx context.Context, up func()) error {
		retrykeep.Probe(ctx, works)
		up()
		return errRefused
	})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, []time.Duration{time.Hour, time.Hour}, clock.Waits())
}
