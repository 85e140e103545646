package retry_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// strictBackoff has a Validate method with a pointer receiver.
type strictBackoff struct{}

func (strictBackoff) Delay(retry.Attempt, float64) time.Duration { return time.Second }
func (*strictBackoff) Validate() error                           { return errors.New("not strict enough") }

func TestValid(t *testing.T) {
	valid := []retry.Policy{
		{},
		{MaxAttempts: retry.Unlimited, MaxElapsed: time.Hour, AttemptTimeout: time.Second, Backoff: retry.FullJitter{}},
		{MaxAttempts: retry.Unlimited, Backoff: retry.FullJitter{Cap: time.Minute}},
		{MaxAttempts: retry.Unlimited, Backoff: retry.Linear{Base: time.Second}},
		{MaxAttempts: retry.Unlimited, Backoff: retry.Constant(forever)},
		{MaxElapsed: time.Hour, Backoff: retry.Exponential{}},
		{Backoff: retry.Linear{Step: time.Second}},
		{Backoff: foreignBackoff{}},
		{Backoff: retry.Capped{Of: foreignBackoff{}, Cap: 1}, Classifier: retry.FirstOf(retry.DefaultClassifier{}), Hint: retry.HintOrGiveUp{}},
		{Budget: &awspreset.TokenBudget{}, Clock: &retrytest.Clock{}},
		{Budget: &retry.SharedBudget{}},
		{Budget: &retry.SharedBudget{Reserve: 1}},
		{Budget: retry.NoBudget{}},
		{Backoff: &retry.FullJitter{Base: ms}},
		{Backoff: retry.Schedule{0, ms}},
		{Backoff: retry.WhenThrottled{Else: retry.Capped{Of: retry.Spread{Of: retry.Jittered{}}}}}, // nil means the default rule
		{Backoff: retry.Constant(0)},
		{Backoff: retry.Exponential{Base: ms, Cap: ms, Factor: 1}},
		{Backoff: retry.Spread{Of: retry.Jittered{Of: retry.NoDelay{}}, Fraction: 1}},
		{Backoff: retry.Exponential{Base: time.Microsecond, Factor: math.MaxFloat64, Cap: time.Hour}},
		{Backoff: retry.FullJitter{Base: time.Minute}, MaxElapsed: time.Second}, // the first wait may be short enough
		{Backoff: retry.Exponential{Base: time.Minute}, MaxElapsed: time.Second, MaxAttempts: 1},
		{MaxElapsed: time.Minute, AttemptTimeout: time.Minute - 1},
		{Backoff: retry.FullJitter{Base: time.Second}, MaxAttempts: 20},
	}
	for name, b := range everyBackoff {
		p := retry.Policy{Backoff: b.rule}
		assert.NoError(t, p.Validate(), name)
	}
	for _, p := range valid {
		assert.NoError(t, p.Validate(), "%v", p)
	}
}

// TestInvalid: Validate lists every fault of a policy in one error.
func TestInvalid(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name   string
		policy retry.Policy
		want   []string
	}{
		{"its own numbers", retry.Policy{MaxAttempts: -1, MaxElapsed: -1, AttemptTimeout: -time.Hour}, []string{
			"MaxAttempts is negative (-1)", "MaxElapsed is negative (-1ns)", "AttemptTimeout is negative (-1h0m0s)",
		}},
		{"a rule's numbers", retry.Policy{Backoff: retry.Exponential{Base: 5 * time.Second, Cap: time.Second, Factor: nan}}, []string{
			"Backoff: Exponential: Factor NaN is not a number of at least 1", "Backoff: Exponential: Base 5s is above Cap 1s",
		}},
		{"negative ones", retry.Policy{Backoff: retry.Linear{Base: -1, Step: -2, Cap: -3}}, []string{
			"Backoff: Linear: Base -1ns is negative", "Backoff: Linear: Step -2ns is negative", "Backoff: Linear: Cap -3ns is negative",
		}},
		{"factors", retry.Policy{Backoff: retry.EqualJitter{Factor: 0.5}}, []string{"Backoff: EqualJitter: Factor 0.5 is not a number of at least 1"}},
		{"infinite factor", retry.Policy{Backoff: retry.EqualJitter{Factor: math.Inf(1)}}, []string{"Backoff: EqualJitter: Factor +Inf is not a number of at least 1"}},
		{"a list", retry.Policy{Backoff: retry.Schedule{ms, -1}}, []string{"Backoff: Schedule: delay 2 -1ns is negative"}},
		{"an empty list", retry.Policy{Backoff: retry.Schedule{}}, []string{"Backoff: Schedule: has no delays"}},
		{"a constant", retry.Policy{Backoff: retry.Constant(-1)}, []string{"Backoff: Constant: delay -1ns is negative"}},
		{"typed nil rules", retry.Policy{Backoff: retry.WhenThrottled{Throttled: (*retry.FullJitter)(nil), Else: retry.Capped{Of: retry.BackoffFunc(nil)}}}, []string{
			"Backoff: WhenThrottled.Throttled is a nil *retry.FullJitter", "Backoff: WhenThrottled.Else: Capped.Of is a nil retry.BackoffFunc",
		}},
		{"shares", retry.Policy{Backoff: retry.Spread{Of: retry.Jittered{Of: retry.NoDelay{}, Share: 2}, Fraction: nan}}, []string{
			"Backoff: Spread.Of: Jittered: Share 2 is not between 0 and 1", "Backoff: Spread: Fraction NaN is not between 0 and 1",
		}},
		{"a rule of another package", retry.Policy{Backoff: retry.Capped{Of: foreignBackoff{"too eager"}}}, []string{"Backoff: Capped.Of: too eager"}},
		{"a pointer to a rule of another package", retry.Policy{Backoff: &strictBackoff{}}, []string{"Backoff: not strict enough"}},
		{"classifiers", retry.Policy{Classifier: retry.FirstOf(nil, retry.FirstOf(nil))}, []string{
			"Classifier: FirstOf[0] is nil", "Classifier: FirstOf[1]: FirstOf[0] is nil",
		}},
		{"a budget", retry.Policy{Budget: &retry.SharedBudget{Reserve: nan}}, []string{"Budget: Reserve NaN is not a number of at least 0"}},
		{"a missing unit", retry.Policy{Backoff: retry.FullJitter{Base: 100, Cap: 5}}, []string{
			"Backoff: FullJitter: Base 100ns is below 1µs; is its unit missing?", "Base 100ns is above Cap 5ns",
		}},
		{"other missing units", retry.Policy{Backoff: retry.WhenThrottled{Throttled: retry.Constant(1), Else: retry.Linear{Base: ms, Step: 5}}}, []string{
			"Throttled: Constant: delay 1ns is below 1µs; is its unit missing?", "Else: Linear: Step 5ns is below 1µs; is its unit missing?",
		}},
		{"limits without units", retry.Policy{MaxElapsed: 30, AttemptTimeout: 5}, []string{
			"MaxElapsed 30ns is below 1µs; is its unit missing?", "AttemptTimeout 5ns is below 1µs; is its unit missing?",
		}},
		{"no end", retry.Policy{Backoff: retry.FullJitter{Base: ms}, MaxAttempts: retry.Unlimited}, []string{
			"Backoff grows without a Cap, and neither MaxAttempts nor MaxElapsed ends it",
		}},
		{"no end after throttling", retry.Policy{Backoff: retry.Spread{Of: retry.DecorrelatedJitter{}}, MaxAttempts: retry.Unlimited}, []string{
			"Backoff grows without a Cap",
		}},
		{"an attempt that is longer than the call", retry.Policy{AttemptTimeout: 10 * time.Second, MaxElapsed: 5 * time.Second}, []string{
			"AttemptTimeout 10s is at least MaxElapsed 5s, so an attempt that times out is never retried",
		}},
		{"an attempt that is as long as the call", retry.Policy{AttemptTimeout: 5 * time.Second, MaxElapsed: 5 * time.Second}, []string{
			"AttemptTimeout 5s is at least MaxElapsed 5s, so an attempt that times out is never retried",
		}},
		{"a first wait that is longer than the call", retry.Policy{Backoff: retry.Constant(time.Minute), MaxElapsed: 30 * time.Second}, []string{
			"the first wait, 1m0s, is above MaxElapsed 30s, so there is no retry",
		}},
		{"centuries", retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 60}, []string{
			"the wait before attempt 27 is more than a year: set a Cap, fewer attempts, or a MaxElapsed",
		}},
		{"centuries with jitter", retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second}, MaxAttempts: 60}, []string{"is more than a year"}},
		{"a pointer to a rule", retry.Policy{Backoff: &retry.FullJitter{Base: -1}}, []string{"Backoff: FullJitter: Base -1ns is negative"}},
		{"no base and no step", retry.Policy{Backoff: retry.Linear{}}, []string{"Backoff: Linear: Base is 0, which never waits; use NoDelay instead"}},
		{"hints", retry.Policy{Hint: retry.HintAtLeast{Max: -1}}, []string{"Hint: HintAtLeast: Max -1ns is negative"}},
		{"nil functions", retry.Policy{Classifier: retry.FirstOf(retry.ClassifierFunc(nil)), Limiter: limiterFunc(nil)}, []string{
			"Classifier: FirstOf[0] is a nil retry.ClassifierFunc", "Limiter is a nil retry_test.limiterFunc",
		}},
		{"nil rules", retry.Policy{Backoff: (*retry.FullJitter)(nil)}, []string{"Backoff is a nil *retry.FullJitter"}},
		{"nil pointers", retry.Policy{Budget: (*awspreset.TokenBudget)(nil), Clock: (*retrytest.Clock)(nil)}, []string{
			"Budget is a nil *awspreset.TokenBudget", "Clock is a nil *retrytest.Clock",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.policy.Validate()
			require.ErrorIs(t, err, retry.ErrInvalid)
			assert.True(t, strings.HasPrefix(err.Error(), "invalid retry policy: "), "%v", err)
			for _, want := range tt.want {
				assert.ErrorContains(t, err, want)
			}
			assert.Equal(t, strings.Count(err.Error(), ";"), strings.Count(strings.Join(tt.want, ";"), ";"), "%v", err)
		})
	}
}

// TestInvalidRules: the error contains the name and the value of the invalid field.
func TestInvalidRules(t *testing.T) {
	for fault, b := range map[string]retry.Backoff{
		"Factor NaN":               retry.FullJitter{Factor: math.NaN()},
		"Factor +Inf":              retry.FullJitter{Factor: math.Inf(1)},
		"Factor -Inf":              retry.Exponential{Factor: math.Inf(-1)},
		"Factor -2":                retry.EqualJitter{Factor: -2},
		"Base -1s":                 retry.FullJitter{Base: -time.Second},
		"Base is 0":                retry.Fibonacci{},
		"delay -1s is negative":    retry.Constant(-time.Second),
		"delay 2 -1ns is negative": retry.Schedule{ms, -1},
		"Step -1ns":                retry.Linear{Base: ms, Step: -1},
		"is above Cap 1s":          retry.Fibonacci{Base: time.Minute, Cap: time.Second},
		"Share -1":                 retry.Jittered{Of: retry.Constant(ms), Share: -1},
		"Share NaN":                retry.Jittered{Of: retry.Constant(ms), Share: math.NaN()},
		"Fraction -1":              retry.Spread{Of: retry.Constant(ms), Fraction: -1},
		"Fraction 1.5":             retry.Spread{Of: retry.Constant(ms), Fraction: 1.5},
	} {
		err := retry.Policy{Backoff: b}.Validate()
		assert.ErrorIs(t, err, retry.ErrInvalid, fault)
		assert.ErrorContains(t, err, fault)
	}
}

// TestInvalidNil: a nil pointer in a field of a policy is refused, and the error names
// the field.
func TestInvalidNil(t *testing.T) {
	for fault, p := range map[string]retry.Policy{
		"Backoff is a nil *retry.FullJitter":           {Backoff: (*retry.FullJitter)(nil)},
		"Classifier is a nil *retry.DefaultClassifier": {Classifier: (*retry.DefaultClassifier)(nil)},
		"FirstOf[1] is nil":                            {Classifier: retry.FirstOf(retry.DefaultClassifier{}, nil)},
		"Budget is a nil *awspreset.TokenBudget":       {Budget: (*awspreset.TokenBudget)(nil)},
		"Hint is a nil *retry.HintOrGiveUp":            {Hint: (*retry.HintOrGiveUp)(nil)},
		"Clock is a nil *retrytest.Clock":              {Clock: (*retrytest.Clock)(nil)},
	} {
		err := p.Validate()
		assert.ErrorIs(t, err, retry.ErrInvalid, fault)
		assert.ErrorContains(t, err, fault)
	}
}
