package retryconfig_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func TestTextOfBudgets(t *testing.T) {
	for text, want := range map[string]retry.Budget{
		"token":                                             &retry.TokenBudget{},
		"token(capacity=100)":                               &retry.TokenBudget{Capacity: 100},
		"token(capacity=500 cost=14)":                       &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 14, Timeout: 14, Throttled: 14}},
		"token(cost=5 timeout=10)":                          &retry.TokenBudget{Costs: retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}},
		"token(cost=5 timeout=7 throttled=0)":               &retry.TokenBudget{Costs: retry.TokenCosts{Transient: 5, Timeout: 7}},
		"token(cost=0 timeout=5)":                           &retry.TokenBudget{Costs: retry.TokenCosts{Timeout: 5}},
		"token(cost=14 throttled=0)":                        &retry.TokenBudget{Costs: retry.TokenCosts{Transient: 14, Timeout: 14}},
		"token(capacity=1 cost=1 success=0.1)":              &retry.TokenBudget{Capacity: 1, Costs: retry.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}, Success: 0.1},
		"token(success=-1)":                                 &retry.TokenBudget{Success: -1},
		"token(norefund=true successonly=true deficit=500)": &retry.TokenBudget{Deficit: 500, NoRefund: true, SuccessOnly: true},
		"throttle":                               &retry.ThrottleBudget{},
		"throttle(maxtokens=100 tokenratio=0.2)": &retry.ThrottleBudget{MaxTokens: 100, TokenRatio: 0.2},
		"ratio":                                  &retry.RatioBudget{},
		"ratio(ratio=0.1)":                       &retry.RatioBudget{Ratio: 0.1},
		"ratio(ratio=0.1 floor=-1 window=1m)":    &retry.RatioBudget{Ratio: 0.1, Floor: -1, Window: time.Minute},
	} {
		t.Run(text, func(t *testing.T) {
			p, err := retryconfig.Parse("standard attempts=3 budget=" + text)
			require.NoError(t, err)
			assert.Equal(t, want, p.Budget)
			assert.Equal(t, "standard attempts=3 budget="+text, textOf(p))
			again, err := retryconfig.Parse(textOf(p))
			require.NoError(t, err)
			assert.NotSame(t, p.Budget, again.Budget)
		})
	}
}

func TestMistakesInParts(t *testing.T) {
	for text, want := range map[string]string{
		"budget=aws":                    `unknown budget "aws"; valid: none, token, throttle, ratio`,
		"budget=tokn":                   `unknown budget "tokn"; did you mean "token"? Valid: none, token`,
		"budget=token(capacty=1)":       `unknown key "capacty"; did you mean "capacity"? Valid: capacity, cost, timeout, throttled, success, norefund, successonly, deficit`,
		"budget=token(capacity=x)":      `capacity=x is not a number`,
		"budget=token(capacity)":        `"capacity" is not of the form key=value`,
		"budget=token(cost=1 cost=2)":   `key "cost" is given twice`,
		"budget=token(cost=":            `")" is missing after "budget=token("`,
		"budget=token(cost=1":           `")" is missing after "budget=token("`,
		"budget=token (cost=1) )":       `")" is not of the form key=value`,
		"budget=token(cost=x)":          `cost=x is not a number`,
		"budget=token(timeout=x)":       `timeout=x is not a number`,
		"budget=token(cost=0)":          `costs of 0 would mean the default`,
		"budget=token(capacity=-1)":     `Budget: Capacity -1 is not a number of at least 0`,
		"budget=token(capacity=0)":      `capacity=0 would mean the default`,
		"budget=token(success=0)":       `success=0 would mean the default`,
		"budget=throttle(tokenratio=0)": `tokenratio=0 would mean the default`,
		"budget=ratio(ratio=0)":         `ratio=0 would mean the default`,
		"budget=ratio(floor=0)":         `floor=0 would mean the default`,
		"budget=ratio(window=0s)":       `window=0s would mean the default`,
		"budget=ratio(window=3)":        `window=3 needs a unit`,
		"budget=ratio(ratio=NaN)":       `Budget: Ratio is NaN`,
		"budget=none(ratio=1)":          `budget: unknown key "ratio"; valid: none`,
		"limiter=token":                 `unknown limiter "token"; valid: none, adaptive, porter`,
		"limiter=porter(clock=1)":       `limiter: unknown key "clock"; valid: none`,
		"budget=token budget=any":       `key "budget" is given twice`,
		"timeout=-1s":                   `AttemptTimeout is negative (-1s)`,
	} {
		_, err := retryconfig.Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// TestDefaultCosts: a text that changes the cost of one class leaves the default of the
// others.
func TestDefaultCosts(t *testing.T) {
	p, err := retryconfig.Parse("budget=token(timeout=3)")
	require.NoError(t, err)
	changed, standard := p.Budget.(*retry.TokenBudget), &retry.TokenBudget{}
	for class, difference := range map[retry.Class]float64{retry.ClassTransient: 0, retry.ClassTimeout: 14 - 3, retry.ClassThrottled: 0} {
		for _, b := range []*retry.TokenBudget{changed, standard} {
			require.True(t, b.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: class}}))
		}
		assert.InDelta(t, difference, changed.Balance()-standard.Balance(), 1e-9, "%v", class)
		changed, standard = &retry.TokenBudget{Costs: changed.Costs}, &retry.TokenBudget{}
	}
}
