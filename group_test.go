package retry_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// hourly is for synctest bubbles, where its long waits take no time.
var hourly = retry.Policy{Backoff: retry.Constant(time.Hour), MaxAttempts: retry.Unlimited}

// TestGroupWaits: waiting calls hold no goroutine, and continue when their wait ends.
func TestGroupWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 100
		before := runtime.NumGoroutine()
		g := &retry.Group{Policy: hourly}
		var begun, ended atomic.Int64
		for i := range calls {
			tries := 0
			g.Go(t.Context(), func(context.Context) error {
				begun.Add(1)
				if tries++; tries <= i%3 {
					return errOp
				}
				return nil
			}, func(err error) {
				assert.NoError(t, err)
				ended.Add(1)
			})
		}
		for hour, want := range []struct{ begun, ended int64 }{{100, 34}, {166, 67}, {199, 100}} {
			synctest.Wait()
			assert.Equal(t, want.begun, begun.Load(), "hour %d", hour)
			assert.Equal(t, want.ended, ended.Load(), "hour %d", hour)
			noneLeft(t, before)
			time.Sleep(time.Hour)
		}
	})
}

// TestGroupInFlight: no more than Limit attempts run at once, and they begin in the
// order in which they became due.
func TestGroupInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, places = 20, 3
		g := &retry.Group{Policy: retry.Policy{Backoff: retry.Constant(time.Minute)}, Limit: places}
		var mu sync.Mutex
		var order []int
		running, most, ended := 0, 0, 0
		for i := range calls {
			g.Go(t.Context(), func(context.Context) error {
				mu.Lock()
				order = append(order, i)
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return errOp
			}, func(err error) {
				assert.ErrorIs(t, err, retry.ErrMaxAttempts)
				mu.Lock()
				ended++
				mu.Unlock()
			})
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, places, most)
		assert.Equal(t, calls, ended)
		require.Len(t, order, 3*calls)
		for n, i := range order[:calls] {
			assert.InDelta(t, n, i, places-1, "%v", order)
		}
	})
}

// TestGroupCanceled: when a context ends, the calls that use it and wait for an attempt
// or a slot end immediately, and no other calls end.
func TestGroupCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &retry.Group{Policy: hourly, Limit: 1}
		type key struct{}
		doomed, cancel := context.WithCancelCause(t.Context())
		var ended []string
		var mu sync.Mutex
		begin := func(ctx context.Context, name string, op func(context.Context) error) {
			g.Go(ctx, op, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				assert.ErrorIs(t, err, errCause)
				assert.ErrorIs(t, err, context.Canceled)
				ended = append(ended, fmt.Sprint(name, " ", asError(t, err).Attempts))
			})
			synctest.Wait()
		}
		begin(doomed, "waits", fails)
		begin(context.WithValue(doomed, key{}, 1), "waits with the same Done", fails)
		begin(context.Background(), "has no end", fails)
		another, cancelOther := context.WithCancelCause(t.Context())
		begin(another, "has another context", fails)
		free := make(chan struct{})
		begin(another, "blocks", func(context.Context) error { <-free; return errOp })
		begin(doomed, "has no place", fails)
		cancel(errCause)
		synctest.Wait()
		assert.ElementsMatch(t, []string{"waits 1", "waits with the same Done 1", "has no place 0"}, ended)
		begin(doomed, "begins too late and gets no slot", fails)
		assert.Len(t, ended, 4)
		close(free)
		begin(doomed, "begins too late", fails)
		assert.Len(t, ended, 5)
		cancelOther(errCause)
		synctest.Wait()
		assert.Len(t, ended, 7)
	})
}

// TestGroupEnds: done is called once, however the call ends, and may be nil.
func TestGroupEnds(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		for _, g := range []*retry.Group{{Policy: retry.Policy{MaxAttempts: -1}}, {Policy: retry.Policy{MaxElapsed: -1}, Limit: 1}} {
			err := make(chan error)
			g.Go(t.Context(), fails, func(e error) { err <- e })
			assert.ErrorIs(t, <-err, retry.ErrInvalid)
		}
	})
	t.Run("no done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			op := retrytest.Script(errOp)
			(&retry.Group{}).Go(t.Context(), op.Run, nil)
			(&retry.Group{}).Go(t.Context(), nil, nil)
			time.Sleep(time.Hour)
			assert.Equal(t, 3, op.Calls())
		})
	})
	t.Run("the operation ends its goroutine", func(t *testing.T) {
		g := &retry.Group{Limit: 1}
		err := make(chan error)
		for range 3 {
			g.Go(t.Context(), func(context.Context) error { runtime.Goexit(); return nil }, func(e error) { err <- e })
		}
		for range 3 {
			assert.Equal(t, retry.ErrNoReturn, <-err)
		}
	})
	t.Run("done holds no place", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := &retry.Group{Limit: 1}
			begun := make(chan bool)
			g.Go(t.Context(), succeed, func(error) { <-begun })
			g.Go(t.Context(), func(context.Context) error { close(begun); return nil }, nil)
			g.Wait()
		})
	})
	t.Run("done starts another", func(t *testing.T) {
		g := &retry.Group{Limit: 1}
		finished := make(chan error)
		g.Go(t.Context(), func(context.Context) error { return nil }, func(error) {
			g.Go(t.Context(), func(context.Context) error { return nil }, func(err error) { finished <- err })
		})
		assert.NoError(t, <-finished)
	})
}

// TestGroupWait: Wait returns after the last done callback, even that of a call that was
// refused, was started by another done callback, or was ended by its context.
func TestGroupWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &retry.Group{Policy: hourly, Limit: 1}
		g.Wait() // no calls
		var told atomic.Int64
		slowly := func(error) {
			time.Sleep(time.Minute)
			told.Add(1)
		}
		succeed := func(context.Context) error { return nil }
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		begin := time.Now()
		g.Go(ctx, fails, slowly)
		g.Go(ctx, nil, slowly)
		g.Go(ctx, func(context.Context) error { runtime.Goexit(); return nil }, slowly)
		g.Go(ctx, succeed, func(error) {
			told.Add(1)
			g.Go(ctx, succeed, slowly)
		})
		g.Wait()
		assert.EqualValues(t, 5, told.Load())
		assert.Equal(t, time.Hour+time.Minute, time.Since(begin), "the second wait would outlast the deadline")
	})
}

// TestGroupGoexit: every done callback is called, even if one of them, a hook or the
// clock calls Goexit.
func TestGroupGoexit(t *testing.T) {
	const calls = 10
	for _, tt := range []struct {
		name   string
		policy retry.Policy
		done   func() // called by the done callback, which counts the call first
		want   error
	}{
		{"done", hourly, runtime.Goexit, errCause},
		{"OnGiveUp", retry.Policy{Backoff: hourly.Backoff, Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) { runtime.Goexit() }}}, func() {}, retry.ErrNoReturn},
		{"Clock", retry.Policy{Clock: panickyClock{}}, func() {}, retry.ErrNoReturn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var told atomic.Int64
				g := &retry.Group{Policy: tt.policy, Limit: 3}
				for range calls {
					g.Go(ctx, fails, func(err error) {
						told.Add(1)
						assert.ErrorIs(t, err, tt.want)
						tt.done()
					})
				}
				synctest.Wait()
				cancel(errCause)
				synctest.Wait()
				assert.EqualValues(t, calls, told.Load())
			})
		})
	}
}

// TestGroupPanics: a panic ends the program without calling done, because done could exit
// as if nothing had happened.
func TestGroupPanics(t *testing.T) {
	const env = "RETRY_GROUP_PANICS"
	policyPanic := "panic in a function of the retry policy: boom (while handling: operation failed)"
	for name, tt := range map[string]struct {
		policy retry.Policy
		op     func(context.Context) error
		want   string
	}{
		"operation": {retry.Policy{}, func(context.Context) error { panic("boom") }, "panic: boom"},
		"OnRetry": {retry.Policy{Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { panic("boom") }}},
			fails, policyPanic},
		"OnGiveUp, attempts used":           {retry.Policy{MaxAttempts: 1, Hooks: panicOnGiveUp()}, fails, policyPanic},
		"OnGiveUp, canceled while it waits": {retry.Policy{Backoff: retry.Constant(time.Hour), Hooks: panicOnGiveUp()}, fails, policyPanic},
	} {
		if os.Getenv(env) == name { // the other process
			ctx, cancel := context.WithCancel(context.Background())
			g := &retry.Group{Policy: tt.policy, Limit: 1}
			g.Go(ctx, tt.op, func(error) { os.Exit(0) })
			if strings.Contains(name, "canceled") {
				g.Go(ctx, func(context.Context) error { cancel(); return nil }, nil) // gets a slot once the first call waits
			}
			select {}
		}
		if os.Getenv(env) != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			executable, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.Command(executable, "-test.run=^TestGroupPanics$")
			cmd.Env = append(os.Environ(), env+"="+name)
			out, err := cmd.CombinedOutput()
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("no second process here: ", err)
			}
			assert.Error(t, err)
			assert.Contains(t, string(out), tt.want)
		})
	}
}

func panicOnGiveUp() retry.Hooks {
	return retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) { panic("boom") }}
}

// TestGroupForgets: a Group does not retain calls that have ended, even if they were
// canceled while they waited for a slot.
func TestGroupForgets(t *testing.T) {
	const calls, size = 1000, 10 << 10
	g := &retry.Group{Limit: 1}
	free, freed := make(chan struct{}), make(chan error)
	g.Go(t.Context(), func(context.Context) error { <-free; return nil }, func(err error) { freed <- err })
	memory := inUse()
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range calls {
			large := make([]byte, size)
			all.Add(1)
			g.Go(ctx, func(context.Context) error { large[0]++; return nil }, func(error) { all.Done() })
		}
		cancel()
		all.Wait()
		assert.Less(t, inUse()-memory, int64(calls*size/10))
	}
	close(free)
	assert.NoError(t, <-freed)
	runtime.KeepAlive(g)
}

// TestGroupForgetsCanceledWaits: a call canceled during a wait is released at once.
func TestGroupForgetsCanceledWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waits, ended := make(chan bool, 1), make(chan error, 1)
	g := &retry.Group{Policy: hourly, Limit: 1}
	g.Policy.OnRetry = func(context.Context, retry.Attempt, time.Duration) { waits <- true }
	kept := func() weak.Pointer[[1 << 10]byte] {
		large := new([1 << 10]byte)
		g.Go(ctx, func(context.Context) error { large[0]++; return errOp }, func(err error) { ended <- err })
		return weak.Make(large)
	}()
	<-waits
	require.NoError(t, inPlace(g), "the slot is free once the call waits")
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	g.Wait()
	for range 100 {
		if runtime.GC(); kept.Value() == nil {
			return
		}
		time.Sleep(ms)
	}
	t.Error("the canceled call is retained")
}

// TestGroupForgetsEachCanceledCall: if several calls end because of the same context,
// each is released as soon as its done callback returns.
func TestGroupForgetsEachCanceledCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := &retry.Group{Policy: hourly, Limit: 1}
	reported, free := make(chan weak.Pointer[[1 << 10]byte]), make(chan bool)
	for range 2 {
		func() {
			large := new([1 << 10]byte)
			kept := weak.Make(large)
			g.Go(ctx, func(context.Context) error { large[0]++; return errOp }, func(error) {
				reported <- kept
				<-free
			})
		}()
		require.NoError(t, inPlace(g))
	}
	cancel()
	first := <-reported
	free <- true
	<-reported // the second call's done callback blocks
	for range 100 {
		if runtime.GC(); first.Value() == nil {
			break
		}
		time.Sleep(ms)
	}
	assert.Nil(t, first.Value(), "the first call is kept")
	close(free)
	g.Wait()
}

func inPlace(g *retry.Group) error {
	ended := make(chan error)
	g.Go(context.Background(), succeed, func(err error) { ended <- err })
	return <-ended
}

// TestGroupOnce: every call ends exactly once, even if contexts end, waits end and slots
// become free at the same time.
func TestGroupOnce(t *testing.T) {
	const calls = 3000
	for _, places := range []int{0, 1, 7} {
		g := &retry.Group{
			Policy: retry.Policy{Backoff: retry.FullJitter{Base: 200 * time.Microsecond}, MaxAttempts: 4},
			Limit:  places,
		}
		var all sync.WaitGroup
		var succeeded, canceled, exhausted, told, running, most atomic.Int64
		shared, cancel := context.WithCancel(t.Context())
		for i := range calls {
			ctx := context.Background()
			switch i % 3 {
			case 1:
				ctx = shared
			case 2:
				own, end := context.WithTimeout(t.Context(), time.Duration(rand.IntN(1000))*time.Microsecond)
				defer end()
				ctx = own
			}
			all.Add(1)
			g.Go(ctx, func(context.Context) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				if rand.IntN(4) == 0 {
					return nil
				}
				return errOp
			}, func(err error) {
				told.Add(1)
				switch {
				case err == nil:
					succeeded.Add(1)
				case errors.Is(err, retry.ErrMaxAttempts):
					exhausted.Add(1)
				case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
					canceled.Add(1)
				}
				all.Done()
			})
			if i == calls/2 {
				cancel()
			}
		}
		all.Wait()
		assert.EqualValues(t, calls, told.Load())
		assert.EqualValues(t, calls, succeeded.Load()+canceled.Load()+exhausted.Load())
		assert.Positive(t, succeeded.Load())
		assert.Positive(t, canceled.Load())
		if places > 0 {
			assert.LessOrEqual(t, most.Load(), int64(places))
		}
		cancel()
	}
}

var pending = flag.Int("pending", 20_000, "calls that TestGroupMany lets wait at the same time")

// TestGroupMany: very many calls wait in little memory and without goroutines. Half of
// them are canceled, the others run to their end, and each done callback is called once.
// To test a million calls:
//
//	go test -v -run TestGroupMany . -pending 1000000
func TestGroupMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := int64(*pending / 2)
		doomed, cancel := context.WithCancel(t.Context())
		g := &retry.Group{Policy: retry.Policy{Backoff: retry.Constant(time.Hour), MaxAttempts: 2}, Limit: 100}
		var calls, exhausted, canceled atomic.Int64
		op := func(context.Context) error { calls.Add(1); return errOp }
		done := func(err error) {
			if errors.Is(err, retry.ErrMaxAttempts) {
				exhausted.Add(1)
			} else if errors.Is(err, context.Canceled) {
				canceled.Add(1)
			}
		}
		goroutines, memory := runtime.NumGoroutine(), inUse()
		for range half {
			g.Go(doomed, op, done)
			g.Go(t.Context(), op, done)
		}
		synctest.Wait()
		assert.Equal(t, 2*half, calls.Load())
		noneLeft(t, goroutines)
		each := float64(inUse()-memory) / float64(2*half)
		t.Logf("%d calls wait, each in %.0f bytes", 2*half, each)
		assert.LessOrEqual(t, each, 500.)

		cancel()
		synctest.Wait()
		assert.Equal(t, []int64{half, 0}, []int64{canceled.Load(), exhausted.Load()})
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []int64{half, half}, []int64{canceled.Load(), exhausted.Load()})
		assert.Equal(t, 3*half, calls.Load())
		noneLeft(t, goroutines)
	})
}
