package adapt_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
)

func TestDelayForDecides(t *testing.T) {
	short := doubling
	short.MaxElapsed = 5 * time.Second
	for name, tt := range map[string]struct {
		policy retry.Policy
		failed int
		err    error
		want   time.Duration
		reason error
	}{
		"first":                 {doubling, 1, errOp, time.Second, nil},
		"below first":           {doubling, -5, errOp, time.Second, nil},
		"third":                 {doubling, 3, errOp, 4 * time.Second, nil},
		"attempts":              {doubling, 4, errOp, 0, retry.ErrMaxAttempts},
		"permanent":             {doubling, 1, retry.Permanent(errOp), 0, retry.ErrPermanent},
		"unrepeatable":          {doubling, 1, retry.Unrepeatable(errOp), 0, retry.ErrUnrepeatable},
		"gave up":               {doubling, 2, fmt.Errorf("call: %w", &retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts}), 2 * time.Second, nil},
		"gave up, permanent":    {doubling, 1, &retry.Error{Err: retry.Permanent(errOp), Reason: retry.ErrMaxAttempts}, 0, retry.ErrPermanent},
		"gave up, unrepeatable": {doubling, 1, &retry.Error{Err: errOp, Reason: retry.ErrUnrepeatable}, 0, retry.ErrUnrepeatable},
		"gave up for a hint":    {doubling, 1, &retry.Error{Err: retry.After(errOp, time.Minute), Reason: retry.ErrHint}, time.Minute, nil},
		"hint":                  {doubling, 1, retry.After(errOp, time.Minute), time.Minute, nil},
		"progress":              {doubling, 4, retry.Progress(errOp), time.Second, nil},
		"elapsed":               {short, 3, errOp, 4 * time.Second, retry.ErrMaxElapsed},
		"no error":              {doubling, 1, nil, 0, retry.ErrInvalid},
		"no end":                {retry.Policy{Backoff: doubling.Backoff, MaxAttempts: retry.Unlimited}, math.MaxInt, errOp, math.MaxInt64, nil},
	} {
		t.Run(name, func(t *testing.T) {
			wait, reason := adapt.DelayFor(tt.policy, "id", tt.failed, tt.err)
			assert.ErrorIs(t, reason, tt.reason)
			assert.Equal(t, tt.want, wait)
		})
	}
}

// TestDelayForCanceled: what only the end of a context has ended is not counted. The wait is that
// of the Backoff, whatever the limits of the policy.
func TestDelayForCanceled(t *testing.T) {
	over := retry.Policy{Backoff: retry.Schedule{time.Second, time.Minute}, MaxElapsed: time.Second, Budget: retry.NoBudget{}}
	empty := doubling
	empty.Budget = &awspreset.TokenBudget{Capacity: 1, Deficit: 1}
	own := doubling
	own.Classifier = retry.OnlyIf(func(error) bool { return false })
	for name, tt := range map[string]struct {
		policy retry.Policy
		failed int
		err    error
		want   time.Duration
		reason error
	}{
		"the first attempt":       {doubling, 1, context.Canceled, time.Second, nil},
		"the last attempt":        {doubling, 4, context.Canceled, 8 * time.Second, nil},
		"after the last attempt":  {doubling, 7, context.Canceled, 64 * time.Second, nil},
		"wrapped":                 {doubling, 4, fmt.Errorf("query: %w", context.Canceled), 8 * time.Second, nil},
		"a loop, after a failure": {doubling, 4, gaveUp(errOp, context.Canceled), 8 * time.Second, nil},
		"a loop, in a call":       {doubling, 4, gaveUp(context.Canceled, context.Canceled), 8 * time.Second, nil},
		"a loop, with a cause":    {doubling, 4, gaveUp(errOp, fmt.Errorf("%w: %w", context.Canceled, errOp)), 8 * time.Second, nil},
		"marked transient":        {doubling, 4, retry.Transient(context.Canceled), 8 * time.Second, nil},
		"no further delay":        {over, 3, context.Canceled, time.Minute, nil},
		"an empty budget":         {empty, 1, context.Canceled, time.Second, nil},
		"a classifier":            {own, 1, context.Canceled, time.Second, nil},
		"marked permanent":        {doubling, 1, retry.Permanent(context.Canceled), 0, retry.ErrPermanent},
		"unrepeatable":            {doubling, 1, retry.Unrepeatable(context.Canceled), 0, retry.ErrUnrepeatable},
		"a loop, permanent":       {doubling, 1, gaveUp(retry.Permanent(errOp), context.Canceled), 0, retry.ErrPermanent},
		"a loop, deadline":        {doubling, 4, gaveUp(errOp, context.DeadlineExceeded), 0, retry.ErrMaxAttempts},
		"beside another failure":  {doubling, 4, errors.Join(errOp, context.Canceled), 0, retry.ErrMaxAttempts},
	} {
		t.Run(name, func(t *testing.T) {
			wait, reason := adapt.DelayFor(tt.policy, "id", tt.failed, tt.err)
			assert.ErrorIs(t, reason, tt.reason)
			assert.Equal(t, tt.want, wait)
		})
	}
}

// TestDelayForNoID: messages without an id do not wait alike.
func TestDelayForNoID(t *testing.T) {
	policy := retry.Policy{Backoff: retry.FullJitter{Base: time.Hour}}
	first, reason := adapt.DelayFor(policy, "", 1, errOp)
	require.NoError(t, reason)
	second, reason := adapt.DelayFor(policy, "", 1, errOp)
	require.NoError(t, reason)
	assert.NotEqual(t, first, second)
}

func TestDelayForBudget(t *testing.T) {
	budget := &awspreset.TokenBudget{}
	policy := doubling
	policy.Budget = budget
	_, reason := adapt.DelayFor(policy, "id", 3, errOp)
	require.NoError(t, reason)
	assert.EqualValues(t, 486, budget.Balance(), "one retry, not three")
}

func chain(policy retry.Policy, id string) []time.Duration {
	var delays []time.Duration
	for failed := 1; ; failed++ {
		d, reason := adapt.DelayFor(policy, id, failed, errOp)
		if reason != nil {
			return delays
		}
		delays = append(delays, d)
	}
}

// TestDelayForChain: every worker computes the same chain, and each delay is drawn from
// the previous one.
func TestDelayForChain(t *testing.T) {
	policy := retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: time.Hour}, MaxAttempts: 10}
	for i := range 100 {
		id := fmt.Sprint("message ", i)
		delays := chain(policy, id)
		require.Len(t, delays, 9)
		assert.Equal(t, delays, chain(policy, id))
		before := time.Second
		for _, d := range delays {
			assert.GreaterOrEqual(t, d, time.Second)
			assert.LessOrEqual(t, d, 3*before)
			before = d
		}
	}
	// Later versions must compute the same chains, because messages may be waiting during
	// an upgrade.
	full := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxAttempts: 4}
	assert.Equal(t, []time.Duration{27777521, 400365780, 705451618}, chain(full, "order-4711"))
}

// TestDelayForUniform: the random numbers of similar ids and of consecutive attempts are
// uniform and independent.
func TestDelayForUniform(t *testing.T) {
	const ids, attempts = 2000, 10
	policy := retry.Policy{Backoff: retry.BackoffFunc(func(_ retry.Attempt, u float64) time.Duration {
		return time.Duration(u * 1e6)
	}), MaxAttempts: attempts + 1}
	var all, next []float64
	byID := make([][]float64, attempts)
	for i := range ids {
		for n, d := range chain(policy, fmt.Sprint(i)) {
			u := float64(d)/1e6 - 0.5
			all, byID[n] = append(all, u), append(byID[n], u)
			if n > 0 {
				next = append(next, u*all[len(all)-2])
			}
		}
	}
	mean := func(values []float64) float64 {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	const sigma = 0.28867513 // of a uniform number
	assert.InDelta(t, 0, mean(all), 4*sigma/math.Sqrt(ids*attempts))
	assert.InDelta(t, 0, mean(next), 4*sigma*sigma/math.Sqrt(ids*(attempts-1)), "attempts of one message")
	for n, values := range byID {
		assert.InDelta(t, 0, mean(values), 4*sigma/math.Sqrt(ids))
		var neighbors []float64
		for i := 1; i < len(values); i++ {
			neighbors = append(neighbors, values[i]*values[i-1])
		}
		assert.InDelta(t, 0, mean(neighbors), 4*sigma*sigma/math.Sqrt(ids), "attempt %d of consecutive messages", n+1)
		slices.Sort(values)
		for i, v := range values { // Kolmogorov-Smirnov test, exceeded by chance once in 1,000
			assert.InDelta(t, float64(i)/ids-0.5, v, 1.95/math.Sqrt(ids)+1e-3)
		}
	}
}

func BenchmarkDelayFor(b *testing.B) {
	policy := retry.Policy{MaxAttempts: retry.Unlimited}
	for _, failed := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint(failed), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = adapt.DelayFor(policy, "message", failed, errOp)
			}
		})
	}
}
