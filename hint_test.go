package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobackoff/retry/retrytest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

func TestHintRules(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name        string
		rule        retry.HintRule
		delay, hint time.Duration
		want        time.Duration
		ok          bool
	}{
		{"at least, longer hint", retry.HintAtLeast{}, s, 3 * s, 3 * s, true},
		{"at least, longer delay", retry.HintAtLeast{}, 5 * s, 3 * s, 5 * s, true},
		{"at least, above the maximum", retry.HintAtLeast{Max: 2 * s}, s, 3 * s, 2 * s, true},
		{"at least, delay above the maximum", retry.HintAtLeast{Max: 2 * s}, 4 * s, 3 * s, 4 * s, true},
		{"at least, centuries", retry.HintAtLeast{Max: -1}, s, forever, time.Hour, true},
		{"give up, within", retry.HintOrGiveUp{Max: 3 * s}, s, 3 * s, 3 * s, true},
		{"give up, above", retry.HintOrGiveUp{Max: 3*s - 1}, s, 3 * s, 3 * s, false},
		{"give up, within the usual", retry.HintOrGiveUp{}, s, time.Hour, time.Hour, true},
		{"give up, above the usual", retry.HintOrGiveUp{}, s, time.Hour + 1, time.Hour + 1, false},
		{"ignore", retry.HintIgnore{}, s, 3 * s, s, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.rule.Wait(tt.delay, tt.hint)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.ok, ok)
		})
	}
}

// epoch is a Unix time sent as a duration: 55 years.
const epoch = 1743434408 * time.Second

func TestHints(t *testing.T) {
	const delay = 2 * time.Second
	for _, tt := range []struct {
		name string
		err  error
		rule retry.HintRule
		want time.Duration
	}{
		{"55 years count as an hour", retry.After(errOp, epoch), nil, time.Hour},
		{"55 years count as the rule's maximum", retry.After(errOp, epoch), retry.HintAtLeast{Max: time.Minute, Exact: true}, time.Minute},
		{"55 years are ignored", retry.After(errOp, epoch), retry.HintIgnore{}, delay},
		{"the longest hint does not overflow", retry.After(errOp, forever), nil, time.Hour},
		{"the longest hint without a maximum", retry.After(errOp, forever), retry.HintOrGiveUp{Max: forever}, forever},
		{"a negative hint is none", retry.After(errOp, -time.Hour), nil, delay},
		{"the most negative hint is none", retry.After(errOp, math.MinInt64), nil, delay},
		{"a negative hint of a server is none", retryAfter(-time.Hour), nil, delay},
		{"the most negative hint of a server is none", retryAfter(math.MinInt64), nil, delay},
		{"a hint of 0 does not shorten the delay", retryAfter(0), retry.HintOrGiveUp{}, delay},
		{"a short hint does not shorten the delay", retryAfter(1), nil, delay},
		{"a hint deep inside an error", fmt.Errorf("get: %w", errors.Join(errOp, retryAfter(epoch))), nil, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, waits, err := play(t, retry.Policy{Backoff: retry.Constant(delay), Hint: tt.rule}, tt.err, nil)
			assert.NoError(t, err)
			assert.Equal(t, []time.Duration{tt.want}, waits)
		})
	}
}

// TestHintTooLong: HintOrGiveUp ends the call, and the error contains the requested wait.
func TestHintTooLong(t *testing.T) {
	for _, hint := range []error{retry.After(errOp, epoch), fmt.Errorf("get: %w", retryAfter(epoch))} {
		calls, waits, err := play(t, retry.Policy{Hint: retry.HintOrGiveUp{}}, hint, nil)
		assert.Equal(t, 1, calls)
		assert.Empty(t, waits)
		assert.ErrorIs(t, err, retry.ErrHint)
		assert.ErrorIs(t, err, hint)
		assert.Equal(t, epoch, asError(t, err).Next)
	}
}

// TestHintRuleOnlyForHints: a rule is called only for failures with a hint.
func TestHintRuleOnlyForHints(t *testing.T) {
	var asked [][2]time.Duration
	rule := hintFunc(func(delay, hint time.Duration) (time.Duration, bool) {
		asked = append(asked, [2]time.Duration{delay, hint})
		return delay + hint, true
	})
	p := retry.Policy{Backoff: retry.Exponential{Base: time.Second}, Hint: rule, MaxAttempts: 7}
	_, waits, err := play(t, p, errOp, retry.After(errOp, 3*time.Second), retryAfter(0), retry.After(errOp, -1), retryAfter(time.Second), nil)
	require.NoError(t, err)
	const s = time.Second
	assert.Equal(t, [][2]time.Duration{{2 * s, 3 * s}, {16 * s, s}}, asked)
	assert.Equal(t, []time.Duration{s, 5 * s, 4 * s, 8 * s, 17 * s}, waits)
}

// TestHintRuleOfNegativeWaits: a negative wait of a HintRule counts as 0.
func TestHintRuleOfNegativeWaits(t *testing.T) {
	below := hintFunc(func(_, _ time.Duration) (time.Duration, bool) { return -1, true })
	_, waits, _ := play(t, retry.Policy{MaxAttempts: 2, Hint: below}, retry.After(errOp, time.Second))
	assert.Equal(t, []time.Duration{0}, waits)
}

// TestHintKeepsGrowth: a hint lengthens one wait without restarting the growth of
// delays.
func TestHintKeepsGrowth(t *testing.T) {
	p := retry.Policy{Backoff: retry.Exponential{Base: 10 * ms}, MaxAttempts: 6}
	for hint, third := range map[time.Duration]time.Duration{0: 40 * ms, ms: 40 * ms, time.Second: time.Second} {
		_, waits, _ := play(t, p, errOp, errOp, retry.After(errOp, hint), errOp, errOp)
		assert.Equal(t, []time.Duration{10 * ms, 20 * ms, third, 80 * ms, 160 * ms}, waits, "hint %v", hint)
	}
	calls, waits, _ := play(t, p, retry.After(errOp, 0))
	assert.Equal(t, 6, calls)
	assert.Equal(t, []time.Duration{10 * ms, 20 * ms, 40 * ms, 80 * ms, 160 * ms}, waits, "hints of 0")
}

// TestHintsAreSpread: clients to which a server gave the same hint do not return together.
func TestHintsAreSpread(t *testing.T) {
	const s = time.Second
	most := math.Nextafter(1, 0)
	next := func(p retry.Policy, u float64, err error) time.Duration {
		p.Rand = retrytest.Fixed(u)
		p.Backoff = retry.Constant(s)
		wait, reason := p.Resume(0, 0, 0).Failed(t.Context(), err)
		assert.NoError(t, reason)
		return wait
	}
	busy := retry.After(errOp, 30*s)
	for name, p := range map[string]retry.Policy{
		"nil": {}, "at least": {Hint: retry.HintAtLeast{}}, "or give up": {Hint: retry.HintOrGiveUp{}},
		"a pointer": {Hint: &retry.HintAtLeast{}}, "another pointer": {Hint: &retry.HintOrGiveUp{}},
		"embedded": {Hint: struct{ retry.HintAtLeast }{}}, "embedded pointer": {Hint: struct{ *retry.HintAtLeast }{&retry.HintAtLeast{}}},
	} {
		assert.Equal(t, 30*s, next(p, 0, busy), name)
		assert.Equal(t, 31500*ms, next(p, 0.5, busy), name)
		assert.InDelta(t, 33*s, next(p, most, busy), 10, name)
	}
	for name, rule := range map[string]retry.HintRule{
		"at least, exactly": retry.HintAtLeast{Exact: true}, "or give up, exactly": retry.HintOrGiveUp{Exact: true},
		"pointer, exactly": &retry.HintAtLeast{Exact: true}, "embedded, exactly": struct{ retry.HintOrGiveUp }{retry.HintOrGiveUp{Exact: true}},
		"of a program's own": hintFunc(func(_, hint time.Duration) (time.Duration, bool) { return hint, true }),
	} {
		assert.Equal(t, 30*s, next(retry.Policy{Hint: rule}, most, busy), name)
	}
	assert.Equal(t, s, next(retry.Policy{}, most, retry.After(errOp, s)), "the delay is as long")
	assert.Equal(t, forever, next(retry.Policy{Hint: retry.HintOrGiveUp{Max: forever}}, most, retry.After(errOp, forever)))
	assert.Equal(t, 66*time.Minute, next(retry.Policy{}, most, retry.After(errOp, forever)).Round(s), "of the longest hint that counts")
	assert.Equal(t, 31*s, next(retry.Policy{MaxElapsed: 31 * s}, most, busy), "no longer than the time limit")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 31*s)
		defer cancel()
		assert.NoError(t, retry.Do(ctx, retry.Policy{Rand: retrytest.Fixed(most)}, retrytest.Fail(1, busy).Run), "no longer than the deadline")
	})
	waits := map[time.Duration]bool{}
	for range 200 {
		_, got, _ := play(t, retry.Policy{Hint: retry.HintAtLeast{}, Rand: rand.Float64}, busy, nil)
		waits[got[0].Round(s/10)] = true
	}
	assert.Greater(t, len(waits), 20)
}

// TestHintAndTimeLimit: waits for hints add up without a limit, unless MaxElapsed is set.
func TestHintAndTimeLimit(t *testing.T) {
	calls, waits, err := play(t, retry.Policy{MaxAttempts: 50}, retry.After(errOp, time.Hour))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 50, calls)
	assert.Equal(t, slices.Repeat([]time.Duration{time.Hour}, 49), waits)

	_, _, err = play(t, retry.Policy{MaxElapsed: 15 * time.Minute}, retry.After(errOp, time.Hour))
	assert.ErrorIs(t, err, retry.ErrMaxElapsed)
	assert.ErrorContains(t, err, "next wait 1h0m0s")
}
