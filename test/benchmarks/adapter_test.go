package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func eachLibrary(t *testing.T, has func(library) bool, f func(*testing.T, library)) {
	t.Helper()
	for _, l := range libraries {
		if has(l) {
			t.Run(l.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(t, l) })
			})
		}
	}
}

// fourAttempts requires three waits of a second.
var fourAttempts = plan{attempts: 4, wait: time.Second}

func builders(l library) map[string]func(context.Context, plan) policy {
	ways := map[string]func(context.Context, plan) policy{
		"shared": l.build,
		"value": func(ctx context.Context, p plan) policy {
			return func(o *operation) call {
				c := l.value(ctx, p)(o)
				return func() error {
					v, err := c()
					if err == nil && v != 1 {
						panic("the value is lost")
					}
					return err
				}
			}
		},
	}
	if l.fresh != nil {
		ways["fresh"] = l.fresh
	}
	return ways
}

func TestSucceedsAtTheFourthAttempt(t *testing.T) {
	eachLibrary(t, all, func(t *testing.T, l library) {
		for way, build := range builders(l) {
			op := failing(3)
			c := build(t.Context(), fourAttempts)(op)
			for n := 1; n <= 2; n++ { // the first call leaves no state for the second
				start := time.Now()
				require.NoError(t, c(), way)
				assert.Equal(t, 4*n, op.calls, way)
				assert.Equal(t, 3*time.Second, time.Since(start), way)
			}
		}
	})
}

func TestGivesUpAfterFourAttempts(t *testing.T) {
	eachLibrary(t, all, func(t *testing.T, l library) {
		for way, build := range builders(l) {
			op, start := failing(100), time.Now()
			err := build(t.Context(), fourAttempts)(op)()
			require.Error(t, err, way)
			if l.name != kubernetes.name {
				require.ErrorIs(t, err, errFlaky, way)
			}
			assert.Equal(t, 4, op.calls, way)
			assert.Equal(t, 3*time.Second, time.Since(start), way)
		}
	})
}

func TestOneAttemptAndNoWait(t *testing.T) {
	eachLibrary(t, all, func(t *testing.T, l library) {
		for _, attempts := range []int{1, 3} {
			op, start := failing(100), time.Now()
			require.Error(t, l.build(t.Context(), plan{attempts: attempts})(op)())
			assert.Equal(t, attempts, op.calls)
			assert.Zero(t, time.Since(start))
		}
	})
}

// TestUsual: the two waits together are at most 225 ms, which is 1.5 times 50 ms + 100 ms.
// The limit is 300 ms for avast, and 6 s for the AWS SDK.
func TestUsual(t *testing.T) {
	eachLibrary(t, all, func(t *testing.T, l library) {
		most := 3 * usualBase * 3 / 2
		switch l.name {
		case awsSDK.name:
			most = 6 * time.Second
		case avast.name:
			most = 6 * usualBase // starts at twice the base
		}
		for way, build := range builders(l) {
			op, start := failing(2), time.Now()
			require.NoError(t, build(t.Context(), usual)(op)(), way)
			assert.Equal(t, 3, op.calls, way)
			assert.LessOrEqual(t, time.Since(start), most, way)
			assert.Positive(t, time.Since(start), way)
		}
	})
}

func TestHook(t *testing.T) {
	eachLibrary(t, hasHook, func(t *testing.T, l library) {
		retries, p := 0, fourAttempts
		p.hook = func() { retries++ }
		require.NoError(t, l.build(t.Context(), p)(failing(3))())
		assert.Equal(t, 3, retries)
	})
}

func TestBudget(t *testing.T) {
	eachLibrary(t, hasBudget, func(t *testing.T, l library) {
		p := fourAttempts
		p.budget = true
		op := failing(3)
		require.NoError(t, l.build(t.Context(), p)(op)())
		assert.Equal(t, 4, op.calls)
	})
}

func TestCanceledWhileWaiting(t *testing.T) {
	eachLibrary(t, all, func(t *testing.T, l library) {
		for way, build := range builders(l) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(1500*time.Millisecond, cancel)
			op, start := failing(100), time.Now()
			require.Error(t, build(ctx, fourAttempts)(op)(), way)
			assert.Equal(t, 2, op.calls, way)
			assert.Equal(t, 1500*time.Millisecond, time.Since(start), way)
		}
	})
}

func TestDelays(t *testing.T) {
	for _, l := range libraries {
		for of, start := range l.delays {
			t.Run(l.name+" "+of, func(t *testing.T) {
				assert.Contains(t, strategies, of)
				next := start()
				var sums [4]time.Duration
				for n := range sums {
					for range waitsPerCall {
						delay := next()
						assert.GreaterOrEqual(t, delay, time.Duration(0))
						assert.LessOrEqual(t, delay, usualCap*3/2)
						sums[n] += delay
					}
					assert.Positive(t, sums[n])
				}
				if of == constant || of == exponential || of == linear || of == fibonacci || of == schedule {
					assert.Equal(t, [4]time.Duration{sums[0], sums[0], sums[0], sums[0]}, sums, "each call restarts the delays")
				}
			})
		}
	}
}

func TestWaiting(t *testing.T) {
	const calls = 500
	for _, l := range append([]library{{name: bareColumn}}, libraries...) {
		t.Run(l.name, func(t *testing.T) {
			used, err := measureWaiting(l.name, calls)
			require.NoError(t, err)
			// Stacks of earlier tests may be freed meanwhile.
			assert.Positive(t, used.Heap)
		})
	}
	t.Run("no such library", func(t *testing.T) {
		_, err := measureWaiting("unknown", calls)
		assert.Error(t, err)
	})
	t.Run("in a child", func(t *testing.T) {
		used, err := inChild(ours.name, calls)
		require.NoError(t, err)
		assert.Positive(t, used.Stack)
	})
}
