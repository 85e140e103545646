package adapt_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

var errOp = errors.New("operation failed")

// doubling is a policy without jitter: 1 s, 2 s, 4 s …
var doubling = retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: 4, Hint: retry.HintAtLeast{Exact: true}}

func TestSequenceForms(t *testing.T) {
	for name, next := range map[string]func(s *adapt.Sequence) (time.Duration, bool){
		"NextBackOff": func(s *adapt.Sequence) (time.Duration, bool) {
			d := s.NextBackOff()
			return max(0, d), d != -1
		},
		"Next":  func(s *adapt.Sequence) (time.Duration, bool) { d, stop := s.Next(); return d, !stop },
		"Retry": func(s *adapt.Sequence) (time.Duration, bool) { return s.Retry(errOp) },
	} {
		t.Run(name, func(t *testing.T) {
			s := adapt.NewSequence(doubling)
			for range 2 {
				for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
					d, ok := next(s)
					assert.True(t, ok)
					assert.Equal(t, want, d)
				}
				for range 2 {
					_, ok := next(s)
					assert.False(t, ok, "after four attempts")
				}
				s.Reset()
			}
		})
	}
}

// TestSequenceDecides: Retry decides as Do does.
func TestSequenceDecides(t *testing.T) {
	onlyThrottled := doubling
	onlyThrottled.Backoff = retry.WhenThrottled{Throttled: retry.Constant(time.Minute), Else: retry.Constant(time.Second)}
	choosy := doubling
	choosy.Classifier = retry.OnlyIf(func(error) bool { return false })
	eager := doubling
	eager.Classifier = retry.OnlyIf(nil)
	lost := errors.New("invalid connection") // of go-sql-driver/mysql, during a statement
	for name, tt := range map[string]struct {
		policy retry.Policy
		err    error
		want   time.Duration
		ok     bool
	}{
		"transient":                           {doubling, errOp, time.Second, true},
		"permanent":                           {doubling, retry.Permanent(errOp), 0, false},
		"unrepeatable":                        {doubling, retry.Unrepeatable(errOp), 0, false},
		"hint":                                {doubling, retry.After(errOp, 7*time.Second), 7 * time.Second, true},
		"throttled":                           {onlyThrottled, retry.Throttled(errOp), time.Minute, true},
		"classifier":                          {choosy, errOp, 0, false},
		"no error":                            {doubling, nil, 0, false},
		"a statement with an unknown outcome": {doubling, lost, 0, false},
		"a statement with an unknown outcome, and a Classifier": {eager, lost, 0, false},
		"invalid": {retry.Policy{MaxAttempts: -1}, errOp, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, ok := adapt.NewSequence(tt.policy).Retry(tt.err)
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, tt.want, d)
		})
	}
	t.Run("a failure that is not passed on counts as transient", func(t *testing.T) {
		assert.Equal(t, time.Second, adapt.NewSequence(choosy).NextBackOff())
	})
}

func TestSequenceElapsed(t *testing.T) {
	clock := &retrytest.Clock{}
	policy := doubling
	policy.MaxElapsed, policy.Clock = 5*time.Second, clock
	s := adapt.NewSequence(policy)
	clock.Advance(4 * time.Second)
	assert.Equal(t, time.Second, s.NextBackOff())
	assert.Equal(t, time.Duration(-1), s.NextBackOff(), "4 s and 2 s are more than 5 s")
	s.Reset()
	assert.Equal(t, time.Second, s.NextBackOff(), "the time restarts")
}

// TestSequenceChain: each delay is drawn from the previous wait, even if that wait came
// from a hint.
func TestSequenceChain(t *testing.T) {
	policy := retry.Policy{Backoff: retry.DecorrelatedJitter{Base: time.Second}, Rand: retrytest.Fixed(0.5), MaxAttempts: retry.Unlimited, Hint: retry.HintAtLeast{Exact: true}}
	s := adapt.NewSequence(policy)
	assert.Equal(t, 2*time.Second, s.NextBackOff()) // 1 + ½ (3·1 − 1)
	d, _ := s.Retry(retry.After(errOp, 11*time.Second))
	assert.Equal(t, 11*time.Second, d)
	assert.Equal(t, 17*time.Second, s.NextBackOff()) // 1 + ½ (3·11 − 1)
}

func TestSequenceBudget(t *testing.T) {
	cost := awspreset.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}
	budget := &awspreset.TokenBudget{Capacity: 3, Costs: cost, Success: 0.5, SuccessOnly: true}
	policy := doubling
	policy.Budget = budget
	s := adapt.NewSequence(policy)
	for range 2 {
		s.NextBackOff()
	}
	assert.EqualValues(t, 1, budget.Balance(), "each retry is withdrawn once")
	s.Succeeded()
	assert.EqualValues(t, 2, budget.Balance(), "the last withdrawal is returned")
	s.Succeeded()
	assert.EqualValues(t, 2.5, budget.Balance(), "a success without a retry")
	s.NextBackOff()
	_, ok := s.Retry(retry.Permanent(errOp))
	assert.False(t, ok)
	assert.EqualValues(t, 1.5, budget.Balance(), "a permanent failure is not a success")
	d, ok := s.Retry(retry.Progress(errOp))
	assert.True(t, ok)
	assert.Equal(t, time.Second, d, "progress restarts the delays")
	assert.EqualValues(t, 1, budget.Balance(), "progress deposits 0.5 and the retry withdraws 1")
	s.NextBackOff()
	assert.Equal(t, time.Duration(-1), s.NextBackOff(), "the budget is empty")
}

// TestSequenceClassifiesOnce: the Classifier is called once for each failure.
func TestSequenceClassifiesOnce(t *testing.T) {
	calls := 0
	policy := doubling
	policy.Classifier = retry.ClassifierFunc(func(error) retry.Verdict { calls++; return retry.Verdict{Class: retry.ClassThrottled} })
	adapt.NewSequence(policy).Retry(errOp)
	assert.Equal(t, 1, calls)
}

func TestSequenceOfMany(t *testing.T) {
	s := adapt.NewSequence(retry.Policy{Backoff: retry.FullJitter{Base: 1, Cap: math.MaxInt64}, MaxAttempts: retry.Unlimited})
	for range 10_000 {
		assert.GreaterOrEqual(t, s.NextBackOff(), time.Duration(0))
	}
}
