package retryhedge_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhedge"
)

var (
	errFirst  = errors.New("first")
	errSecond = errors.New("second")
)

// A run is how one call of op goes.
type run struct {
	takes time.Duration
	err   error
}

// TestRaces: what becomes of a call whose copy starts after 60 ms.
func TestRaces(t *testing.T) {
	const started, won, refused = retryhedge.Started, retryhedge.Won, retryhedge.Refused
	for name, test := range map[string]struct {
		first, copy run
		empty       bool // the budget
		took        time.Duration
		value       int
		err         error
		events      []retryhedge.EventKind
	}{
		"fast":                           {first: run{59 * ms, nil}, took: 59 * ms},
		"fails fast":                     {first: run{59 * ms, errFirst}, took: 59 * ms, err: errFirst},
		"the copy wins":                  {first: run{500 * ms, nil}, copy: run{20 * ms, nil}, took: 80 * ms, value: 1, events: []retryhedge.EventKind{started, won}},
		"the first wins":                 {first: run{70 * ms, nil}, copy: run{20 * ms, nil}, took: 70 * ms, events: []retryhedge.EventKind{started}},
		"no budget":                      {first: run{500 * ms, nil}, empty: true, took: 500 * ms, events: []retryhedge.EventKind{refused}},
		"the first fails, the copy wins": {first: run{70 * ms, errFirst}, copy: run{20 * ms, nil}, took: 80 * ms, value: 1, events: []retryhedge.EventKind{started, won}},
		"the copy fails":                 {first: run{90 * ms, nil}, copy: run{20 * ms, errSecond}, took: 90 * ms, events: []retryhedge.EventKind{started}},
		"both fail, the copy earlier":    {first: run{90 * ms, errFirst}, copy: run{20 * ms, errSecond}, took: 90 * ms, err: errFirst, events: []retryhedge.EventKind{started}},
		"both fail, the copy later":      {first: run{70 * ms, errFirst}, copy: run{20 * ms, errSecond}, took: 80 * ms, err: errFirst, events: []retryhedge.EventKind{started}},
		"the copy fails permanently":     {first: run{500 * ms, nil}, copy: run{20 * ms, retry.Permanent(errSecond)}, took: 80 * ms, value: 1, err: errSecond, events: []retryhedge.EventKind{started, won}},
		"the first fails permanently":    {first: run{70 * ms, retry.Permanent(errFirst)}, copy: run{20 * ms, nil}, took: 70 * ms, err: errFirst, events: []retryhedge.EventKind{started}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen events
				h := &retryhedge.Hedge{After: 60 * ms, OnEvent: seen.add}
				if !test.empty {
					teach(t, h, "", 20) // the budget starts empty
				}
				start := time.Now()
				var released []int
				value, done, err := retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
					r := [...]run{test.first, test.copy}[copy]
					if err := after(ctx, r.takes); err != nil {
						return copy, err
					}
					return copy, r.err
				}, func(v int) { released = append(released, v) })
				assert.Equal(t, test.took, time.Since(start))
				synctest.Wait()
				assert.Equal(t, test.value, value)
				assert.ErrorIs(t, err, test.err)
				assert.Equal(t, test.events, seen.kinds())
				if test.copy == (run{}) {
					assert.Empty(t, released)
				} else {
					assert.Equal(t, []int{1 - value}, released)
				}
				done()
			})
		})
	}
}

// The contexts of the losers end with the call, and that of the winner with done.
func TestContexts(t *testing.T) {
	for winner, takes := range [][2]time.Duration{{70 * ms, 20 * ms}, {time.Second, 20 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			h := &retryhedge.Hedge{After: 60 * ms}
			teach(t, h, "", 20)
			var contexts [2]context.Context
			value, done, err := retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
				contexts[copy] = ctx
				return copy, after(ctx, takes[copy])
			}, nil)
			assert.NoError(t, err)
			assert.Equal(t, winner, value)
			assert.NoError(t, contexts[winner].Err())
			assert.ErrorContains(t, context.Cause(contexts[1-winner]), "another copy was faster")
			done()
			assert.Error(t, contexts[winner].Err())
			synctest.Wait()
		})
	}
}

// The caller's context ends all copies.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &retryhedge.Hedge{After: 60 * ms}
		teach(t, h, "", 20)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*ms, errFirst)
		defer cancel()
		start := time.Now()
		_, err := retryhedge.Do(ctx, h, "", func(ctx context.Context) (int, error) { return 0, after(ctx, time.Second) })
		assert.ErrorIs(t, err, errFirst)
		assert.Equal(t, 100*ms, time.Since(start))
	})
}

// A panic in the first call passes through, one in a copy is an error, and a copy that exits
// its goroutine has failed.
func TestPanics(t *testing.T) {
	for name, test := range map[string]struct {
		first, copy func()
		panics      any
		err         string
	}{
		"first panics": {func() { panic("first") }, func() {}, "first", ""},
		"copy panics":  {func() {}, func() { panic("copy") }, nil, "retryhedge: a copy panicked: copy"},
		"copy exits":   {func() {}, runtime.Goexit, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &retryhedge.Hedge{After: 60 * ms}
				teach(t, h, "", 20)
				defer func() {
					assert.Equal(t, test.panics, recover())
					synctest.Wait() // all copies end
				}()
				_, _, err := retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
					if copy == 1 {
						_ = after(ctx, 20*ms)
						test.copy()
						return 1, nil
					}
					_ = after(ctx, 100*ms)
					test.first()
					return 0, nil
				}, nil)
				if test.err == "" {
					assert.NoError(t, err)
					return
				}
				assert.EqualError(t, err, test.err)
				panicked, _ := errors.AsType[*retryhedge.PanicError](err)
				require.NotNil(t, panicked)
				assert.Contains(t, string(panicked.Stack), "TestPanics")
			})
		})
	}
}

// A copy that panics after its defeat is an event; it does not end the program.
func TestLosingCopyPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panicked *retryhedge.PanicError
		h := &retryhedge.Hedge{After: 60 * ms}
		teach(t, h, "", 20)
		h.OnEvent = func(_ context.Context, e retryhedge.Event) {
			if e.Kind == retryhedge.Panicked {
				panicked = e.Panic
			}
		}
		v, done, err := retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
			if copy == 1 {
				<-ctx.Done() // canceled, because the first was faster
				panic(errSecond)
			}
			return 7, after(ctx, 100*ms)
		}, nil)
		done()
		require.NoError(t, err)
		assert.Equal(t, 7, v)
		synctest.Wait()
		require.NotNil(t, panicked)
		assert.ErrorIs(t, panicked, errSecond)
	})
}

// If the first panics after a copy has won, nobody gets the result, and it is released.
func TestPanicAfterDefeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &retryhedge.Hedge{After: 60 * ms}
		teach(t, h, "", 20)
		var won context.Context
		var released []int
		assert.PanicsWithValue(t, "first", func() {
			_, _, _ = retryhedge.Open(t.Context(), h, "", func(ctx context.Context, copy int) (int, error) {
				if copy == 1 {
					won = ctx
					return 1, nil
				}
				<-ctx.Done()
				panic("first")
			}, func(v int) { released = append(released, v) })
		})
		assert.ElementsMatch(t, []int{0, 1}, released)
		assert.Error(t, won.Err())
	})
}

// TestRandomRaces: whatever happens, each result is either returned or released, once, the
// context of each copy ends, and the call ends with its first success.
func TestRandomRaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		h := &retryhedge.Hedge{After: 60 * ms, MaxCopies: 3, Budget: &awspreset.TokenBudget{Capacity: 1e9}}
		for range 3000 {
			randomRace(t, h, random)
		}
	})
}

func randomRace(t *testing.T, h *retryhedge.Hedge, random *rand.Rand) {
	var runs [4]run
	for i := range runs {
		runs[i].takes = time.Duration(random.IntN(300))*ms + ms/2 + time.Duration(i)
		switch random.IntN(5) {
		case 0, 1:
			runs[i].err = errFirst
		case 2:
			runs[i].err = retry.Permanent(errSecond)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random.IntN(500))*ms)
	defer cancel()
	var mu sync.Mutex
	results := map[int]int{} // how often each was returned or released
	var contexts []context.Context
	use := func(copy int) {
		mu.Lock()
		defer mu.Unlock()
		results[copy]++
	}
	start := time.Now()
	value, done, err := retryhedge.Open(ctx, h, "", func(ctx context.Context, copy int) (int, error) {
		mu.Lock()
		contexts = append(contexts, ctx)
		mu.Unlock()
		if err := after(ctx, runs[copy].takes); err != nil {
			return copy, err
		}
		return copy, runs[copy].err
	}, use)
	took := time.Since(start)
	use(value)
	if err == nil {
		assert.NoError(t, runs[value].err)
		assert.Equal(t, time.Duration(value)*60*ms+runs[value].takes, took)
	}
	for i := range len(contexts) {
		if runs[i].err == nil {
			assert.LessOrEqual(t, took, time.Duration(i)*60*ms+runs[i].takes, "copy %d", i)
		}
	}
	done()
	synctest.Wait()
	for i, ctx := range contexts {
		assert.Error(t, ctx.Err())
		assert.Equal(t, 1, results[i], "copy %d", i)
	}
	assert.Len(t, results, len(contexts))
}
