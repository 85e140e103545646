package retryhedge_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
)

func once(context.Context, int) (int, error) { return 1, nil }

func TestWithoutHedge(t *testing.T) {
	v, err := retryhedge.Do(t.Context(), nil, "", func(context.Context) (int, error) { return 1, errFirst })
	assert.Equal(t, 1, v)
	assert.ErrorIs(t, err, errFirst)
}

// The context of a call ends with Do, whether copies are possible or not: what still needs it must
// fail at once, and not after the first 128 calls.
func TestContextEnds(t *testing.T) {
	for name, h := range map[string]*retryhedge.Hedge{"no Hedge": nil, "not yet": {}, "a copy": {After: time.Hour}} {
		ctx, err := retryhedge.Do(t.Context(), h, "", func(ctx context.Context) (context.Context, error) { return ctx, ctx.Err() })
		require.NoError(t, err)
		assert.ErrorIs(t, ctx.Err(), context.Canceled, name)
	}
}

// The retries around a hedged operation see one attempt.
func TestInsideDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &retryhedge.Hedge{After: 60 * ms}
		teach(t, h, "", 40)
		attempts := 0
		var calls atomic.Int64
		policy := retry.Policy{Backoff: retry.NoDelay{}, Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { attempts++ }}}
		v, err := retry.DoValue(t.Context(), policy, func(ctx context.Context) (int64, error) {
			return retryhedge.Do(ctx, h, "", func(ctx context.Context) (int64, error) {
				n := calls.Add(1)
				if err := after(ctx, 100*ms); err != nil {
					return 0, err
				}
				if n <= 2 {
					return 0, errFirst
				}
				return n, nil
			})
		})
		require.NoError(t, err)
		assert.EqualValues(t, 3, v)
		assert.Equal(t, 1, attempts)
		assert.EqualValues(t, 4, calls.Load())
	})
}

// Several copies start one after the other.
func TestMaxCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &retryhedge.Hedge{After: 60 * ms, MaxCopies: 3}
		teach(t, h, "", 100)
		var starts [4]atomic.Int64
		start := time.Now()
		v, done, err := retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
			starts[copy].Store(time.Since(start).Milliseconds())
			return copy, after(ctx, time.Second-time.Duration(copy)*300*ms)
		}, nil)
		require.NoError(t, err)
		defer done()
		assert.Equal(t, 3, v)
		for copy := range starts {
			assert.EqualValues(t, 60*copy, starts[copy].Load())
		}
		assert.Equal(t, 280*ms, time.Since(start))
	})
}

// TestAllocations: what a call costs that gets no copy.
func TestAllocations(t *testing.T) {
	for name, test := range map[string]struct {
		hedge *retryhedge.Hedge
		most  float64
	}{
		"before enough calls are seen": {&retryhedge.Hedge{}, 0},
		"a copy would start later":     {&retryhedge.Hedge{After: time.Hour}, 8},
	} {
		ctx := t.Context()
		got := testing.AllocsPerRun(20, func() {
			_, done, _ := retryhedge.Open(ctx, test.hedge, "", once, nil)
			done()
		})
		assert.LessOrEqual(t, got, test.most, name)
	}
}

func BenchmarkOpen(b *testing.B) {
	h := &retryhedge.Hedge{}
	for range 200 {
		_, done, _ := retryhedge.Open(b.Context(), h, "", once, nil)
		done()
	}
	b.ReportAllocs()
	for b.Loop() {
		_, done, _ := retryhedge.Open(b.Context(), h, "", once, nil)
		done()
	}
}
