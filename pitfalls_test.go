package retry_test

// Cases in which retry loops in general have gone wrong: overflowing delays,
// waits that outlast a deadline, lost errors, quotas that never fill again.
// The cases are numbered so that they can be run by name.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
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

var (
	errPitfall      = errors.New("no answer")
	errPitfallCause = errors.New("shutting down")

	// The ends and the middle of the numbers that a rule is given.
	pitfallUs = []float64{0, 0.5, math.Nextafter(1, 0)}
)

type (
	pitfallBackoff func(retry.Attempt) time.Duration

	// pitfallUnhashable panics as the key of a map and where it is compared
	// with its like.
	pitfallUnhashable []string
)

func (f pitfallBackoff) Delay(a retry.Attempt, _ float64) time.Duration { return f(a) }
func (e pitfallUnhashable) Error() string                               { return strings.Join(e, ", ") }

// pitfallDo runs p on a virtual clock, with the middle of its delays where p
// does not say otherwise.
func pitfallDo(p retry.Policy, outcomes ...error) (calls int, waits []time.Duration, err error) {
	clock, op := &retrytest.Clock{}, retrytest.Script(outcomes...)
	p.Clock = clock
	if p.Rand == nil {
		p.Rand = retrytest.Fixed(0.5)
	}
	err = retry.Do(context.Background(), p, op.Run)
	return op.Calls(), clock.Waits(), err
}

// pitfallDelays returns the first delays of b.
func pitfallDelays(b retry.Backoff, n int, random func() float64) []time.Duration {
	return slices.Collect(retry.Policy{Backoff: b, MaxAttempts: n + 1, Rand: random}.Delays())
}

// pitfallGaveUp returns the error of a call that gave up.
func pitfallGaveUp(t *testing.T, err error) *retry.Error {
	t.Helper()
	e, ok := err.(*retry.Error)
	require.Truef(t, ok, "%T: %v", err, err)
	return e
}

// pitfallInvalid checks that Validate refuses each rule and names the culprit.
func pitfallInvalid(t *testing.T, culprits map[string]retry.Backoff) {
	t.Helper()
	for culprit, b := range culprits {
		err := retry.Policy{Backoff: b}.Validate()
		if assert.ErrorIs(t, err, retry.ErrInvalid, "%#v", b) {
			assert.ErrorContains(t, err, culprit)
		}
	}
}

// pitfallUniform checks that draws fill the range from lo to hi evenly: each
// tenth of it holds a tenth of the draws, within five standard deviations.
func pitfallUniform(t *testing.T, draws []time.Duration, lo, hi time.Duration) {
	t.Helper()
	var tenths [10]int
	for _, d := range draws {
		if d < lo || d > hi {
			require.Failf(t, "out of range", "%v is not in [%v, %v]", d, lo, hi)
		}
		tenths[min(9, int(10*float64(d-lo)/float64(hi-lo)))]++
	}
	want := float64(len(draws)) / 10
	for i, n := range tenths {
		assert.InDelta(t, want, n, 5*math.Sqrt(want*0.9), "tenth %d: %v", i, tenths)
	}
}

func pitfallMean(draws []time.Duration) float64 {
	var sum float64
	for _, d := range draws {
		sum += float64(d)
	}
	return sum / float64(len(draws))
}

func TestPitfallsArithmetic(t *testing.T) {
	t.Run("P1_huge_growth_saturates", func(t *testing.T) {
		for _, factor := range []float64{1e10, math.MaxFloat64, math.Inf(1)} {
			assert.Equal(t, []time.Duration{time.Hour, forever, forever},
				pitfallDelays(retry.Exponential{Base: time.Hour, Cap: forever, Factor: factor}, 3, nil))
			full := pitfallDelays(retry.FullJitter{Base: time.Hour, Cap: forever, Factor: factor}, 3, retrytest.Fixed(0.5))
			assert.Equal(t, []time.Duration{time.Hour / 2, 1 << 62, 1 << 62}, full)
		}
		assert.Equal(t, []time.Duration{0, 0}, pitfallDelays(retry.FullJitter{Base: -time.Second}, 2, retrytest.Fixed(0.5)))
		pitfallInvalid(t, map[string]retry.Backoff{
			"Factor NaN":                 retry.FullJitter{Base: 1, Factor: math.NaN()},
			"Factor +Inf":                retry.FullJitter{Base: 1, Factor: math.Inf(1)},
			"Factor -Inf":                retry.Exponential{Base: 1, Factor: math.Inf(-1)},
			"Factor -2":                  retry.EqualJitter{Base: 1, Factor: -2},
			"Base -1s":                   retry.FullJitter{Base: -time.Second},
			"Base is 0":                  retry.FullJitter{},
			"delay -1s is negative":      retry.Constant(-time.Second),
			"delay 2 is negative (-1ns)": retry.Schedule{1, -1},
			"Step -1ns":                  retry.Linear{Base: 1, Step: -1},
			"is above Cap 1s":            retry.Fibonacci{Base: time.Minute, Cap: time.Second},
		})
	})
	t.Run("P2_a_jitter_out_of_range_is_none", func(t *testing.T) {
		for _, share := range []float64{-1, math.NaN(), math.Inf(-1)} {
			for _, b := range []retry.Backoff{
				retry.Jittered{Of: retry.Constant(time.Second), Share: share},
				retry.Spread{Of: retry.Constant(time.Second), Fraction: share},
			} {
				calls, waits, err := pitfallDo(retry.Policy{Backoff: b, Rand: retrytest.Fixed(0.9)}, errPitfall, nil)
				require.NoError(t, err)
				assert.Equal(t, 2, calls)
				assert.Equal(t, []time.Duration{time.Second}, waits)
			}
		}
		pitfallInvalid(t, map[string]retry.Backoff{
			"Share -1":     retry.Jittered{Of: retry.Constant(1), Share: -1},
			"Share NaN":    retry.Jittered{Of: retry.Constant(1), Share: math.NaN()},
			"Fraction -1":  retry.Spread{Of: retry.Constant(1), Fraction: -1},
			"Fraction 1.5": retry.Spread{Of: retry.Constant(1), Fraction: 1.5},
		})
	})
	t.Run("P3_floats_are_compared_before_they_are_converted", func(t *testing.T) {
		a := retry.Attempt{Number: 60}
		for _, b := range []retry.Backoff{
			retry.FullJitter{Base: time.Hour, Cap: forever},
			retry.Jittered{Of: retry.Exponential{Base: time.Hour}, Share: 1},
		} {
			assert.Equal(t, time.Duration(1<<62), b.Delay(a, 0.5))
			assert.Equal(t, time.Duration(1<<63-1<<10), b.Delay(a, math.Nextafter(1, 0)))
		}
		assert.GreaterOrEqual(t, retry.FullJitter{Base: time.Hour}.Delay(a, 0.5), time.Duration(1<<62))
	})
	t.Run("P4_growth_without_a_cap_never_falls", func(t *testing.T) {
		for _, b := range []retry.Backoff{
			retry.Exponential{Base: time.Second},
			retry.Fibonacci{Base: time.Second},
			retry.Linear{Base: time.Second, Step: 1 << 60},
		} {
			delays := pitfallDelays(b, 2000, nil)
			assert.Equal(t, time.Second, delays[0])
			assert.True(t, slices.IsSorted(delays), "%T", b)
			assert.Equal(t, forever, delays[len(delays)-1])
		}
		assert.Equal(t, time.Second<<33, retry.Exponential{Base: time.Second}.Delay(retry.Attempt{Number: 34}, 0))
	})
	t.Run("P5_a_huge_factor_or_none_is_no_hot_loop", func(t *testing.T) {
		ms := time.Millisecond
		for _, c := range []struct {
			factor float64
			want   []time.Duration
		}{
			{1e16, []time.Duration{ms, forever, forever, forever}},
			{math.NaN(), []time.Duration{ms, 2 * ms, 4 * ms, 8 * ms}},
			{0.001, []time.Duration{ms, ms, ms, ms}},
		} {
			b := retry.Exponential{Base: ms, Cap: forever, Factor: c.factor}
			_, waits, _ := pitfallDo(retry.Policy{Backoff: b, MaxAttempts: 5}, errPitfall)
			assert.Equal(t, c.want, waits, "factor %v", c.factor)
		}
	})
	t.Run("P5b_no_delay_has_a_second_meaning", func(t *testing.T) {
		for _, d := range []time.Duration{-1, 0, math.MinInt64, forever} {
			calls, waits, err := pitfallDo(retry.Policy{Backoff: pitfallBackoff(func(retry.Attempt) time.Duration { return d })}, errPitfall)
			assert.ErrorIs(t, err, retry.ErrMaxAttempts)
			assert.Equal(t, 3, calls)
			assert.Equal(t, []time.Duration{max(0, d), max(0, d)}, waits)
		}
		// Jitter around one nanosecond, far out of its range.
		calls, waits, err := pitfallDo(retry.Policy{
			Backoff: retry.Spread{Of: retry.Constant(1), Fraction: 3}, MaxAttempts: 1000, Rand: retrytest.Seeded(1),
		}, errPitfall)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.Equal(t, 1000, calls)
		assert.GreaterOrEqual(t, slices.Min(waits), time.Duration(0))
		// The zero Policy waits.
		_, waits, _ = pitfallDo(retry.Policy{}, errPitfall)
		assert.Equal(t, []time.Duration{25 * time.Millisecond, 50 * time.Millisecond}, waits)
	})
	t.Run("P7_a_negative_delay_is_none", func(t *testing.T) {
		for name, b := range map[string]retry.Backoff{
			"constant":     retry.Constant(-1),
			"schedule":     retry.Schedule{-1},
			"linear":       retry.Linear{Base: -1, Step: -1},
			"fibonacci":    retry.Fibonacci{Base: -1},
			"exponential":  retry.Exponential{Base: -1},
			"decorrelated": retry.DecorrelatedJitter{Base: -1},
			"foreign":      pitfallBackoff(func(retry.Attempt) time.Duration { return -1 }),
		} {
			for _, b := range []retry.Backoff{
				b, retry.Capped{Of: b, Cap: time.Second}, retry.Jittered{Of: b, Share: 1},
				retry.Spread{Of: b, Fraction: 0.5}, retry.WhenThrottled{Else: b},
			} {
				_, waits, _ := pitfallDo(retry.Policy{Backoff: b, MaxAttempts: 2}, errPitfall)
				assert.Equal(t, []time.Duration{0}, waits, "%s: %#v", name, b)
			}
			// Whatever a hint rule adds to it is not made shorter.
			_, waits, _ := pitfallDo(retry.Policy{Backoff: b, MaxAttempts: 2, Hint: hintFunc(func(delay, hint time.Duration) (time.Duration, bool) {
				return delay + hint, true
			})}, retry.After(errPitfall, time.Second))
			assert.Equal(t, []time.Duration{time.Second}, waits, name)
		}
		_, waits, _ := pitfallDo(retry.Policy{MaxAttempts: 2, Hint: hintFunc(func(_, _ time.Duration) (time.Duration, bool) {
			return -1, true
		})}, retry.After(errPitfall, time.Second))
		assert.Equal(t, []time.Duration{0}, waits)
	})
	t.Run("P12_no_delay_is_above_the_cap", func(t *testing.T) {
		const limit = time.Second
		exponential := retry.Exponential{Base: 10 * time.Millisecond, Cap: limit, Factor: 1.5}
		rules := map[string]retry.Backoff{
			"exponential":       exponential,
			"full":              retry.FullJitter(exponential),
			"equal":             retry.EqualJitter(exponential),
			"linear":            retry.Linear{Base: limit, Step: 99 * limit, Cap: limit},
			"fibonacci":         retry.Fibonacci{Base: time.Millisecond, Cap: limit},
			"decorrelated":      retry.DecorrelatedJitter{Base: time.Millisecond, Cap: limit},
			"redrawn":           retry.DecorrelatedJitter{Base: time.Millisecond, Cap: limit, Redraw: true},
			"jittered":          retry.Jittered{Of: exponential, Share: 0.9},
			"spread a little":   retry.Spread{Of: exponential, Fraction: 0.2},
			"spread a lot":      retry.Spread{Of: exponential, Fraction: 1},
			"spread of jitter":  retry.Spread{Of: retry.FullJitter(exponential), Fraction: 0.5},
			"spread of capped":  retry.Spread{Of: retry.Capped{Of: retry.Constant(limit), Cap: limit}, Fraction: 0.5},
			"spread by class":   retry.Spread{Of: retry.WhenThrottled{Throttled: exponential, Else: exponential}, Fraction: 0.5},
			"capped spread":     retry.Capped{Of: retry.Spread{Of: retry.Constant(time.Minute), Fraction: 1}, Cap: limit},
			"first above: exp":  retry.Exponential{Base: time.Minute, Cap: limit},
			"first above: full": retry.FullJitter{Base: time.Minute, Cap: limit},
			"first above: eq":   retry.EqualJitter{Base: time.Minute, Cap: limit},
			"first above: lin":  retry.Linear{Base: time.Minute, Cap: limit},
			"first above: fib":  retry.Fibonacci{Base: time.Minute, Cap: limit},
			"first above: dec":  retry.DecorrelatedJitter{Base: time.Minute, Cap: limit},
			"first above: redr": retry.DecorrelatedJitter{Base: time.Minute, Cap: limit, Redraw: true},
		}
		for name, b := range rules {
			for _, random := range []func() float64{retrytest.Seeded(1), retrytest.Fixed(math.Nextafter(1, 0)), retrytest.Fixed(0)} {
				delays := pitfallDelays(b, 500, random)
				assert.GreaterOrEqual(t, slices.Min(delays), time.Duration(0), name)
				assert.LessOrEqual(t, slices.Max(delays), limit, name)
			}
			// The cap does not cut off more than it has to.
			assert.Greater(t, slices.Max(pitfallDelays(b, 500, retrytest.Seeded(1))), limit*9/10, name)
		}
	})
	t.Run("P12_every_rule_stays_in_range_for_every_argument", func(t *testing.T) {
		durations := []time.Duration{math.MinInt64, -1, 0, 1, time.Millisecond, time.Hour, forever}
		factors := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 0.5, 1, 1.5, 2, 1e16, math.MaxFloat64}
		numbers := []int{math.MinInt, -1, 0, 1, 2, 3, 31, 32, 63, 64, 65, 1024, math.MaxInt32, math.MaxInt} // ascending
		check := func(b retry.Backoff, limit time.Duration, rises bool) {
			if limit <= 0 {
				limit = forever
			}
			for _, u := range pitfallUs {
				last := time.Duration(0)
				for _, number := range numbers {
					for _, prev := range []time.Duration{math.MinInt64, time.Second, forever} {
						d := b.Delay(retry.Attempt{Number: number, Waited: prev}, u)
						if d < 0 || d > limit || rises && d < last {
							require.Failf(t, "out of range", "%#v, attempt %d after %v, u %v: %v after %v, cap %v",
								b, number, prev, u, d, last, limit)
						}
						last = d
					}
				}
			}
		}
		for _, base := range durations {
			for _, limit := range durations {
				check(retry.Fibonacci{Base: base, Cap: limit}, limit, true)
				check(retry.DecorrelatedJitter{Base: base, Cap: limit}, limit, false)
				check(retry.DecorrelatedJitter{Base: base, Cap: limit, Redraw: true}, limit, false)
				for _, step := range durations {
					check(retry.Linear{Base: base, Cap: limit, Step: step}, limit, true)
				}
				for _, factor := range factors {
					e := retry.Exponential{Base: base, Cap: limit, Factor: factor}
					check(e, limit, true)
					check(retry.FullJitter(e), limit, true)
					check(retry.EqualJitter(e), limit, true)
					check(retry.Jittered{Of: e, Share: factor}, limit, true)
					check(retry.Spread{Of: e, Fraction: factor}, limit, true)
				}
			}
		}
	})
	t.Run("P13_the_ceiling_before_retry_n_is_base_times_2_to_the_n_minus_1", func(t *testing.T) {
		ceilings := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second}
		e := retry.Exponential{Base: time.Second, Cap: 10 * time.Second}
		for name, c := range map[string]struct {
			b      retry.Backoff
			shares [3]float64 // of the ceiling, for each of pitfallUs
		}{
			"exponential": {e, [3]float64{1, 1, 1}},
			"full":        {retry.FullJitter(e), [3]float64{0, 0.5, 1}},
			"equal":       {retry.EqualJitter(e), [3]float64{0.5, 0.75, 1}},
		} {
			for i, u := range pitfallUs {
				_, waits, _ := pitfallDo(retry.Policy{Backoff: c.b, MaxAttempts: 7, Rand: retrytest.Fixed(u)}, errPitfall)
				require.Len(t, waits, len(ceilings))
				for n, ceiling := range ceilings {
					assert.InDelta(t, c.shares[i]*float64(ceiling), waits[n], 2, "%s, u %v, retry %d", name, u, n+1)
				}
			}
		}
	})
	t.Run("P14_spread_is_symmetric", func(t *testing.T) {
		const n, fraction = 20_000, 0.01
		draws := pitfallDelays(retry.Spread{Of: retry.Constant(time.Second), Fraction: fraction}, n, retrytest.Seeded(1))
		pitfallUniform(t, draws, time.Second-10*time.Millisecond, time.Second+10*time.Millisecond)
		sigma := fraction * float64(time.Second) / math.Sqrt(3*n)
		assert.InDelta(t, time.Second, pitfallMean(draws), 4*sigma)
		// Over a rule that draws too, the two draws must not go together:
		// small with small and large with large would raise the mean.
		draws = pitfallDelays(retry.Spread{Of: retry.Jittered{Of: retry.Constant(time.Second), Share: 1}, Fraction: 0.5}, n, retrytest.Seeded(1))
		assert.InDelta(t, time.Second/2, pitfallMean(draws), 0.01*float64(time.Second))
	})
	t.Run("P15_short_delays_have_fine_jitter", func(t *testing.T) {
		const us = time.Microsecond
		for _, c := range []struct {
			b      retry.Backoff
			lo, hi time.Duration
		}{
			{retry.Spread{Of: retry.Constant(10 * us), Fraction: 0.1}, 9 * us, 11 * us},
			{retry.Jittered{Of: retry.Constant(10 * us), Share: 0.1}, 9 * us, 10 * us},
			{retry.FullJitter{Base: 10 * us, Cap: 10 * us}, 0, 10 * us},
			{retry.EqualJitter{Base: 10 * us, Cap: 10 * us}, 5 * us, 10 * us},
			{retry.DecorrelatedJitter{Base: us, Cap: 3 * us, Redraw: true}, us, 3 * us},
		} {
			draws := pitfallDelays(c.b, 20_000, retrytest.Seeded(1))
			pitfallUniform(t, draws, c.lo, c.hi)
			slices.Sort(draws)
			assert.Greater(t, len(slices.Compact(draws)), 900, "%#v", c.b)
		}
	})
	t.Run("P16_jitter_at_the_cap", func(t *testing.T) {
		at := func(profile awspreset.Preset, u float64) time.Duration {
			return profile.Policy("").Backoff.Delay(retry.Attempt{Number: 20, Class: retry.ClassTransient}, u)
		}
		const limit = 20 * time.Second
		assert.Equal(t, limit, at(awspreset.GoV2Standard, 0), "documented: what the SDK does")
		for _, profile := range []awspreset.Preset{awspreset.GoV2StandardRepaired, awspreset.GoV2Standard2026, awspreset.Standard2026} {
			assert.Equal(t, []time.Duration{0, limit / 2, limit}, []time.Duration{at(profile, 0), at(profile, 0.5), at(profile, 1)}, profile)
		}
	})
	t.Run("P17_a_cap_changes_nothing_below_it", func(t *testing.T) {
		// The first retry of the default waits up to 50 ms, with and without.
		for _, b := range []retry.Backoff{nil, retry.Capped{Cap: 20 * time.Second}, retry.Capped{Cap: 75 * time.Millisecond}} {
			plan := retry.Policy{Backoff: b}.Plan()
			require.Len(t, plan.Retries, 2)
			assert.InDelta(t, 50*time.Millisecond, plan.Retries[0].Max, 1)
		}
		assert.Equal(t, pitfallDelays(nil, 20, retrytest.Seeded(1)),
			pitfallDelays(retry.Capped{Cap: 20 * time.Second}, 20, retrytest.Seeded(1)))
	})
	t.Run("P18_decorrelated_for_10000_attempts", func(t *testing.T) {
		for _, redraw := range []bool{false, true} {
			for _, limit := range []time.Duration{0, time.Second, forever} {
				b := retry.DecorrelatedJitter{Base: time.Millisecond, Cap: limit, Redraw: redraw}
				top := limit
				if top == 0 {
					top = forever
				}
				for _, random := range []func() float64{retrytest.Seeded(1), retrytest.Fixed(math.Nextafter(1, 0))} {
					delays := pitfallDelays(b, 10_000, random)
					require.Len(t, delays, 10_000)
					assert.GreaterOrEqual(t, slices.Min(delays), time.Millisecond, "%#v", b)
					assert.LessOrEqual(t, slices.Max(delays), top, "%#v", b)
				}
				// It gets to the cap, and what is spread out there stays so.
				delays := pitfallDelays(b, 10_000, retrytest.Seeded(1))
				assert.Greater(t, slices.Max(delays), top/10*9)
				if slices.Sort(delays); redraw {
					assert.Greater(t, len(slices.Compact(delays)), 9000)
				}
			}
		}
	})
	t.Run("P41_a_wait_is_compared_without_a_sum_that_overflows", func(t *testing.T) {
		for name, c := range map[string]struct {
			delay, limit, deadline time.Duration
			calls                  int
			reason                 error
		}{
			"time limit": {forever, time.Second, 0, 1, retry.ErrMaxElapsed},
			"deadline":   {forever, 0, time.Hour, 1, context.DeadlineExceeded},
			// An attempt of 300 ms and a wait of 400 ms.
			"to the nanosecond":        {400 * time.Millisecond, 700 * time.Millisecond, 0, 2, retry.ErrMaxElapsed},
			"one nanosecond too short": {400 * time.Millisecond, 700*time.Millisecond - 1, 0, 1, retry.ErrMaxElapsed},
		} {
			ctx, clock, calls := t.Context(), &retrytest.Clock{}, 0
			if c.deadline != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.deadline)
				defer cancel()
			}
			p := retry.Policy{Backoff: retry.Constant(c.delay), MaxElapsed: c.limit, Clock: clock}
			err := retry.Do(ctx, p, func(context.Context) error {
				calls++
				clock.Advance(300 * time.Millisecond)
				return errPitfall
			})
			assert.Equal(t, c.calls, calls, name)
			assert.Len(t, clock.Waits(), c.calls-1, name)
			assert.ErrorIs(t, err, errPitfall, name)
			assert.ErrorIs(t, err, c.reason, name)
			assert.Equal(t, c.delay, pitfallGaveUp(t, err).Next, name)
		}
		// Two of the longest waits do not fit into the longest time.
		calls, waits, err := pitfallDo(retry.Policy{Backoff: retry.Constant(forever), MaxElapsed: forever}, errPitfall)
		assert.ErrorIs(t, err, retry.ErrMaxElapsed)
		assert.Equal(t, 2, calls)
		assert.Equal(t, []time.Duration{forever}, waits)
	})
	t.Run("P46_what_is_nil_has_a_default_or_is_refused", func(t *testing.T) {
		want := pitfallDelays(nil, 5, retrytest.Seeded(1))
		assert.Positive(t, slices.Min(want))
		for _, b := range []retry.Backoff{retry.Capped{}, retry.WhenThrottled{}, retry.WhenThrottled{Throttled: retry.NoDelay{}}} {
			assert.Equal(t, want, pitfallDelays(b, 5, retrytest.Seeded(1)), "%#v", b)
		}
		for _, b := range []retry.Backoff{retry.Jittered{}, retry.Spread{}} { // draws of their own
			assert.LessOrEqual(t, slices.Max(pitfallDelays(b, 5, retrytest.Seeded(1))), 800*time.Millisecond, "%#v", b)
		}
		for culprit, p := range map[string]retry.Policy{
			"Backoff is a nil":   {Backoff: (*retry.FullJitter)(nil)},
			"Capped.Of is nil":   {Backoff: retry.Capped{Cap: 1}},
			"FirstOf[1] is nil":  {Classifier: retry.FirstOf(retry.DefaultClassifier{}, nil)},
			"Classifier is a":    {Classifier: (*retry.DefaultClassifier)(nil)},
			"Budget is a nil":    {Budget: (*retry.TokenBudget)(nil)},
			"Hint is a nil":      {Hint: (*retry.HintOrGiveUp)(nil)},
			"Clock is a nil":     {Clock: (*retrytest.Clock)(nil)},
			"MaxAttempts is neg": {MaxAttempts: -1},
		} {
			err := p.Validate()
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, culprit)
		}
		_, _, err := pitfallDo(retry.Policy{Classifier: retry.FirstOf(nil)}, errPitfall, nil)
		assert.NoError(t, err)

		op := retrytest.Script(nil)
		var none context.Context
		assert.ErrorIs(t, retry.Do(none, retry.Policy{}, op.Run), retry.ErrInvalid)
		assert.ErrorIs(t, retry.Do(t.Context(), retry.Policy{}, nil), retry.ErrInvalid)
		_, err = retry.DoValue[int](t.Context(), retry.Policy{}, nil)
		assert.ErrorIs(t, err, retry.ErrInvalid)
		assert.Zero(t, op.Calls())
	})
}

func TestPitfallsCounting(t *testing.T) { bothWays(t, testPitfallsCounting) }

func testPitfallsCounting(t *testing.T, do doer) {
	t.Run("P6_the_meaning_of_0_attempts", func(t *testing.T) {
		for _, c := range []struct{ max, calls int }{{0, 3}, {1, 1}, {2, 2}, {3, 3}} {
			calls, waits, err := pitfallDo(retry.Policy{MaxAttempts: c.max}, errPitfall)
			assert.Equal(t, c.calls, calls, "MaxAttempts %d", c.max)
			assert.Len(t, waits, c.calls-1)
			assert.ErrorIs(t, err, retry.ErrMaxAttempts)
			assert.ErrorIs(t, err, errPitfall)
			assert.Equal(t, c.calls, pitfallGaveUp(t, err).Attempts)
		}
		calls, _, err := pitfallDo(retry.Policy{MaxAttempts: retry.Unlimited}, append(slices.Repeat([]error{errPitfall}, 999), nil)...)
		assert.NoError(t, err)
		assert.Equal(t, 1000, calls)
		for _, p := range []retry.Policy{{MaxAttempts: -1}, {MaxAttempts: math.MinInt}, {MaxElapsed: -1}, {AttemptTimeout: -1}} {
			calls, _, err := pitfallDo(p, nil)
			assert.ErrorIs(t, err, retry.ErrInvalid, "%+v", p)
			assert.Zero(t, calls, "%+v", p)
		}
	})
	t.Run("P27_the_permanent_marker_always_wins", func(t *testing.T) {
		always := retry.ClassifierFunc(func(error) retry.Class { return retry.ClassTransient })
		for name, err := range map[string]error{
			"bare":            retry.Permanent(errPitfall),
			"wrapped":         fmt.Errorf("page 7: %w", retry.Permanent(errPitfall)),
			"joined":          errors.Join(errors.New("close"), retry.Permanent(errPitfall)),
			"around a status": retry.Permanent(statusedError(503)),
			"around a hint":   retry.Permanent(retry.After(errPitfall, time.Second)),
			"around another":  retry.Permanent(retry.Transient(errPitfall)),
		} {
			for _, p := range []retry.Policy{
				{}, {MaxAttempts: 1}, {MaxAttempts: 3}, {MaxAttempts: retry.Unlimited},
				{Budget: new(retry.TokenBudget), MaxElapsed: time.Hour}, // not the path for bare policies
			} {
				p.Classifier = always
				calls, waits, got := pitfallDo(p, err, nil)
				assert.Equal(t, 1, calls, "%s, MaxAttempts %d", name, p.MaxAttempts)
				assert.Empty(t, waits)
				assert.Same(t, err, got, name)
			}
		}
	})
	t.Run("P28_the_scope_of_markers_in_nested_calls", func(t *testing.T) {
		ctx, p := t.Context(), retry.Policy{Backoff: retry.NoDelay{}}
		for name, c := range map[string]struct {
			inner error
			mark  func(error) error // what the outer operation makes of the inner call's error
			outer int               // calls of the outer operation
			op    int               // calls of the inner one in all
		}{
			"permanent":                     {fmt.Errorf("page 7: %w", retry.Permanent(errPitfall)), nil, 1, 1},
			"permanent, wrapped":            {retry.Permanent(errPitfall), func(err error) error { return fmt.Errorf("outer: %w", err) }, 1, 1},
			"permanent, overruled":          {retry.Permanent(errPitfall), retry.Transient, 3, 3},
			"permanent by class, not known": {statusedError(404), nil, 1, 1},
			"gave up":                       {errPitfall, nil, 1, 3},
			"gave up, wrapped":              {errPitfall, func(err error) error { return fmt.Errorf("outer: %w", err) }, 1, 3},
			"gave up on a transient":        {retry.Transient(errPitfall), nil, 1, 3},
			"gave up, overruled":            {errPitfall, retry.Transient, 3, 9},
		} {
			outer, op := 0, retrytest.Script(c.inner)
			err := do(ctx, p, func(ctx context.Context) error {
				outer++
				err := do(ctx, p, op.Run)
				if c.mark != nil {
					err = c.mark(err)
				}
				return err
			})
			assert.ErrorIs(t, err, c.inner, name)
			assert.Equal(t, c.outer, outer, name)
			assert.Equal(t, c.op, op.Calls(), name)
		}
	})
	t.Run("P30_OnRetry_means_that_a_wait_follows", func(t *testing.T) {
		for name, c := range map[string]struct {
			p        retry.Policy
			timeout  time.Duration // of the context
			outcomes []error
			want     string
		}{
			"attempts used": {retry.Policy{MaxAttempts: 3}, 0, []error{errPitfall},
				"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s retry 2 after 1s; 2s call 3; 2s give up: all attempts used"},
			"one attempt": {retry.Policy{MaxAttempts: 1}, 0, []error{errPitfall},
				"0s call 1; 0s give up: all attempts used"},
			"success": {retry.Policy{}, 0, []error{errPitfall, nil},
				"0s call 1; 0s retry 1 after 1s; 1s call 2"},
			"permanent": {retry.Policy{}, 0, []error{errPitfall, retry.Permanent(errPitfall)},
				"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: permanent failure"},
			"budget": {retry.Policy{Budget: &retry.TokenBudget{Capacity: 14}}, 0, []error{errPitfall},
				"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: client-side retry budget used up"},
			"hint": {retry.Policy{Hint: retry.HintOrGiveUp{}}, 0, []error{errPitfall, retry.After(errPitfall, 2*time.Hour)},
				"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: server asks for too long a wait"},
			"hint followed": {retry.Policy{}, 0, []error{retry.After(errPitfall, time.Minute), nil},
				"0s call 1; 0s retry 1 after 1m0s; 1m0s call 2"},
			"time": {retry.Policy{MaxElapsed: 1500 * time.Millisecond}, 0, []error{errPitfall},
				"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: time limit of the policy"},
			"deadline": {retry.Policy{}, 1500 * time.Millisecond, []error{errPitfall},
				"0s call 1; 0s retry 1 after 1s; 1s call 2; 1s give up: wait would outlast the context: context deadline exceeded"},
			"dead from the start": {retry.Policy{}, -1, []error{errPitfall},
				"0s give up: context deadline exceeded"},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, start := t.Context(), time.Now()
					if c.timeout != 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, c.timeout)
						defer cancel()
					}
					var events []string
					event := func(format string, args ...any) {
						events = append(events, time.Since(start).String()+" "+fmt.Sprintf(format, args...))
					}
					c.p.Backoff = retry.Constant(time.Second)
					c.p.OnRetry = func(_ context.Context, failed retry.Attempt, wait time.Duration) {
						event("retry %d after %v", failed.Number, wait)
					}
					var gaveUp *retry.Error
					c.p.OnGiveUp = func(_ context.Context, e *retry.Error) {
						gaveUp = e
						event("give up: %v", e.Reason)
					}
					op, calls := retrytest.Script(c.outcomes...), 0
					err := do(ctx, c.p, func(ctx context.Context) error {
						calls++
						event("call %d", calls)
						return op.Run(ctx)
					})
					assert.Equal(t, c.want, strings.Join(events, "; "))
					if gaveUp != nil && gaveUp.Reason != retry.ErrPermanent {
						assert.Same(t, gaveUp, err)
					}
				})
			})
		}
	})
	t.Run("P37_the_cap_caps_and_never_stops", func(t *testing.T) {
		const ms = time.Millisecond
		calls, waits, err := pitfallDo(retry.Policy{
			Backoff: retry.Exponential{Base: ms, Cap: 4 * ms}, MaxAttempts: 100,
		}, errPitfall)
		assert.Equal(t, 100, calls)
		assert.Equal(t, append([]time.Duration{ms, 2 * ms}, slices.Repeat([]time.Duration{4 * ms}, 97)...), waits)
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		calls, _, _ = pitfallDo(retry.Policy{Backoff: retry.Capped{Of: retry.Constant(1), Cap: 1}, MaxAttempts: 100}, errPitfall)
		assert.Equal(t, 100, calls)
	})
}

func TestPitfallsSharing(t *testing.T) { bothWays(t, testPitfallsSharing) }

func testPitfallsSharing(t *testing.T, do doer) {
	// P8 also wants to run with -race.
	t.Run("P8_100_goroutines_share_a_policy_and_each_sees_its_own_schedule", func(t *testing.T) {
		const ms = time.Millisecond
		exponential := retry.Exponential{Base: ms, Factor: 10}
		type own struct{} // the key of a call's own list of waits
		for _, c := range []struct {
			b    retry.Backoff
			want []time.Duration
		}{
			{exponential, []time.Duration{ms, 10 * ms, 100 * ms, 1000 * ms}},
			{retry.FullJitter(exponential), []time.Duration{ms / 2, 5 * ms, 50 * ms, 500 * ms}},
			{retry.Schedule{3, 1, 2}, []time.Duration{3, 1, 2, 2}},
			{retry.Fibonacci{Base: ms}, []time.Duration{ms, ms, 2 * ms, 3 * ms}},
			// Base + (3·prev − Base) / 2, from the wait before in the same call.
			{retry.DecorrelatedJitter{Base: 2 * ms}, []time.Duration{4 * ms, 7 * ms, 11500 * time.Microsecond, 18250 * time.Microsecond}},
		} {
			p := retry.Policy{
				Backoff: c.b, MaxAttempts: 5, Rand: retrytest.Fixed(0.5), Clock: new(retrytest.Clock),
				Budget: &retry.TokenBudget{Capacity: 1e6},
				Hooks: retry.Hooks{OnRetry: func(ctx context.Context, _ retry.Attempt, wait time.Duration) {
					waits := ctx.Value(own{}).(*[]time.Duration)
					*waits = append(*waits, wait)
				}},
			}
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					var waits []time.Duration
					mine := fmt.Errorf("failure of %d", i)
					err := do(context.WithValue(context.Background(), own{}, &waits), p, func(context.Context) error {
						runtime.Gosched()
						return mine
					})
					assert.Equal(t, c.want, waits)
					assert.ErrorIs(t, err, mine)
				})
			}
			wg.Wait()
		}
	})
	t.Run("P9_a_policy_is_fresh_for_every_call", func(t *testing.T) {
		p := retry.Policy{MaxAttempts: 4, Backoff: retry.FullJitter{Base: time.Second}}
		_, first, _ := pitfallDo(p, errPitfall)
		require.Len(t, first, 3)
		for range 3 {
			calls, waits, _ := pitfallDo(p, errPitfall)
			assert.Equal(t, 4, calls)
			assert.Equal(t, first, waits)
		}
		synctest.Test(t, func(t *testing.T) {
			p := retry.Policy{MaxAttempts: 100, Backoff: retry.Constant(5 * time.Millisecond), MaxElapsed: 20 * time.Millisecond}
			for range 3 { // the time counts from the start of the call, not of the policy
				time.Sleep(30 * time.Millisecond)
				start, op := time.Now(), retrytest.Script(errPitfall)
				assert.ErrorIs(t, do(t.Context(), p, op.Run), retry.ErrMaxElapsed)
				assert.Equal(t, 5, op.Calls())
				assert.Equal(t, 20*time.Millisecond, time.Since(start))
			}
		})
	})
	t.Run("P32_a_dead_context_leaves_nothing_behind", func(t *testing.T) {
		p := retry.Policy{
			Backoff: retry.NoDelay{}, Budget: new(retry.TokenBudget), AttemptTimeout: time.Hour,
			Limiter: limiterFunc(func(ctx context.Context) error { return ctx.Err() }),
		}
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			op := retrytest.Script(errPitfall)
			assert.ErrorIs(t, do(ctx, p, func(ctx context.Context) error {
				cancel()
				return op.Run(ctx)
			}), context.Canceled)
			assert.Equal(t, 1, op.Calls())

			op = retrytest.Fail(1, errPitfall)
			assert.NoError(t, do(t.Context(), p, op.Run))
			assert.Equal(t, 2, op.Calls())
		}
	})
	t.Run("P43_100_goroutines_in_the_range_that_overflows", func(t *testing.T) {
		rules := []retry.Backoff{
			retry.Exponential{Base: time.Second}, retry.FullJitter{Base: time.Second}, retry.EqualJitter{Base: time.Second},
			retry.Linear{Base: time.Second, Step: 1 << 60}, retry.Fibonacci{Base: time.Second},
			retry.Spread{Of: retry.Exponential{Base: time.Second}, Fraction: 0.1},
		}
		var wrong atomic.Int64
		var wg sync.WaitGroup
		for g := range 100 {
			wg.Go(func() {
				for _, b := range rules {
					last := time.Duration(0)
					for number := 1; number <= 150; number++ {
						d := b.Delay(retry.Attempt{Number: number, Waited: last}, 0.75)
						if d < last || number > 100 && d < forever/4 {
							wrong.Add(1)
						}
						last = d
					}
				}
				if g%10 == 0 {
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		assert.Zero(t, wrong.Load())
	})
	t.Run("P44_calls_and_processes_draw_different_numbers", func(t *testing.T) {
		const env, mark = "RETRY_PITFALLS_SCHEDULE", "schedule: "
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
			// In bubbles the clock always shows the same, so that a seed taken
			// from it would give the same schedule.
			synctest.Test(t, func(*testing.T) { seen[schedule()] = true })
		}
		assert.Len(t, seen, 6)

		executable, err := os.Executable()
		require.NoError(t, err)
		for range 2 {
			cmd := exec.Command(executable, "-test.run=^TestPitfallsSharing$/^Do$/^P44")
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

		// With a seed, for tests, they are the same.
		assert.Equal(t, pitfallDelays(nil, 20, retrytest.Seeded(7)), pitfallDelays(nil, 20, retrytest.Seeded(7)))
	})
	t.Run("P44_a_delay_allocates_nothing", func(t *testing.T) {
		e := retry.Exponential{Base: time.Second, Cap: time.Minute}
		for _, b := range []retry.Backoff{
			nil, e, retry.FullJitter(e), retry.EqualJitter(e), retry.Linear{Base: 1}, retry.Fibonacci{Base: 1}, retry.Schedule{1, 2},
			retry.DecorrelatedJitter{Base: 1}, retry.Jittered{Of: e, Share: 1}, retry.Spread{Of: e, Fraction: 0.1},
			retry.Capped{Of: e, Cap: 1}, retry.WhenThrottled{Else: e},
		} {
			count := func(attempts int) float64 {
				p := retry.Policy{Backoff: b, MaxAttempts: attempts}
				return testing.AllocsPerRun(20, func() {
					for range p.Delays() {
					}
				})
			}
			assert.Equal(t, count(2), count(500), "%#v", b)
		}
	})
}

func TestPitfallsHints(t *testing.T) { bothWays(t, testPitfallsHints) }

func testPitfallsHints(t *testing.T, do doer) {
	const epoch = 1743434408 * time.Second // a date where a number of seconds was due: 55 years
	const delay = 2 * time.Second
	for _, c := range []struct {
		name string
		err  error
		rule retry.HintRule
		want time.Duration
	}{
		{"P10_an_epoch_time_is_clamped", retry.After(errPitfall, epoch), nil, time.Hour},
		{"P10_clamped_to_the_caller's_maximum", retry.After(errPitfall, epoch), retry.HintAtLeast{Max: time.Minute}, time.Minute},
		{"P10_ignored", retry.After(errPitfall, epoch), retry.HintIgnore{}, delay},
		{"P11_the_longest_hint_does_not_overflow", retry.After(errPitfall, forever), nil, time.Hour},
		{"P11_nor_without_a_maximum", retry.After(errPitfall, forever), retry.HintOrGiveUp{Max: forever}, forever},
		{"P11_a_negative_maximum_is_the_default", retry.After(errPitfall, epoch), retry.HintAtLeast{Max: -1}, time.Hour},
		{"P11_a_negative_hint_is_none", retry.After(errPitfall, -time.Hour), nil, delay},
		{"P11_nor_is_the_most_negative_one", retry.After(errPitfall, math.MinInt64), nil, delay},
		{"P11_a_negative_hint_of_a_server_is_none", retryAfter(-time.Hour), nil, delay},
		{"P11_nor_is_the_most_negative_one_of_a_server", retryAfter(math.MinInt64), nil, delay},
		{"P11_a_hint_of_0_is_not_below_the_floor", retryAfter(0), retry.HintOrGiveUp{}, delay},
		{"P11_a_short_hint_is_not_below_the_floor", retryAfter(1), nil, delay},
		{"P19_a_hint_deep_inside_is_clamped_too", fmt.Errorf("get: %w", errors.Join(errPitfall, retryAfter(epoch))), nil, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, waits, err := pitfallDo(retry.Policy{Backoff: retry.Constant(delay), Hint: c.rule}, c.err, nil)
			assert.NoError(t, err)
			assert.Equal(t, []time.Duration{c.want}, waits)
		})
	}
	t.Run("P10_too_long_a_hint_ends_the_call", func(t *testing.T) {
		for _, hint := range []error{retry.After(errPitfall, epoch), fmt.Errorf("get: %w", retryAfter(epoch))} {
			calls, waits, err := pitfallDo(retry.Policy{Hint: retry.HintOrGiveUp{}}, hint, nil)
			assert.Equal(t, 1, calls)
			assert.Empty(t, waits)
			assert.ErrorIs(t, err, retry.ErrHint)
			assert.ErrorIs(t, err, hint)
			assert.Equal(t, epoch, pitfallGaveUp(t, err).Next)
		}
	})
	t.Run("P33_a_hint_neither_shortens_the_wait_nor_resets_growth", func(t *testing.T) {
		const ms = time.Millisecond
		p := retry.Policy{Backoff: retry.Exponential{Base: 10 * ms}, MaxAttempts: 6}
		for hint, third := range map[time.Duration]time.Duration{0: 40 * ms, ms: 40 * ms, time.Second: time.Second} {
			_, waits, _ := pitfallDo(p, errPitfall, errPitfall, retry.After(errPitfall, hint), errPitfall, errPitfall)
			assert.Equal(t, []time.Duration{10 * ms, 20 * ms, third, 80 * ms, 160 * ms}, waits, "hint %v", hint)
		}
		// Nor does a hint on every failure.
		calls, waits, _ := pitfallDo(p, retry.After(errPitfall, 0))
		assert.Equal(t, 6, calls)
		assert.Equal(t, []time.Duration{10 * ms, 20 * ms, 40 * ms, 80 * ms, 160 * ms}, waits)
	})
	t.Run("P35_no_hidden_time_limit_stands_against_a_hint", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start, op := time.Now(), retrytest.Script(retry.After(errPitfall, time.Hour))
			err := do(t.Context(), retry.Policy{MaxAttempts: 50}, op.Run)
			assert.ErrorIs(t, err, retry.ErrMaxAttempts)
			assert.Equal(t, 50, op.Calls())
			assert.Equal(t, 49*time.Hour, time.Since(start))
		})
		// One that was asked for is given as the reason.
		_, _, err := pitfallDo(retry.Policy{MaxElapsed: 15 * time.Minute}, retry.After(errPitfall, time.Hour))
		assert.ErrorIs(t, err, retry.ErrMaxElapsed)
		assert.ErrorContains(t, err, "next wait 1h0m0s")
	})
}

// TestPitfallsContextMatrix has the two halves of the comparison of how calls
// end with their context: before a wait that would outlast it, and before the
// first attempt. A cause of a deadline cannot be known before it has passed,
// so the row of one that passes in an attempt stands for it.
func TestPitfallsContextMatrix(t *testing.T) { bothWays(t, testPitfallsContextMatrix) }

func testPitfallsContextMatrix(t *testing.T, do doer) {
	const delay = 10 * time.Second
	for _, c := range []struct {
		name    string
		timeout time.Duration // with a cause; 0: none
		cancel  time.Duration // with a cause; below 0: before the call, 0: never
		hint    time.Duration
		takes   time.Duration // each attempt

		calls   int
		until   time.Duration
		is      error
		isCause bool
	}{
		{name: "P20_a_wait_that_would_outlast_the_deadline_is_not_begun", timeout: 100 * time.Millisecond,
			calls: 1, until: 0, is: context.DeadlineExceeded},
		{name: "P20_nor_one_that_the_server_asked_for", timeout: 15 * time.Second, hint: time.Minute,
			calls: 1, until: 0, is: context.DeadlineExceeded},
		{name: "P20_what_was_left_after_the_attempt_counts", timeout: 15 * time.Second, takes: 6 * time.Second,
			calls: 1, until: 6 * time.Second, is: context.DeadlineExceeded},
		{name: "P20_a_wait_that_fits_is_made", timeout: 15 * time.Second,
			calls: 2, until: delay, is: context.DeadlineExceeded},
		{name: "P20_a_deadline_that_passes_in_an_attempt", timeout: 100 * time.Millisecond, takes: time.Second,
			calls: 1, until: time.Second, is: context.DeadlineExceeded, isCause: true},
		{name: "P20_a_cancellation_during_the_wait", cancel: 3 * time.Second,
			calls: 1, until: 3 * time.Second, is: context.Canceled, isCause: true},
		{name: "P26_cancelled_before_the_call", cancel: -1,
			calls: 0, until: 0, is: context.Canceled, isCause: true},
		{name: "P26_a_deadline_before_the_call", timeout: -1,
			calls: 0, until: 0, is: context.DeadlineExceeded, isCause: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, bare := range []bool{true, false} { // there is a shorter path for bare policies
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					if c.timeout != 0 {
						var release context.CancelFunc
						ctx, release = context.WithTimeoutCause(ctx, c.timeout, errPitfallCause)
						defer release()
					}
					switch {
					case c.cancel < 0:
						cancel(errPitfallCause)
					case c.cancel > 0:
						time.AfterFunc(c.cancel, func() { cancel(errPitfallCause) })
					}
					calls, start := 0, time.Now()
					op := func(context.Context) error {
						calls++
						time.Sleep(c.takes)
						return retry.After(errPitfall, c.hint)
					}
					bucket := new(retry.TokenBudget)
					p := retry.Policy{Backoff: retry.Constant(delay)}
					if !bare {
						p.Budget, p.MaxElapsed, p.AttemptTimeout = bucket, time.Hour, time.Hour
						p.OnAttempt = func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) { return nil, nil }
						p.Limiter = limiterFunc(func(context.Context) error { return nil })
					}
					err := do(ctx, p, op)
					assert.Equal(t, c.until, time.Since(start))
					assert.Equal(t, c.calls, calls)
					assert.Equal(t, c.calls, pitfallGaveUp(t, err).Attempts)
					assert.ErrorIs(t, err, c.is)
					assert.Equal(t, c.calls > 0, errors.Is(err, errPitfall), "last failure")
					assert.Equal(t, c.isCause, errors.Is(err, errPitfallCause), "cause")
					if !bare && c.cancel <= 0 {
						// A wait that is not begun is not paid for.
						assert.Equal(t, 500-14*float64(max(0, c.calls-1)), bucket.Balance())
					}
				})
			}
		})
	}
}

// TestPitfallsContextProperties crosses the states of a context with the
// outcomes of an operation.
func TestPitfallsContextProperties(t *testing.T) {
	const most, takes, delay = 3, 10 * time.Millisecond, 100 * time.Millisecond
	withCancel := func(after time.Duration, cause error) func(context.Context) (context.Context, func()) {
		return func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			if after < 0 {
				cancel(cause)
				return ctx, func() {}
			}
			timer := time.AfterFunc(after, func() { cancel(cause) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		}
	}
	withTimeout := func(after time.Duration) func(context.Context) (context.Context, func()) {
		return func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, after, errPitfallCause)
			return ctx, cancel
		}
	}
	states := []struct {
		name  string
		make  func(context.Context) (context.Context, func())
		calls int // most that it lets happen
	}{
		{"alive", withCancel(time.Hour, nil), most},
		{"deadline far", withTimeout(time.Hour), most},
		{"cancelled before", withCancel(-1, nil), 0},
		{"cancelled before with a cause", withCancel(-1, errPitfallCause), 0},
		{"deadline before", withTimeout(-1), 0},
		{"cancelled in attempt 1", withCancel(takes/2, errPitfallCause), 1},
		{"cancelled in attempt 2", withCancel(takes+delay+takes/2, nil), 2},
		{"cancelled in wait 1", withCancel(takes+delay/2, errPitfallCause), 1},
		{"cancelled in wait 2", withCancel(2*takes+delay+delay/2, errPitfallCause), 2},
		{"deadline in attempt 1", withTimeout(takes / 2), 1},
		{"deadline in attempt 3", withTimeout(2*takes + 2*delay + takes/2), 3},
		{"deadline in wait 1", withTimeout(takes + delay/2), 1},
		{"deadline at the end of wait 2", withTimeout(2*takes + 2*delay), 2},
	}
	own := func(ctx context.Context) error { return ctx.Err() }
	always := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	operations := []struct {
		name     string
		outcomes []func(context.Context) error
		calls    int
	}{
		{"success", []func(context.Context) error{always(nil)}, 1},
		{"success at 2", []func(context.Context) error{always(errPitfall), always(nil)}, 2},
		{"success at 3", []func(context.Context) error{always(errPitfall), always(errPitfall), always(nil)}, 3},
		{"failure", []func(context.Context) error{always(errPitfall)}, most},
		{"permanent", []func(context.Context) error{always(retry.Permanent(errPitfall))}, 1},
		{"permanent at 2", []func(context.Context) error{always(errPitfall), always(retry.Permanent(errPitfall))}, 2},
		{"a cancellation that is not the caller's", []func(context.Context) error{always(context.Canceled)}, 1},
		{"a deadline that is not the caller's", []func(context.Context) error{always(fmt.Errorf("get: %w", context.DeadlineExceeded))}, most},
		{"the context's error, else success", []func(context.Context) error{own}, 1},
		{"the context's error, else failure", []func(context.Context) error{func(ctx context.Context) error {
			return errors.Join(errPitfall, ctx.Err())
		}}, most},
	}
	for _, state := range states {
		for _, operation := range operations {
			t.Run("P36_"+state.name+"/"+operation.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, release := state.make(t.Context())
					defer release()
					calls, succeeded := 0, false
					var last error
					lastEnd := time.Now()
					value, err := retry.DoValue(ctx, retry.Policy{MaxAttempts: most, Backoff: retry.Constant(delay)},
						func(ctx context.Context) (int, error) {
							assert.NoError(t, ctx.Err(), "an attempt with a dead context")
							calls++
							time.Sleep(takes)
							last = operation.outcomes[min(calls, len(operation.outcomes))-1](ctx)
							succeeded, lastEnd = last == nil, time.Now()
							return calls, last
						})
					// In each state the calls are those that it allows.
					assert.Equal(t, min(state.calls, operation.calls), calls)
					assert.Equal(t, calls, value)
					assert.Equal(t, succeeded, err == nil, "%v", err)
					if err == nil {
						return
					}
					if calls > 0 {
						assert.ErrorIs(t, err, last)
					}
					switch {
					case strings.HasPrefix(operation.name, "permanent") && calls == operation.calls:
						assert.Equal(t, last, err, "a permanent failure stands")
					case ctx.Err() != nil:
						assert.ErrorIs(t, err, ctx.Err())
						assert.ErrorIs(t, err, context.Cause(ctx))
					default:
						assert.Zero(t, time.Since(lastEnd), "waited for nothing")
					}
					if deadline, ok := ctx.Deadline(); ok {
						assert.LessOrEqual(t, time.Since(lastEnd), max(0, deadline.Sub(lastEnd)))
					}
				})
			})
		}
	}
}

// pitfallLate is a clock on which a wait and the context end together, and the
// wait is noticed first: what a select over both does every other time.
type pitfallLate struct {
	retrytest.Clock
	cancel context.CancelFunc
}

func (c *pitfallLate) Sleep(ctx context.Context, d time.Duration) error {
	err := c.Clock.Sleep(ctx, d)
	c.cancel()
	return err
}

func TestPitfallsContext(t *testing.T) { bothWays(t, testPitfallsContext) }

func testPitfallsContext(t *testing.T, do doer) {
	t.Run("P24_the_caller's_context_decides_not_the_error", func(t *testing.T) {
		const limit = 5 * time.Millisecond
		for name, c := range map[string]struct {
			timeout time.Duration // Policy.AttemptTimeout
			op      func(context.Context) error
			took    time.Duration
		}{
			"a limit for each attempt": {limit, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}, 3 * limit},
			"a limit for each attempt, with its cause": {limit, func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("get: %w", context.Cause(ctx))
			}, 3 * limit},
			"a limit of the operation's own": {0, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				<-ctx.Done()
				return ctx.Err()
			}, 3 * limit},
			"a client's limit":           {0, func(context.Context) error { return fmt.Errorf("get: %w", context.DeadlineExceeded) }, 0},
			"a limit in an own type":     {0, func(context.Context) error { return os.ErrDeadlineExceeded }, 0},
			"joined with another reason": {0, func(context.Context) error { return errors.Join(errPitfall, context.DeadlineExceeded) }, 0},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start, calls := time.Now(), 0
					err := do(t.Context(), retry.Policy{Backoff: retry.Constant(time.Second), AttemptTimeout: c.timeout},
						func(ctx context.Context) error {
							calls++
							assert.NoError(t, ctx.Err()) // each attempt has all of its time
							return c.op(ctx)
						})
					assert.ErrorIs(t, err, retry.ErrMaxAttempts)
					assert.Equal(t, 3, calls)
					assert.Equal(t, c.took+2*time.Second, time.Since(start))
				})
			})
		}
	})
	t.Run("P25_no_attempt_after_the_context_ended", func(t *testing.T) {
		const runs = 1000
		for name, end := range map[string]func(p *retry.Policy, cancel context.CancelFunc) (op func()){
			"in the attempt": func(_ *retry.Policy, cancel context.CancelFunc) func() { return cancel },
			"in the hook": func(p *retry.Policy, cancel context.CancelFunc) func() {
				p.OnRetry = func(context.Context, retry.Attempt, time.Duration) { cancel() }
				return func() {}
			},
			"with the wait": func(p *retry.Policy, cancel context.CancelFunc) func() {
				p.Clock = &pitfallLate{cancel: cancel}
				return func() {}
			},
			"while the limiter waits": func(p *retry.Policy, cancel context.CancelFunc) func() {
				calls := 0
				p.Limiter = limiterFunc(func(context.Context) error {
					if calls++; calls == 2 {
						cancel()
					}
					return nil // does not look at the context
				})
				return func() {}
			},
		} {
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				for _, delay := range []retry.Constant{0, 1} {
					calls, reasons := 0, 0
					for range runs {
						ctx, cancel := context.WithCancel(context.Background())
						p := retry.Policy{Backoff: delay}
						inOp := end(&p, cancel)
						err := do(ctx, p, func(context.Context) error {
							calls++
							inOp()
							return errPitfall
						})
						if errors.Is(err, context.Canceled) && errors.Is(err, errPitfall) {
							reasons++
						}
						cancel()
					}
					assert.Equal(t, runs, calls, "delay %v", time.Duration(delay))
					assert.Equal(t, runs, reasons, "delay %v", time.Duration(delay))
				}
			})
		}
	})
}

func TestPitfallsErrors(t *testing.T) { bothWays(t, testPitfallsErrors) }

func testPitfallsErrors(t *testing.T, do doer) {
	t.Run("P29_200000_attempts_leave_a_small_error", func(t *testing.T) {
		const attempts, size = 200_000, 256
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before, calls := heap(), 0
		err := do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: attempts}, func(context.Context) error {
			calls++
			return pitfallUnhashable{string(make([]byte, size)), fmt.Sprintf("failure %d\nof many", calls)}
		})
		grown := heap() - before
		assert.Equal(t, attempts, calls)
		assert.Less(t, grown, int64(attempts*size/20), "memory kept")
		text := err.Error()
		assert.Less(t, len(text), 2*size)
		assert.NotContains(t, text, "\n")
		assert.Contains(t, text, "200000 attempts")
		assert.Contains(t, text, "failure 200000")
		assert.Equal(t, attempts, pitfallGaveUp(t, err).Attempts)

		nodes := 0
		var count func(error)
		count = func(err error) {
			nodes++
			switch e := err.(type) {
			case interface{ Unwrap() []error }:
				for _, err := range e.Unwrap() {
					count(err)
				}
			case interface{ Unwrap() error }:
				count(e.Unwrap())
			}
		}
		count(err)
		assert.Equal(t, 3, nodes, "the error, the last failure and the reason")
	})
	t.Run("P31_errors_that_cannot_be_map_keys", func(t *testing.T) {
		bad := pitfallUnhashable{"bad"}
		for name, c := range map[string]struct {
			p        retry.Policy
			outcomes []error
			calls    int
		}{
			"transient":  {retry.Policy{}, []error{bad}, 3},
			"recovers":   {retry.Policy{Budget: new(retry.TokenBudget)}, []error{bad, nil}, 2},
			"throttling": {retry.Policy{Budget: new(retry.ThrottleBudget), MaxElapsed: time.Hour}, []error{retry.Throttled(bad)}, 3},
			"permanent":  {retry.Policy{Budget: new(retry.RatioBudget)}, []error{retry.Permanent(bad)}, 1},
			"classifier": {retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{}, awspreset.Classifier{Preset: awspreset.JavaV1Legacy})}, []error{errors.Join(bad, bad)}, 1},
			"limiter":    {retry.Policy{Limiter: limiterFunc(func(context.Context) error { return bad })}, nil, 0},
		} {
			gaveUp := false
			c.p.OnGiveUp = func(context.Context, *retry.Error) { gaveUp = true }
			require.NotPanics(t, func() {
				calls, _, err := pitfallDo(c.p, c.outcomes...)
				assert.Equal(t, c.calls, calls, name)
				assert.Equal(t, gaveUp, err != nil, name)
				if err != nil {
					var got pitfallUnhashable
					assert.ErrorAs(t, err, &got, name)
				}
			}, name)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(bad)
		require.NotPanics(t, func() {
			err := do(ctx, retry.Policy{}, retrytest.Script().Run)
			var got pitfallUnhashable
			assert.ErrorAs(t, err, &got)
			assert.ErrorIs(t, err, context.Canceled)
		})
	})
	t.Run("P34_all_wrapping_is_kept", func(t *testing.T) {
		for text, err := range map[string]error{
			"page 7: no answer":       fmt.Errorf("page 7: %w", retry.Permanent(errPitfall)),
			"a: b: no answer":         retry.Permanent(fmt.Errorf("a: %w", retry.Permanent(fmt.Errorf("b: %w", errPitfall)))),
			"page 7: later no answer": fmt.Errorf("page 7: later %w", retry.Permanent(retry.After(errPitfall, 1))),
		} {
			for _, hook := range []func(context.Context, *retry.Error){nil, func(context.Context, *retry.Error) {}} {
				_, _, got := pitfallDo(retry.Policy{Hooks: retry.Hooks{OnGiveUp: hook}}, err)
				assert.Same(t, err, got)
				assert.EqualError(t, got, text)
				assert.ErrorIs(t, got, errPitfall)
			}
		}
		for _, mark := range []func(error) error{
			retry.Transient, retry.Throttled, func(err error) error { return retry.After(err, time.Second) },
		} {
			err := fmt.Errorf("page 7: %w", mark(errPitfall))
			_, _, got := pitfallDo(retry.Policy{}, err)
			assert.Same(t, err, pitfallGaveUp(t, got).Err)
			assert.ErrorContains(t, got, "page 7: no answer")
			assert.ErrorIs(t, got, errPitfall)
		}
	})
}

func TestPitfallsBudgets(t *testing.T) { bothWays(t, testPitfallsBudgets) }

func testPitfallsBudgets(t *testing.T, do doer) {
	t.Run("P38_an_empty_budget_fills_again_with_successes", func(t *testing.T) {
		for name, budget := range map[string]retry.Budget{
			"bucket":               new(retry.TokenBudget),
			"bucket, success only": &retry.TokenBudget{SuccessOnly: true, NoRefund: true},
			"bucket, from empty":   &retry.TokenBudget{Deficit: 500},
			"throttle":             new(retry.ThrottleBudget),
			"ratio":                &retry.RatioBudget{Floor: -1},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // no time passes
					p := retry.Policy{Backoff: retry.NoDelay{}, Budget: budget}
					refused := func() bool {
						return errors.Is(do(t.Context(), p, retrytest.Script(errPitfall).Run), retry.ErrBudget)
					}
					for i := 0; !refused(); i++ {
						require.Less(t, i, 100, "it never refuses")
					}
					assert.True(t, refused(), "it stays empty")
					for range 100 {
						require.NoError(t, do(t.Context(), p, retrytest.Script(nil).Run))
					}
					op := retrytest.Fail(1, errPitfall)
					assert.NoError(t, do(t.Context(), p, op.Run), "it does not fill")
					assert.Equal(t, 2, op.Calls())
				})
			})
		}
		synctest.Test(t, func(t *testing.T) { // by time
			p := retry.Policy{Backoff: retry.NoDelay{}, Budget: &retry.RatioBudget{Ratio: -1, Floor: 0.2}, MaxAttempts: retry.Unlimited}
			for range 2 {
				op := retrytest.Script(errPitfall)
				assert.ErrorIs(t, do(t.Context(), p, op.Run), retry.ErrBudget)
				assert.Equal(t, 3, op.Calls(), "0.2 a second for 10 s are 2 retries")
				time.Sleep(11 * time.Second)
			}
		})
	})
	t.Run("P39_an_answer_that_is_not_retried_gives_back_what_the_retry_cost", func(t *testing.T) {
		for name, c := range map[string]struct {
			bucket   *retry.TokenBudget
			outcomes []error
			balance  float64
		}{
			"404 after a failure":        {&retry.TokenBudget{}, []error{errPitfall, statusedError(404)}, 500},
			"404 after throttling":       {&retry.TokenBudget{}, []error{statusedError(429), statusedError(404)}, 500},
			"marked, after a failure":    {&retry.TokenBudget{}, []error{errPitfall, retry.Permanent(errPitfall)}, 500},
			"404 after two retries":      {&retry.TokenBudget{}, []error{errPitfall, errPitfall, statusedError(404)}, 500 - 14},
			"success":                    {&retry.TokenBudget{}, []error{errPitfall, nil}, 500},
			"gave up":                    {&retry.TokenBudget{}, []error{errPitfall}, 500 - 2*14},
			"404 and only success gives": {&retry.TokenBudget{SuccessOnly: true}, []error{errPitfall, statusedError(404)}, 500 - 14},
		} {
			pitfallDo(retry.Policy{Budget: c.bucket}, c.outcomes...)
			assert.InDelta(t, c.balance, c.bucket.Balance(), 1e-9, name)
		}
		// A quota of one retry is enough for any number of such calls.
		p := retry.Policy{Budget: &retry.TokenBudget{Capacity: 14}}
		for range 100 {
			calls, _, err := pitfallDo(p, errPitfall, statusedError(404))
			require.Equal(t, 2, calls)
			require.Equal(t, statusedError(404), err)
		}
	})
}

func TestPitfallsTimers(t *testing.T) {
	t.Run("P42_nothing_is_left_of_a_wait_that_was_cancelled", func(t *testing.T) {
		for _, clock := range []retry.Clock{nil, retry.SystemClock{}} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start, goroutines := time.Now(), runtime.NumGoroutine()
				err := retry.Do(ctx, retry.Policy{Backoff: retry.Constant(time.Hour), Clock: clock}, retrytest.Script(errPitfall).Run)
				assert.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, time.Second, time.Since(start))
				synctest.Wait()
				assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
			})
		}
	})
	t.Run("P42_the_timer_of_an_attempt_ends_with_the_attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := retry.Policy{Backoff: retry.Constant(time.Second), AttemptTimeout: time.Hour}
			var last context.Context
			calls := 0
			assert.NoError(t, retry.Do(t.Context(), p, func(ctx context.Context) error {
				if last != nil {
					assert.ErrorIs(t, last.Err(), context.Canceled)
				}
				last = ctx
				if calls++; calls < 3 {
					return errPitfall
				}
				return nil
			}))
			assert.ErrorIs(t, last.Err(), context.Canceled)
			assert.Panics(t, func() {
				_ = retry.Do(t.Context(), p, func(ctx context.Context) error {
					last = ctx
					panic("operation")
				})
			})
			assert.ErrorIs(t, last.Err(), context.Canceled)
		})
	})
	t.Run("P42_one_timer_serves_all_waits_of_a_call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		count := func(attempts int) float64 {
			p := retry.Policy{Backoff: retry.Constant(1), MaxAttempts: attempts}
			op := func(context.Context) error { return errPitfall }
			return testing.AllocsPerRun(50, func() { _ = retry.Do(ctx, p, op) })
		}
		assert.Equal(t, count(2), count(12))
		assert.LessOrEqual(t, count(2)-count(1), 4.0, "a timer and its channel")
	})
}
