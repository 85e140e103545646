package retrygrpc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/vectors"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestThrottleBudget: with the 10 tokens and the ratio of 0.1 of gRPC's proposal A6,
// five failures stop retries, and ten successes allow one more.
func TestThrottleBudget(t *testing.T) {
	failed := retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}}
	b := &retrygrpc.ThrottleBudget{}
	for i := range 4 {
		require.True(t, b.TryWithdraw(failed), "failure %d", i)
	}
	require.False(t, b.TryWithdraw(failed), "half of the tokens is not more than half")
	for range 9 {
		require.False(t, b.TryWithdraw(failed))
	}
	assert.Zero(t, b.Balance(), "refused failures count, and the balance is never below 0")
	b.Deposit(retry.Attempt{}, errors.New("failed"))
	assert.Zero(t, b.Balance(), "only successes count")
	for range 61 {
		b.Deposit(retry.Attempt{}, nil)
	}
	assert.InDelta(t, 6.1, b.Balance(), 1e-9)
	require.True(t, b.TryWithdraw(failed))
	for range 1000 {
		b.Deposit(retry.Attempt{}, nil)
	}
	assert.Equal(t, 10., b.Balance())

	small := &retrygrpc.ThrottleBudget{MaxTokens: 4, TokenRatio: 1}
	require.True(t, small.TryWithdraw(failed))
	require.False(t, small.TryWithdraw(failed))
	small.Deposit(failed, nil)
	assert.Equal(t, 3., small.Balance())
}

// TestThrottleVectors: a ThrottleBudget is the retryThrottling of gRPC.
func TestThrottleVectors(t *testing.T) {
	type given struct {
		Capacity, Ratio float64
		Events          []struct{ Retry, End string }
	}
	r := vectors.Check(t, "quota/grpc-a6", func(_ string, c given) any {
		b, after := &retrygrpc.ThrottleBudget{MaxTokens: c.Capacity, TokenRatio: c.Ratio}, []map[string]any{}
		for _, e := range c.Events {
			step := make(map[string]any)
			if e.Retry != "" {
				step["granted"] = b.TryWithdraw(retry.Attempt{})
			} else {
				b.Deposit(retry.Attempt{}, nil)
			}
			step["tokens"] = b.Balance()
			after = append(after, step)
		}
		return map[string]any{"after": after}
	})
	assert.Equal(t, r.Answers.All, r.Answers.Of, "%v", r)
}

func TestValidateThrottleBudget(t *testing.T) {
	for want, b := range map[string]*retrygrpc.ThrottleBudget{
		"MaxTokens -1 is not a number of at least 0; TokenRatio NaN is not between 0 and 1": {MaxTokens: -1, TokenRatio: math.NaN()},
		"TokenRatio 10 is not between 0 and 1":                                              {TokenRatio: 10},
		"MaxTokens 2 allows no retry: after a failure, more than half must be left":         {MaxTokens: 2},
	} {
		err := retry.Policy{Budget: b}.Validate()
		assert.EqualError(t, err, "invalid retry policy: Budget: ThrottleBudget: "+want)
		assert.ErrorIs(t, err, retry.ErrInvalid)
	}
	assert.NoError(t, new(retrygrpc.ThrottleBudget).Validate())
	assert.NoError(t, (&retrygrpc.ThrottleBudget{MaxTokens: 3, TokenRatio: 1}).Validate())
}
