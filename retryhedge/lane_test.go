package retryhedge_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhedge"
)

// waits returns after how long a call that hangs for 10 s gets a copy, or 0.
func waits(t *testing.T, h *retryhedge.Hedge, key string) (wait time.Duration) {
	t.Helper()
	start := time.Now()
	_, done, err := retryhedge.Open(t.Context(), h, key, func(ctx context.Context, copy int) (int, error) {
		if copy == 0 {
			return 0, after(ctx, 10*time.Second)
		}
		wait = time.Since(start)
		return 0, nil
	}, nil)
	require.NoError(t, err)
	done()
	return wait
}

// TestQuantile: the wait follows the durations of the recent calls.
func TestQuantile(t *testing.T) {
	for name, test := range map[string]struct {
		hedge  *retryhedge.Hedge
		calls  int
		takes  func(i int) time.Duration
		wanted time.Duration
	}{
		"too few":                     {calls: 127, takes: func(i int) time.Duration { return ms }, wanted: 0},
		"enough":                      {calls: 128, takes: func(i int) time.Duration { return 20 * ms }, wanted: 30 * ms},
		"uniform from 0 to 99 ms":     {calls: 500, takes: func(i int) time.Duration { return time.Duration(i%100) * ms }, wanted: 95 * ms * 65 / 64},
		"98 %":                        {hedge: &retryhedge.Hedge{Quantile: 0.98}, calls: 500, takes: func(i int) time.Duration { return time.Duration(i%100) * ms }, wanted: 98 * ms * 65 / 64},
		"all alike":                   {calls: 500, takes: func(int) time.Duration { return 20 * ms }, wanted: 30 * ms},
		"nothing takes long":          {calls: 500, takes: func(int) time.Duration { return time.Microsecond }, wanted: ms},
		"slower than before":          {calls: 1024, takes: func(i int) time.Duration { return time.Duration(20+80*(i/512)) * ms }, wanted: 150 * ms},
		"a fixed time, few calls":     {hedge: &retryhedge.Hedge{After: 7 * ms}, calls: 25, takes: func(int) time.Duration { return ms }, wanted: 7 * ms},
		"a fixed time, without money": {hedge: &retryhedge.Hedge{After: 7 * ms}, calls: 15, takes: func(int) time.Duration { return ms }, wanted: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := test.hedge
				if h == nil {
					h = new(retryhedge.Hedge)
				}
				for i := range test.calls {
					_, err := retryhedge.Do(t.Context(), h, "a", func(ctx context.Context) (int, error) { return 0, after(ctx, test.takes(i)) })
					require.NoError(t, err)
				}
				assert.Zero(t, waits(t, h, "b"), "another key")
				assert.InDelta(t, test.wanted.Seconds(), waits(t, h, "a").Seconds(), 0.002)
			})
		})
	}
}

// Copies hide how long the first calls would have taken. That must not make the wait shorter
// and shorter.
func TestQuantileIsStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := 0
		h := &retryhedge.Hedge{Share: 1, OnEvent: func(context.Context, retryhedge.Event) { started++ }}
		for i := range 10_000 {
			_, done, err := retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
				if copy > 0 {
					return 0, after(ctx, 20*ms)
				}
				return 0, after(ctx, time.Duration(10+i*37%100)*ms)
			}, nil)
			require.NoError(t, err)
			done()
		}
		assert.InDelta(t, 106, waits(t, h, "").Milliseconds(), 5)
		assert.Less(t, started, 700)
	})
}

// After throttling, there are no copies for a second, or as long as the server asks for.
func TestThrottled(t *testing.T) {
	for _, hint := range []time.Duration{0, 100 * ms, 5 * time.Second, time.Hour} {
		t.Run(hint.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &retryhedge.Hedge{After: 60 * ms}
				teach(t, h, "", 30)
				throttled := retry.Throttled(errFirst)
				if hint > 0 {
					throttled = retry.Throttled(retry.After(errFirst, hint))
				}
				_, err := retryhedge.Do(t.Context(), h, "", func(context.Context) (int, error) { return 0, throttled })
				require.ErrorIs(t, err, errFirst)
				pause := min(max(hint, time.Second), time.Minute)
				time.Sleep(pause - 100*ms)
				assert.Zero(t, waits(t, h, ""))
				assert.Equal(t, 60*ms, waits(t, h, ""))
			})
		})
	}
}

// TestCanceledCalls: calls that their callers cancel pay for no copies, because a server that
// does not answer gets none.
func TestCanceledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &retryhedge.Hedge{After: 60 * ms, OnEvent: func(_ context.Context, e retryhedge.Event) { assert.Equal(t, retryhedge.Refused, e.Kind) }}
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*ms, cancel)
			_, err := retryhedge.Do(ctx, h, "", func(ctx context.Context) (int, error) { return 0, after(ctx, time.Second) })
			assert.ErrorIs(t, err, context.Canceled)
		}
		teach(t, h, "", 9)
		assert.Zero(t, waits(t, h, ""))
	})
}

// TestManyCalls: with 32 bits, too, the calls are counted beyond 1<<31.
func TestManyCalls(t *testing.T) {
	h := &retryhedge.Hedge{}
	h.SetSeen("", math.MaxInt32)
	for range 3 {
		_, err := retryhedge.Do(t.Context(), h, "", func(context.Context) (int, error) { return 0, nil })
		require.NoError(t, err)
	}
}

// A budget shared with the retries pays for both, and only the retries refill it.
func TestSharedBudget(t *testing.T) {
	for _, budget := range []retry.Budget{
		&awspreset.TokenBudget{Capacity: 3, Costs: awspreset.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}},
		&retry.SharedBudget{Reserve: 3},
	} {
		t.Run(fmt.Sprintf("%T", budget), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &retryhedge.Hedge{After: 60 * ms, Budget: budget}
				copies := 0
				for range 10 {
					if waits(t, h, "") > 0 {
						copies++
					}
				}
				assert.Equal(t, 3, copies)
			})
		})
	}
}

// Refused says that a fixed wait uses up the budget.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen events
		h := &retryhedge.Hedge{After: 30 * ms, OnEvent: seen.add}
		teach(t, h, "", 400) // every tenth takes longer
		synctest.Wait()
		seen.mu.Lock()
		defer seen.mu.Unlock()
		var last retryhedge.Event
		for _, e := range seen.all {
			if e.Kind == retryhedge.Refused {
				last = e
			}
		}
		assert.Equal(t, retryhedge.Refused, last.Kind)
		assert.InDelta(t, 0.1, last.Slow, 0.02)
	})
}
