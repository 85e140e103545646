package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
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

// TestPolicyClassify: Policy.Classify agrees with Do.
func TestPolicyClassify(t *testing.T) {
	for _, c := range []retry.Classifier{nil, retry.DefaultClassifier{}, awspreset.Classifier{}, retry.FirstOf()} {
		for _, err := range []error{
			errOp, io.EOF, codedError{"SlowDown"}, statusedError(404), retry.Permanent(errOp), retry.After(errOp, time.Minute),
			retry.Throttled(io.EOF), retryAfter(time.Second), retry.Unrepeatable(io.EOF), &retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts},
		} {
			assert.Equal(t, failed(t, c, err).Verdict, retry.Policy{Classifier: c}.Classify(err), "%T, %v", c, err)
		}
	}
	assert.Zero(t, retry.Policy{}.Classify(nil))
}

// TestShared: goroutines that share a policy have independent schedules.
func TestShared(t *testing.T) {
	exponential := retry.Exponential{Base: ms, Factor: 10}
	for name, tt := range map[string]struct {
		rule retry.Backoff
		want []time.Duration
	}{
		"exponential": {exponential, []time.Duration{ms, 10 * ms, 100 * ms, 1000 * ms}},
		"full":        {retry.FullJitter(exponential), []time.Duration{ms / 2, 5 * ms, 50 * ms, 500 * ms}},
		"schedule":    {retry.Schedule{3, 1, 2}, []time.Duration{3, 1, 2, 2}},
		"fibonacci":   {retry.Fibonacci{Base: ms}, []time.Duration{ms, ms, 2 * ms, 3 * ms}},
		// base + (3·prev − base) / 2, from the previous wait of the same call
		"decorrelated": {retry.DecorrelatedJitter{Base: 2 * ms}, []time.Duration{4 * ms, 7 * ms, 11500 * time.Microsecond, 18250 * time.Microsecond}},
	} {
		t.Run(name, func(t *testing.T) {
			var retries atomic.Int64
			p := retry.Policy{
				Backoff: tt.rule, MaxAttempts: 5, Rand: retrytest.Fixed(0.5), Budget: &awspreset.TokenBudget{Capacity: 1e6},
				Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { retries.Add(1) }},
			}
			synctest.Test(t, func(t *testing.T) {
				var wg sync.WaitGroup
				for i := range 100 {
					wg.Go(func() {
						var waits []time.Duration
						last, failure := time.Now(), fmt.Errorf("failure of %d", i)
						err := retry.Do(t.Context(), p, func(context.Context) error {
							waits = append(waits, time.Since(last))
							last = time.Now()
							return failure
						})
						assert.ErrorIs(t, err, retry.ErrMaxAttempts)
						assert.ErrorIs(t, err, failure)
						assert.Equal(t, tt.want, waits[1:])
					})
				}
				wg.Wait()
			})
			assert.EqualValues(t, 400, retries.Load())
		})
	}
}

// TestPolicyIsFreshForEveryCall: attempts, delays and time limits start afresh for each
// call.
func TestPolicyIsFreshForEveryCall(t *testing.T) {
	p := retry.Policy{MaxAttempts: 4, Backoff: retry.FullJitter{Base: time.Second}}
	for range 3 {
		calls, waits, _ := play(t, p, errOp)
		assert.Equal(t, 4, calls)
		assert.Equal(t, []time.Duration{500 * ms, time.Second, 2 * time.Second}, waits)
	}
	synctest.Test(t, func(t *testing.T) {
		p := retry.Policy{MaxAttempts: 100, Backoff: retry.Constant(5 * ms), MaxElapsed: 20 * ms}
		for range 3 {
			time.Sleep(30 * ms)
			start, op := time.Now(), retrytest.Script(errOp)
			assert.ErrorIs(t, retry.Do(t.Context(), p, op.Run), retry.ErrMaxElapsed)
			assert.Equal(t, 5, op.Calls())
			assert.Equal(t, 20*ms, time.Since(start))
		}
	})
}

func TestMaxAttempts(t *testing.T) {
	for _, tt := range []struct {
		policy retry.Policy
		calls  int
	}{
		{retry.Policy{}, 3},
		{retry.Policy{MaxAttempts: 1}, 1},
		{retry.Policy{MaxAttempts: 2}, 2},
		{retry.Policy{MaxAttempts: 3}, 3},
		{retry.Policy{Backoff: retry.Schedule{1, 2, 3, 4}}, 5},
		{retry.Policy{Backoff: retry.Schedule{1, 2, 3, 4}, MaxAttempts: 2}, 2},
		{retry.Policy{Backoff: retry.Spread{Of: retry.Schedule{1, 2, 3, 4}}}, 5},
		{retry.Policy{Backoff: retry.Capped{Of: retry.Jittered{Of: retry.Schedule{1, 2, 3, 4}}}, MaxElapsed: time.Hour}, 5},
		{retry.Policy{Backoff: retry.WhenThrottled{Throttled: retry.Schedule{1}, Else: retry.Schedule{1, 2, 3, 4}}}, 5},
		{retry.Policy{Backoff: retry.WhenThrottled{Throttled: retry.Schedule{1, 2, 3, 4}}}, 5},
		{retry.Policy{Backoff: &retry.Schedule{1, 2, 3, 4}}, 5},
		{retry.Policy{Backoff: &retry.Capped{Of: &retry.Jittered{Of: &retry.Spread{Of: &retry.Schedule{1, 2, 3, 4}}}, Cap: 9}}, 5},
		{retry.Policy{Backoff: &retry.WhenThrottled{Else: &retry.Schedule{1, 2, 3, 4}}}, 5},
		{retry.Policy{Backoff: embedding{Schedule: retry.Schedule{1, 2, 3, 4}}}, 5},
		{retry.Policy{Backoff: &embedding{Schedule: retry.Schedule{1, 2, 3, 4}}}, 5},
		{retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: 1}, 3},
		{retry.Policy{Backoff: &retry.Jittered{Of: &retry.NoDelay{}}, MaxElapsed: 1}, 3},
		{retry.Policy{Backoff: retry.Spread{Of: retry.WhenThrottled{Throttled: retry.NoDelay{}, Else: retry.Constant(0)}}, MaxElapsed: 1}, 3},
		{retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: 1, MaxAttempts: 9}, 9},
		{retry.Policy{Backoff: retry.Exponential{Base: ms, Cap: 4 * ms}, MaxAttempts: 100}, 100},
		{retry.Policy{Backoff: retry.Capped{Of: retry.Constant(1), Cap: 1}, MaxAttempts: 100}, 100},
	} {
		calls, waits, err := play(t, tt.policy, errOp)
		assert.Equal(t, tt.calls, calls, "%v", tt.policy)
		assert.Len(t, waits, tt.calls-1)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.ErrorIs(t, err, errOp)
		assert.Equal(t, tt.calls, asError(t, err).Attempts)
	}
	calls, _, err := play(t, retry.Policy{MaxAttempts: retry.Unlimited}, append(slices.Repeat([]error{errOp}, 999), nil)...)
	assert.NoError(t, err)
	assert.Equal(t, 1000, calls)
}

// embedding is a rule of a program that counts, or does something else beside a rule.
type embedding struct{ retry.Schedule }

// TestAttemptsOfPointers: a pointer to a rule is the same rule.
func TestAttemptsOfPointers(t *testing.T) {
	zero := retry.Constant(0)
	for _, rule := range []retry.Backoff{
		retry.NoDelay{}, &retry.NoDelay{}, zero, &zero, &retry.Capped{Of: &zero}, &retry.Spread{Of: &retry.NoDelay{}},
		&retry.WhenThrottled{Throttled: &zero, Else: &retry.NoDelay{}}, struct{ retry.NoDelay }{},
	} {
		assert.Equal(t, 3, retry.Policy{Backoff: rule, MaxElapsed: time.Hour}.Attempts(), "%T", rule)
	}
	for _, rule := range []retry.Backoff{nil, &retry.FullJitter{}, &retry.Capped{}, &retry.WhenThrottled{Throttled: &zero}} {
		assert.Equal(t, retry.Unlimited, retry.Policy{Backoff: rule, MaxElapsed: time.Hour}.Attempts(), "%T", rule)
	}
}

func TestZeroPolicyWaits(t *testing.T) {
	_, waits, _ := play(t, retry.Policy{}, errOp)
	assert.Equal(t, []time.Duration{25 * ms, 50 * ms}, waits)
}

// TestRandomNumbers: calls and processes draw different numbers, unless Rand is
// seeded.
func TestRandomNumbers(t *testing.T) {
	const env, mark = "RETRY_PRINT_SCHEDULE", "schedule: "
	schedule := func() string {
		return fmt.Sprint(slices.Collect(retry.Policy{MaxAttempts: 20}.Delays()))
	}
	if os.Getenv(env) != "" { // the other process
		fmt.Println(mark + schedule())
		return
	}
	seen := map[string]bool{}
	for range 3 {
		seen[schedule()] = true
		// In a bubble the clock always shows the same time, so a seed taken from it
		// would repeat the schedule.
		synctest.Test(t, func(*testing.T) { seen[schedule()] = true })
	}
	assert.Len(t, seen, 6)

	executable, err := os.Executable()
	require.NoError(t, err)
	for range 2 {
		cmd := exec.Command(executable, "-test.run=^TestRandomNumbers$")
		cmd.Env = append(os.Environ(), env+"=1", "GORACE=atexit_sleep_ms=0")
		out, err := cmd.Output()
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("no second process here: ", err)
		}
		require.NoError(t, err)
		_, line, found := strings.Cut(string(out), mark)
		require.True(t, found, "%s", out)
		line, _, _ = strings.Cut(line, "\n")
		assert.False(t, seen[line], "another process drew the same: %s", line)
		seen[line] = true
	}
	assert.Equal(t, delaysOf(nil, 20, retrytest.Seeded(7)), delaysOf(nil, 20, retrytest.Seeded(7)))
}

func TestDelays(t *testing.T) {
	collect := func(p retry.Policy, limit int) (waits []time.Duration) {
		for wait := range p.Delays() {
			if waits = append(waits, wait); len(waits) == limit {
				break
			}
		}
		return waits
	}
	s := time.Second
	p := retry.Policy{Backoff: retry.FullJitter{Base: s}, MaxAttempts: 5, Rand: retrytest.Replay(0.5, 0, 0.25, 0.75)}
	assert.Equal(t, []time.Duration{s / 2, 0, s, 6 * s}, collect(p, 99))
	assert.Empty(t, collect(retry.Policy{MaxAttempts: 1}, 99))
	assert.Len(t, collect(retry.Policy{}, 99), 2)
	assert.Equal(t, []time.Duration{s, s, s}, collect(retry.Policy{Backoff: retry.Constant(s), MaxAttempts: retry.Unlimited}, 3))
	assert.Equal(t, []time.Duration{s, 2 * s}, collect(retry.Policy{Backoff: retry.Exponential{Base: s}, MaxAttempts: 9, MaxElapsed: 6 * s}, 99))
	assert.Len(t, collect(retry.Policy{Backoff: retry.Constant(forever), MaxAttempts: 4}, 99), 3)
	negative := retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return -s })
	assert.Empty(t, collect(retry.Policy{Backoff: negative}, 99))

	// A call waits for the delays that Delays yields.
	clock := &retrytest.Clock{}
	p = awspreset.JavaV1.Policy("dynamodb")
	p.Clock, p.Rand = clock, retrytest.Seeded(3)
	_ = retry.Do(t.Context(), p, func(context.Context) error { return retry.Transient(errOp) })
	p.Rand = retrytest.Seeded(3)
	assert.Equal(t, clock.Waits(), collect(p, 99))
}
