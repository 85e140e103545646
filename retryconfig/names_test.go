package retryconfig_test

import (
	"errors"
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
		"budget=aws":                    `unknown budget "aws"; valid: none, token, throttle, ratio`,
		"budget=tokn":                   `unknown budget "tokn"; did you mean "token"? Valid: none, token`,
		"budget=token(capacty=1)":       `unknown key "capacty"; did you mean "capacity"? Valid: capacity, cost, timeout, throttled, success, norefund, successonly, deficit`,
		"budget=token(capacity=x)":      `capacity=x is not a number`,
		"budget=token(capacity)":        `"capacity" is not of the form key=value`,
		"budget=token(cost=1 cost=2)":   `key "cost" is given twice`,
		"budget=token(cost=":            `"budget=token" takes keys in parentheses; ")" is missing`,
		"budget=token(cost=1":           `")" is missing`,
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
		"budget=none(ratio=1)":          `budget=none(ratio=1): unknown key "ratio"; valid: none`,
		"limiter=token":                 `unknown limiter "token"; valid: none, adaptive`,
		"limiter=adaptive(clock=1)":     `unknown key "clock"; valid: none`,
		"budget=token budget=any":       `key "budget" is given twice`,
	} {
		_, err := retry.ParsePolicy(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestRegisterPreset(t *testing.T) {
	name := fmt.Sprint("checkout-db-", time.Now().UnixNano()) // a name can be registered only once
	retry.RegisterPreset(name, func(service string) (retry.Policy, error) {
		if service != "" {
			return retry.Policy{}, errors.New("it has no services")
		}
		return retry.Policy{MaxAttempts: 9, Budget: &retry.TokenBudget{}}, nil
	})
	p, err := retry.ParsePolicy(name + " timeout=2s")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{MaxAttempts: 9, AttemptTimeout: 2 * time.Second, Budget: &retry.TokenBudget{}}, p)
	_, err = retry.ParsePolicy(name + " service=s3")
	assert.ErrorContains(t, err, "it has no services")
	_, err = retry.ParsePolicy(name + " base=1s")
	assert.ErrorContains(t, err, `unknown key "base"; valid: service, attempts`)
	_, err = retry.ParsePolicy(name + "x")
	assert.ErrorContains(t, err, ", "+name, "an error lists the presets")
	_, err = retry.ParsePolicy("spread(" + name + "x)")
	assert.NotContains(t, fmt.Sprint(err), ", "+name, "except where no preset may be")
	for _, name := range []string{name, "full", "aws-standard-2026", "", "a b", "a=b", "x(", "é"} {
		assert.Panics(t, func() { retry.RegisterPreset(name, func(string) (retry.Policy, error) { return retry.Policy{}, nil }) }, name)
	}
}
