package retryconfig_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func TestTextOfBudgets(t *testing.T) {
	for text, want := range map[string]retry.Budget{
		"shared":            &retry.SharedBudget{},
		"shared(reserve=1)": &retry.SharedBudget{Reserve: 1},
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
		"budget=aws":                         `unknown budget "aws"; valid: shared, none, default`,
		"budget=shard":                       `unknown budget "shard"; did you mean "shared"?`,
		"budget=shared(resrve=1)":            `unknown key "resrve"; did you mean "reserve"?`,
		"budget=shared(reserve=x)":           `reserve=x is not a number`,
		"budget=shared(reserve)":             `"reserve" is not of the form key=value`,
		"budget=shared(reserve=1 reserve=2)": `key "reserve" is given twice`,
		"budget=shared(reserve=":             `")" is missing after "budget=shared("`,
		"budget=shared(reserve=1":            `")" is missing after "budget=shared("`,
		"budget=shared (reserve=1) )":        `")" is not of the form key=value`,
		"budget=shared(reserve=0)":           `reserve=0 would mean the default`,
		"budget=shared(reserve=0.5)":         `Budget: Reserve 0.5 is below 1`,
		"budget=shared(reserve=NaN)":         `Budget: Reserve NaN is not a number`,
		"budget=none(ratio=1)":               `budget: unknown key "ratio"; valid: none`,
		"limiter=token":                      `unknown limiter "token"; valid: none, adaptive, adaptive-botocore, porter`,
		"limiter=porter(clock=1)":            `limiter: unknown key "clock"; valid: none`,
		"budget=shared budget=any":           `key "budget" is given twice`,
		"timeout=-1s":                        `timeout is negative (-1s)`,
	} {
		_, err := retryconfig.Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// TestBudgetNames: none is a budget that never refuses, and default is a missing one.
func TestBudgetNames(t *testing.T) {
	p, err := retryconfig.Parse("standard attempts=3 budget=none")
	require.NoError(t, err)
	assert.Equal(t, retry.NoBudget{}, p.Budget)
	assert.Equal(t, "standard attempts=3 budget=none", textOf(p))
	p, err = retryconfig.Parse("standard attempts=3 budget=default")
	require.NoError(t, err)
	assert.Nil(t, p.Budget)
	assert.Equal(t, "standard attempts=3", textOf(p))
}
