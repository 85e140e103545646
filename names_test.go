package retry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// TestTextOfBudgets: budgets and limiters have a text, and each call of ParsePolicy makes
// new ones.
func TestTextOfBudgets(t *testing.T) {
	for text, want := range map[string]retry.Budget{
		"token":                                  &retry.TokenBudget{},
		"token:100":                              &retry.TokenBudget{Capacity: 100},
		"token:500:14":                           &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 14, Timeout: 14, Throttled: 14}},
		"token:500:5/10/5":                       &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}},
		"token:1:1:0.1":                          &retry.TokenBudget{Capacity: 1, Costs: retry.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}, Success: 0.1},
		"token:0:0:-1":                           &retry.TokenBudget{Success: -1},
		"token:0:0:0:500:no-refund:success-only": &retry.TokenBudget{Deficit: 500, NoRefund: true, SuccessOnly: true},
		"token:no-refund":                        &retry.TokenBudget{NoRefund: true},
		"throttle":                               &retry.ThrottleBudget{},
		"throttle:100:0.2":                       &retry.ThrottleBudget{MaxTokens: 100, TokenRatio: 0.2},
		"ratio":                                  &retry.RatioBudget{},
		"ratio:0.1":                              &retry.RatioBudget{Ratio: 0.1},
		"ratio:0.1:-1:1m":                        &retry.RatioBudget{Ratio: 0.1, Floor: -1, Window: time.Minute},
		"ratio:0:0:1m30s":                        &retry.RatioBudget{Window: 90 * time.Second},
	} {
		t.Run(text, func(t *testing.T) {
			p, err := retry.ParsePolicy("standard attempts=3 budget=" + text)
			require.NoError(t, err)
			assert.Equal(t, want, p.Budget)
			assert.Equal(t, "standard attempts=3 budget="+text, p.String())
			again, err := retry.ParsePolicy(p.String())
			require.NoError(t, err)
			assert.NotSame(t, p.Budget, again.Budget)
		})
	}
	t.Run("limiter", func(t *testing.T) {
		p, err := retry.ParsePolicy("standard attempts=3 limiter=adaptive")
		require.NoError(t, err)
		assert.Equal(t, &awspreset.AdaptiveLimiter{}, p.Limiter)
		assert.Equal(t, "standard attempts=3 limiter=adaptive", p.String())
		p.Limiter = limiterFunc(nil)
		assert.Equal(t, "standard attempts=3", p.String(), "a Limiter without a text form is omitted")
	})
	t.Run("a preset without its budget or limiter", func(t *testing.T) {
		p := awspreset.GoV2Adaptive.Policy("")
		assert.Equal(t, "aws-go-v2-adaptive", p.String())
		p.Limiter = nil
		assert.Equal(t, "aws-go-v2-adaptive limiter=none", p.String())
		p.Budget = &retry.ThrottleBudget{}
		assert.Equal(t, "aws-go-v2-adaptive budget=throttle limiter=none", p.String())
		p = awspreset.GoV2Standard.Policy("")
		p.Budget = nil
		assert.Equal(t, "aws-go-v2-standard budget=none", p.String())
		parsed, err := retry.ParsePolicy(p.String())
		require.NoError(t, err)
		assert.Nil(t, parsed.Budget)
	})
	for text, want := range map[string]string{
		"budget=aws":              `unknown budget=aws; valid values are none, token, throttle, ratio`,
		"budget=token:x":          `budget=token:x: "x" is not a number`,
		"budget=token:":           `budget=token:: "" is not a number`,
		"budget=token:1:2:3:4:5":  `takes at most 4 values, not 5`,
		"budget=token:1:2/3/4/5":  `takes at most 3 values, not 4`,
		"budget=token:1:2/x":      `"x" is not a number`,
		"budget=token:-1":         `Budget: Capacity -1 is not a number of at least 0`,
		"budget=throttle:1:2:3":   `takes at most 2 values, not 3`,
		"budget=ratio:1:2:3":      `window 3 needs a unit`,
		"budget=ratio:NaN":        `Budget: Ratio is NaN`,
		"limiter=token":           `unknown limiter=token; valid values are none, adaptive`,
		"budget=token budget=any": `key "budget" is given twice`,
		"stagger=-1s":             `Stagger is negative (-1s)`,
	} {
		_, err := retry.ParsePolicy(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestRegisterPreset(t *testing.T) {
	name := fmt.Sprint("checkout-db-", time.Now().UnixNano()) // a name can be registered only once
	retry.RegisterPreset(name, func() retry.Policy { return retry.Policy{MaxAttempts: 9, Budget: &retry.TokenBudget{}} })
	p, err := retry.ParsePolicy(name + " timeout=2s")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{MaxAttempts: 9, AttemptTimeout: 2 * time.Second, Budget: &retry.TokenBudget{}}, p)
	_, err = retry.ParsePolicy(name + " service=s3")
	assert.ErrorContains(t, err, `unknown key "service"`)
	for _, name := range []string{name, "full", "aws-standard-2026", "", "a b", "a=b", "x(", "é"} {
		assert.Panics(t, func() { retry.RegisterPreset(name, func() retry.Policy { return retry.Policy{} }) }, name)
	}
}
