package awspreset_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func classed(class retry.Class) retry.Attempt {
	return retry.Attempt{Number: 1, Err: errOp, Verdict: retry.Verdict{Class: class}}
}

func TestTokenBudget(t *testing.T) {
	const (
		none      = retry.ClassUnknown
		transient = retry.ClassTransient
		timeout   = retry.ClassTimeout
		throttled = retry.ClassThrottled
	)
	type step struct {
		do      string // withdraw, refuse, success, permanent
		class   retry.Class
		balance float64
	}
	botocore := func() *awspreset.TokenBudget {
		return &awspreset.TokenBudget{Capacity: 500, Costs: awspreset.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}, SuccessOnly: true}
	}
	tests := []struct {
		name   string
		bucket *awspreset.TokenBudget
		steps  []step
	}{
		{"the zero value is the standard quota", &awspreset.TokenBudget{}, []step{
			{"withdraw", transient, 486}, {"withdraw", throttled, 481}, {"withdraw", timeout, 467},
			{"success", timeout, 481}, {"success", none, 482},
		}},
		{"never above capacity", &awspreset.TokenBudget{}, []step{{"success", none, 500}, {"success", transient, 500}}},
		{"a success refunds the last retry only", botocore(), []step{
			{"withdraw", timeout, 490}, {"withdraw", transient, 485}, {"success", transient, 490}, {"success", none, 491},
		}},
		{"a permanent failure counts as a response", &awspreset.TokenBudget{}, []step{
			{"withdraw", transient, 486}, {"withdraw", transient, 472}, {"permanent", transient, 486}, {"permanent", none, 487},
		}},
		{"a permanent failure, as in the AWS SDKs", botocore(), []step{{"withdraw", transient, 495}, {"permanent", transient, 495}}},
		{"empty and full again", &awspreset.TokenBudget{Capacity: 14}, []step{
			{"withdraw", transient, 0}, {"refuse", transient, 0}, {"refuse", throttled, 0},
			{"success", none, 1}, {"refuse", throttled, 1}, {"success", transient, 14}, {"withdraw", transient, 0},
		}},
		{"not enough is not taken", &awspreset.TokenBudget{Capacity: 13}, []step{{"refuse", transient, 13}, {"withdraw", throttled, 8}}},
		{"nothing for a success", &awspreset.TokenBudget{Success: -1}, []step{
			{"withdraw", transient, 486}, {"success", none, 486}, {"success", transient, 500},
		}},
		{"free of cost", &awspreset.TokenBudget{Capacity: 5, Costs: awspreset.TokenCosts{Transient: 5}}, []step{
			{"withdraw", transient, 0}, {"withdraw", throttled, 0}, {"success", throttled, 1},
		}},
		{"starting empty", &awspreset.TokenBudget{Capacity: 10, Deficit: 10, Costs: awspreset.TokenCosts{Transient: 1}, Success: 0.1, NoRefund: true}, []step{
			{"refuse", transient, 0}, {"success", none, 0.1}, {"success", transient, 0.2}, {"refuse", transient, 0.2},
		}},
		{"starting empty, filling up", &awspreset.TokenBudget{Capacity: 2, Deficit: 2, Costs: awspreset.TokenCosts{Transient: 1}, Success: 1.5}, []step{
			{"success", none, 1.5}, {"success", none, 2}, {"withdraw", transient, 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, s := range tt.steps {
				switch s.do {
				case "withdraw":
					require.True(t, tt.bucket.TryWithdraw(classed(s.class)), "step %d", i)
				case "refuse":
					require.False(t, tt.bucket.TryWithdraw(classed(s.class)), "step %d", i)
				default:
					paid := classed(s.class)
					if s.class == none {
						paid = retry.Attempt{}
					}
					var err error
					if s.do != "success" {
						err = errOp
					}
					tt.bucket.Deposit(paid, err)
				}
				require.Equal(t, s.balance, tt.bucket.Balance(), "step %d", i)
			}
		})
	}
}

// TestTokenBudgetConcurrently: concurrent callers get no more tokens than there are, and
// what they return adds up.
func TestTokenBudgetConcurrently(t *testing.T) {
	b := &awspreset.TokenBudget{Capacity: 1e6, Costs: awspreset.TokenCosts{Transient: 3}}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 100 {
				if b.TryWithdraw(classed(retry.ClassTransient)) {
					b.Deposit(classed(retry.ClassTransient), nil)
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1e6, b.Balance())
}

func TestValidateTokenBudget(t *testing.T) {
	for want, b := range map[string]*awspreset.TokenBudget{
		"Capacity -1 is not a number of at least 0; Success NaN is not a number of at least 0; Costs.Timeout -1 is not a number of at least 0": {
			Capacity: -1, Success: math.NaN(), Costs: awspreset.TokenCosts{Timeout: -1},
		},
		"Deficit is above Capacity": {Deficit: 501},
		"Capacity 4 is below the cost 5 of a retry, so there would be no retry": {Capacity: 4},
		"Capacity 1 is below the cost 2 of a retry, so there would be no retry": {Capacity: 1, Costs: awspreset.TokenCosts{Transient: 2, Timeout: 2, Throttled: 3}},
	} {
		err := retry.Policy{Budget: b}.Validate()
		assert.EqualError(t, err, "invalid retry policy: Budget: TokenBudget: "+want)
		assert.ErrorIs(t, err, retry.ErrInvalid)
	}
	for _, b := range []*awspreset.TokenBudget{
		{}, {Success: -1}, {Deficit: 500}, {Capacity: math.MaxFloat64}, {Capacity: 5},
		{Capacity: 1, Costs: awspreset.TokenCosts{Transient: 2, Timeout: 2}}, // free after throttling
	} {
		assert.NoError(t, b.Validate())
	}
}
