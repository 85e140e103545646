package awspreset_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

func FuzzBackoff(f *testing.F) {
	f.Add(int64(0), int64(0), 0, 0.0)
	f.Add(int64(100*ms), int64(20*time.Second), 3, 0.5)
	f.Add(int64(math.MinInt64), int64(-1), math.MinInt, math.NaN())
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), math.MaxInt, almost1)
	f.Fuzz(func(t *testing.T, base, limit int64, number int, u float64) {
		most := time.Duration(limit)
		if limit <= 0 {
			most = math.MaxInt64
		}
		for _, rule := range []retry.Backoff{
			awspreset.WholeFull(time.Duration(base), time.Duration(limit)),
			awspreset.JavaFull(time.Duration(base), time.Duration(limit)),
			awspreset.JavaEqual(time.Duration(base), time.Duration(limit)),
			awspreset.GoV2Full(time.Duration(limit)),
			awspreset.GoV1Equal(time.Duration(base), time.Duration(limit)),
		} {
			a := retry.Attempt{Number: number, Verdict: retry.Verdict{Class: retry.ClassTransient}}
			d := rule.Delay(a, u)
			if d < 0 || d > most {
				t.Errorf("%v.Delay(%d, %v) = %v, not in [0, %v]", rule, number, u, d, most)
			}
			if again := rule.Delay(a, u); again != d {
				t.Errorf("%v.Delay(%d, %v) = %v and then %v", rule, number, u, d, again)
			}
		}
	})
}

func TestPresetBackoffKeepsTheContract(t *testing.T) {
	for preset := range awspreset.All() {
		t.Run(preset.String(), func(t *testing.T) { retrytest.TestBackoff(t, preset.Policy("").Backoff) })
	}
}

// TestGoV1Delays checks the rule with the SDK's own arithmetic. If a delay exceeds the cap, the
// SDK draws another number; where that happens for some numbers only, the rules differ.
func TestGoV1Delays(t *testing.T) {
	least := map[retry.Class]time.Duration{retry.ClassTransient: 30 * ms, retry.ClassThrottled: 500 * ms}
	for class, least := range least {
		p := awspreset.GoV1.Policy("")
		for retries := range 40 {
			for _, u := range []float64{0, 0.1, 1.0 / 3, 0.7, almost1} {
				draw := func(d time.Duration) time.Duration { return time.Duration(u*float64(d)) + d }
				longest := 2 * least << min(retries, 30)
				want := time.Duration(1<<min(retries, 30)) * draw(least)
				if longest > 300*time.Second {
					want = draw(150 * time.Second)
				}
				got := p.Backoff.Delay(retry.Attempt{Number: retries + 1, Verdict: retry.Verdict{Class: class}}, u)
				assert.Equal(t, want, got, "retry %d, class %v, random %v", retries, class, u)
			}
		}
	}
}

// TestJitterAtTheCap: delays at the cap are spread out, except those of GoV2Standard20, which
// have no jitter there.
func TestJitterAtTheCap(t *testing.T) {
	const limit = 20 * time.Second
	for preset, want := range map[awspreset.Preset][]time.Duration{
		awspreset.GoV2Standard20:     {limit, limit, limit},
		awspreset.BotocoreStandard20: {0, limit / 2, limit},
		awspreset.GoV1:               {15 * limit / 2, 45 * limit / 4, 15 * limit},
		awspreset.Standard21:         {0, limit / 2, limit},
	} {
		var got []time.Duration
		for _, u := range []float64{0, 0.5, 1} {
			a := retry.Attempt{Number: 20, Verdict: retry.Verdict{Class: retry.ClassTransient}}
			got = append(got, preset.Policy("").Backoff.Delay(a, u))
		}
		assert.Equal(t, want, got, preset)
	}
}
