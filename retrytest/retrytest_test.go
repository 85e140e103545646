package retrytest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

func TestClock(t *testing.T) {
	start := time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	clock := &retrytest.Clock{Start: start}
	assert.Equal(t, start, clock.Now())
	assert.Empty(t, clock.Waits())
	assert.NoError(t, clock.Sleep(t.Context(), time.Minute))
	clock.Advance(time.Hour)
	assert.NoError(t, clock.Sleep(t.Context(), 0))
	assert.Equal(t, start.Add(time.Hour+time.Minute), clock.Now())
	assert.Equal(t, []time.Duration{time.Minute, 0}, clock.Waits())

	dead, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, clock.Sleep(dead, time.Minute), context.Canceled)
	assert.Len(t, clock.Waits(), 2)

	before := time.Now()
	assert.False(t, new(retrytest.Clock).Now().Before(before), "by default it starts now")
}

func TestClockConcurrently(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(0, 0)}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { _ = clock.Sleep(t.Context(), time.Second) })
	}
	wg.Wait()
	assert.Equal(t, time.Unix(100, 0), clock.Now())
	assert.Len(t, clock.Waits(), 100)
}

func TestOp(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	run := func(op *retrytest.Op, calls int) (outcomes []error) {
		for range calls {
			outcomes = append(outcomes, op.Run(t.Context()))
		}
		assert.Equal(t, calls, op.Calls())
		return outcomes
	}
	assert.Equal(t, []error{nil, nil}, run(retrytest.Script(), 2))
	assert.Equal(t, []error{a, b, b, b}, run(retrytest.Script(a, b), 4))
	assert.Equal(t, []error{a, a, nil, nil}, run(retrytest.Fail(2, a), 4))
	assert.Equal(t, []error{nil}, run(retrytest.Fail(-1, a), 1))
}

func TestRandom(t *testing.T) {
	fixed := retrytest.Fixed(0.25)
	assert.Equal(t, []float64{0.25, 0.25}, []float64{fixed(), fixed()})

	replay := retrytest.Replay(0.1, 0.2)
	assert.Equal(t, []float64{0.1, 0.2}, []float64{replay(), replay()})
	assert.PanicsWithValue(t, "retrytest: random number 3 requested, but only 2 recorded", func() { replay() })

	one, same, other := retrytest.Seeded(1), retrytest.Seeded(1), retrytest.Seeded(2)
	first := one()
	assert.Equal(t, first, same())
	assert.NotEqual(t, first, other())
	assert.NotEqual(t, first, one())
	assert.True(t, first >= 0 && first < 1)
}

// report is a testing.TB that records errors.
type report struct {
	testing.TB
	errors []string
}

func (*report) Helper() {}
func (r *report) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

type backoffFunc func(retry.Attempt, float64) time.Duration

func (f backoffFunc) Delay(a retry.Attempt, u float64) time.Duration { return f(a, u) }

func TestTestBackoff(t *testing.T) {
	var calls, used atomic.Int64
	tests := []struct {
		name string
		rule backoffFunc
		want []string // substrings of the reports
	}{
		{"good", func(a retry.Attempt, u float64) time.Duration { return time.Duration(u * float64(time.Second)) }, nil},
		{"panics", func(a retry.Attempt, u float64) time.Duration { return []time.Duration{1, 2, 3}[a.Number-1] },
			[]string{"total: Delay({Number: 4,", "not negative: Delay({Number: 4,", "ends: Delay({Number: 4,"}},
		{"overflows", func(a retry.Attempt, u float64) time.Duration {
			return time.Second << min(34, max(0, a.Number))
		}, []string{"not negative: Delay({Number: 63, Waited: 0s, Class: transient}, 0) = -"}},
		{"overflows after long waits", func(a retry.Attempt, _ float64) time.Duration { return 3*a.Waited + 1 },
			[]string{"not negative: Delay({Number: 1, Waited: 8"}},
		{"subtracts the hint", func(a retry.Attempt, _ float64) time.Duration { return time.Second - a.Hint },
			[]string{"not negative: Delay({Number: 1, Waited: 0s, Class: throttled, Hint: 24h0m0s}, 0) = -"}},
		{"negative in a part of u", func(_ retry.Attempt, u float64) time.Duration {
			if u > 0.612 && u < 0.614 {
				return -1
			}
			return 0
		}, []string{"not negative: Delay({Number: 1, Waited: 1s, Class: transient}, 0.6125) = -1ns", "ends: "}},
		{"counts its calls", func(retry.Attempt, float64) time.Duration { return time.Duration(calls.Add(1)) },
			[]string{"pure: ", "ends: ", "shareable: "}},
		{"panics later", func(retry.Attempt, float64) time.Duration {
			if used.Add(1) > 29_000 { // in the second round of "pure"
				panic("worn out")
			}
			return 0
		}, []string{"pure: Delay({", "ends: Delay({"}},
		{"draws its own random numbers", func(retry.Attempt, float64) time.Duration { return rand.N(time.Hour) },
			[]string{"pure: ", "ends: ", "shareable: "}},
		{"falls in u", func(_ retry.Attempt, u float64) time.Duration {
			return time.Second - time.Duration(u*float64(time.Second))
		},
			[]string{"ends: Delay({Number: 1, Waited: 0s, Class: transient}, 0) = 1s, Delay({Number: 1, Waited: 0s, Class: transient}, 0.9999999999999999) = 1ns"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r report
			retrytest.TestBackoff(&r, tt.rule)
			if !assert.Len(t, r.errors, len(tt.want), "%q", r.errors) {
				return
			}
			for i, want := range tt.want {
				assert.Contains(t, r.errors[i], want)
			}
		})
	}
}

// remembers is a rule that is pure, but cannot be shared.
type remembers map[float64]time.Duration

func (m remembers) Delay(_ retry.Attempt, u float64) time.Duration {
	if _, ok := m[u]; !ok {
		m[u] = time.Duration(u * float64(time.Second))
	}
	return m[u]
}

// TestRemembers: the runtime ends the program of a rule that writes to a map.
func TestRemembers(t *testing.T) {
	const inside = "RETRYTEST_REMEMBERS"
	if os.Getenv(inside) != "" {
		for range 1000 {
			retrytest.TestBackoff(t, remembers{})
		}
		return
	}
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("goroutines do not run at the same time")
	}
	program := exec.Command(os.Args[0], "-test.run=^TestRemembers$")
	program.Env = append(os.Environ(), inside+"=1")
	out, err := program.CombinedOutput()
	assert.Error(t, err)
	assert.Regexp(t, "concurrent map|DATA RACE", string(out))
}

func Example() {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Clock: clock, Rand: retrytest.Fixed(0.5)}
	op := retrytest.Fail(2, errors.New("try later"))
	err := retry.Do(context.Background(), policy, op.Run)
	fmt.Println(err, op.Calls(), clock.Waits())
	// Output: <nil> 3 [25ms 50ms]
}
