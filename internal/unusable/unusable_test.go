package unusable_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/unusable"
	"github.com/gobackoff/retry/retrytest"
)

// circle is a rule that contains itself.
type circle struct{ Of retry.Backoff }

func (*circle) Delay(retry.Attempt, float64) time.Duration { return time.Second }

func TestCheck(t *testing.T) {
	endless := &circle{}
	endless.Of = endless
	for name, tt := range map[string]struct {
		policy retry.Policy
		want   string
	}{
		"zero":                      {retry.Policy{}, ""},
		"odd, but it works":         {retry.Policy{Backoff: retry.FullJitter{Base: 5, Factor: -1}, Budget: &retry.TokenBudget{Capacity: -1}}, ""},
		"nil rules are the default": {retry.Policy{Backoff: retry.WhenThrottled{Else: retry.Capped{}}, Clock: &retrytest.Clock{}}, ""},
		"a circle":                  {retry.Policy{Backoff: endless}, ""},
		"a budget":                  {retry.Policy{Budget: (*retry.TokenBudget)(nil)}, "invalid retry policy: Budget is a nil *retry.TokenBudget"},
		"a function":                {retry.Policy{Classifier: retry.ClassifierFunc(nil)}, "invalid retry policy: Classifier is a nil retry.ClassifierFunc"},
		"within a rule": {
			retry.Policy{Backoff: &retry.Spread{Of: retry.WhenThrottled{Else: retry.BackoffFunc(nil)}}},
			"invalid retry policy: Backoff.Of.Else is a nil retry.BackoffFunc",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := unusable.Check(tt.policy)
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tt.want)
			assert.ErrorIs(t, err, retry.ErrInvalid)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	p := retry.Policy{Backoff: retry.Capped{Of: retry.FullJitter{Base: time.Second}}, Budget: &retry.TokenBudget{}}
	b.ReportAllocs()
	for b.Loop() {
		if err := unusable.Check(p); err != nil {
			b.Fatal(err)
		}
	}
}
