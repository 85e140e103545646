package retryconfig_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrykeep"
)

func TestText(t *testing.T) {
	s := time.Second
	tests := []struct {
		text   string
		policy retry.Policy
	}{
		{"full base=50ms cap=20s attempts=3", retry.Policy{Backoff: retry.FullJitter{Base: 50 * ms, Cap: 20 * s}}},
		{"full base=50ms cap=20s attempts=5 elapsed=1m", retry.Policy{Backoff: retry.FullJitter{Base: 50 * ms, Cap: 20 * s}, MaxAttempts: 5, MaxElapsed: time.Minute}},
		{"none", retry.Policy{MaxAttempts: 1}},
		{"none timeout=2s budget=shared", retry.Policy{MaxAttempts: 1, AttemptTimeout: 2 * s, Budget: &retry.SharedBudget{}}},
		{"no-delay attempts=1", retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 1}},
		{"constant delay=1.5s attempts=unlimited timeout=2h", retry.Policy{Backoff: retry.Constant(1500 * ms), MaxAttempts: retry.Unlimited, AttemptTimeout: 2 * time.Hour}},
		{"exponential base=100ms cap=1h30m factor=1.5 attempts=3", retry.Policy{Backoff: retry.Exponential{Base: 100 * ms, Cap: 90 * time.Minute, Factor: 1.5}}},
		{"linear base=1s step=2s attempts=3", retry.Policy{Backoff: retry.Linear{Base: s, Step: 2 * s}}},
		{"fibonacci base=1µs attempts=3", retry.Policy{Backoff: retry.Fibonacci{Base: time.Microsecond}}},
		{"schedule delays=1s/2s/1m30s attempts=4", retry.Policy{Backoff: retry.Schedule{s, 2 * s, 90 * s}}},
		{"equal base=1s attempts=3", retry.Policy{Backoff: retry.EqualJitter{Base: s}}},
		{"decorrelated base=1s cap=1m redraw=true attempts=3", retry.Policy{Backoff: retry.DecorrelatedJitter{Base: s, Cap: time.Minute, Redraw: true}}},
		{"jittered(fibonacci base=1s) share=1 attempts=3", retry.Policy{Backoff: retry.Jittered{Of: retry.Fibonacci{Base: s}, Share: 1}}},
		{"capped(spread(exponential base=1s) fraction=0.1) cap=1m elapsed=5m", retry.Policy{
			Backoff:    retry.Capped{Of: retry.Spread{Of: retry.Exponential{Base: s}, Fraction: 0.1}, Cap: time.Minute},
			MaxElapsed: 5 * time.Minute,
		}},
		{"when-throttled(equal base=500ms cap=20s | no-delay) attempts=3", retry.Policy{
			Backoff: retry.WhenThrottled{Throttled: retry.EqualJitter{Base: 500 * ms, Cap: 20 * s}, Else: retry.NoDelay{}},
		}},
		{"no-delay attempts=3 hint=ignore", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintIgnore{}}},
		{"no-delay attempts=3 hint=at-least(max=10m)", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintAtLeast{Max: 10 * time.Minute}}},
		{"standard attempts=3 budget=shared(reserve=1)", retry.Policy{Budget: &retry.SharedBudget{Reserve: 1}}},
		{"no-delay attempts=3 hint=or-give-up(max=1m)", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintOrGiveUp{Max: time.Minute}}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			assert.Equal(t, tt.text, textOf(tt.policy))
			text, err := retryconfig.Text(tt.policy)
			require.NoError(t, err)
			assert.Equal(t, tt.text, text)

			parsed, err := retryconfig.Parse(tt.text)
			require.NoError(t, err)
			if s, ok := tt.policy.Backoff.(retry.Schedule); ok {
				tt.policy.MaxAttempts = len(s) + 1
			} else if tt.policy.MaxAttempts == 0 && tt.policy.MaxElapsed == 0 {
				tt.policy.MaxAttempts = 3
			}
			assert.Equal(t, tt.policy, parsed)
		})
	}
}

func TestTextOfDefaults(t *testing.T) {
	assert.Equal(t, "standard attempts=3", textOf(retry.Policy{}))
	p, err := retryconfig.Parse("")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{}, p)
	p, err = retryconfig.Parse("attempts=7")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{MaxAttempts: 7}, p)
	assert.Equal(t, "no-delay attempts=3", textOf(retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintAtLeast{}}), "the default hint rule")
}

func TestTextOfShortLimits(t *testing.T) {
	p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxElapsed: 1}
	assert.Equal(t, "full base=1s elapsed=1ns", textOf(p))
}

// TestTextOfPresets: a policy made from a preset prints as its name and the differences.
func TestTextOfPresets(t *testing.T) {
	p := house("")
	assert.Equal(t, "house", textOf(p))
	assert.Equal(t, "house service=kitchen", textOf(house("kitchen")))
	p.MaxAttempts, p.MaxElapsed = 6, time.Minute
	assert.Equal(t, "house attempts=6 elapsed=1m", textOf(p))
	parsed, err := retryconfig.Parse(textOf(p))
	require.NoError(t, err)
	assert.Equal(t, p, parsed, "with the classifier, the hint rule and a new budget")
	assert.NotSame(t, p.Budget, parsed.Budget)
	p.Hint = retry.HintAtLeast{Max: time.Hour}
	assert.Equal(t, "house attempts=6 elapsed=1m hint=at-least(max=1h)", textOf(p))
	p.Hint, p.Budget, p.Limiter = nil, &retry.SharedBudget{}, nil
	assert.Equal(t, "house attempts=6 elapsed=1m hint=at-least budget=shared limiter=none", textOf(p))
	p.Budget = nil
	assert.Equal(t, "house attempts=6 elapsed=1m hint=at-least budget=default limiter=none", textOf(p))
	parsed, err = retryconfig.Parse(textOf(p))
	require.NoError(t, err)
	assert.Nil(t, parsed.Budget)
	p.Classifier, p.Hint = nil, retry.HintIgnore{}
	assert.Equal(t, "when-throttled(house-rule | full base=50ms cap=20s) attempts=6 elapsed=1m hint=ignore", textOf(p))
	_, err = retryconfig.Text(p)
	assert.ErrorContains(t, err, "has no text form", "the preset's own rule has a text only as part of the preset")
	p = house("")
	p.Backoff = retry.NoDelay{}
	assert.Equal(t, "no-delay attempts=4 hint=ignore budget=*awspreset.TokenBudget limiter=porter "+
		"classifier=retryconfig_test.houseClassifier", textOf(p), "with another rule")
	p = house("")
	p.Classifier = houseClassifier{service: "cellar"}
	assert.NotContains(t, textOf(p), "house ", "of an unknown service")
}

// TestTextOfChangedBudget: the name of a preset does not stand for a budget that was changed.
func TestTextOfChangedBudget(t *testing.T) {
	for preset := range awspreset.All() {
		p := preset.Policy("")
		if p.Budget != nil {
			p.Budget.TryWithdraw(retry.Attempt{Number: 1})
		}
		text, err := retryconfig.Text(p)
		require.NoError(t, err)
		assert.Equal(t, preset.String(), text)
		if _, ok := p.Budget.(*awspreset.TokenBudget); ok {
			p.Budget = &awspreset.TokenBudget{Success: 5}
			assert.Equal(t, preset.String()+" budget=*awspreset.TokenBudget", textOf(p))
			_, err = retryconfig.Text(p)
			assert.ErrorContains(t, err, "budget *awspreset.TokenBudget has no text form")
		}
	}
}

// TestNoText: parts without a text form print as their type and have no text.
func TestNoText(t *testing.T) {
	house := house("")
	house.Budget = foreignBudget{}
	for text, tt := range map[string]struct {
		policy retry.Policy
		fault  string
	}{
		"capped(retryconfig_test.foreignBackoff) cap=1s attempts=3": {
			retry.Policy{Backoff: retry.Capped{Of: foreignBackoff{}, Cap: time.Second}}, "backoff retryconfig_test.foreignBackoff",
		},
		"*retry.FullJitter attempts=3":                              {retry.Policy{Backoff: (*retry.FullJitter)(nil)}, "backoff *retry.FullJitter"},
		"standard attempts=3 hint=retryconfig_test.foreignHint":     {retry.Policy{Hint: foreignHint{}}, "hint rule retryconfig_test.foreignHint"},
		"standard attempts=3 budget=retryconfig_test.foreignBudget": {retry.Policy{Budget: foreignBudget{}}, "budget retryconfig_test.foreignBudget"},
		"standard attempts=3 budget=*awspreset.TokenBudget":         {retry.Policy{Budget: (*awspreset.TokenBudget)(nil)}, "budget *awspreset.TokenBudget"},
		"standard attempts=3 limiter=*retryconfig_test.foreignLimiter": {
			retry.Policy{Limiter: &foreignLimiter{faulty: true}}, "limiter *retryconfig_test.foreignLimiter",
		},
		"standard attempts=3 classifier=retryconfig_test.foreignClassifier": {
			retry.Policy{Classifier: foreignClassifier{}}, "classifier retryconfig_test.foreignClassifier",
		},
		"house budget=retryconfig_test.foreignBudget": {house, "budget retryconfig_test.foreignBudget"},
	} {
		assert.Equal(t, text, textOf(tt.policy))
		_, err := retryconfig.Text(tt.policy)
		assert.EqualError(t, err, tt.fault+" has no text form", text)
		_, err = retryconfig.Policy{Policy: tt.policy}.MarshalText()
		assert.Error(t, err, text)
		_, err = retryconfig.Parse(text)
		assert.Error(t, err, text)
	}
	p := retry.Policy{Classifier: retry.DefaultClassifier{}, Clock: retry.SystemClock{}, Rand: func() float64 { return 0 }}
	text, err := retryconfig.Text(p)
	require.NoError(t, err, "a text never describes clocks and random sources")
	assert.Equal(t, "standard attempts=3", text)
}

// TestEffective: what nil means for a client is visible, and its text reads back.
func TestEffective(t *testing.T) {
	workers := retry.Policy{MaxElapsed: time.Minute, Budget: retry.NoBudget{}}
	for name, tt := range map[string]struct {
		client interface{ Effective() retry.Policy }
		text   string
	}{
		"Transport":                  {&retryhttp.Transport{}, "standard attempts=3 hint=or-give-up(max=1m) budget=shared"},
		"Transport of workers":       {&retryhttp.Transport{Policy: workers}, "standard elapsed=1m hint=or-give-up(max=1m) budget=none"},
		"Transport with a PerHost":   {&retryhttp.Transport{PerHost: &retryhttp.PerHost{}}, "standard attempts=3 hint=or-give-up(max=1m) budget=shared"},
		"Transport without a Budget": {&retryhttp.Transport{PerHost: &retryhttp.PerHost{New: func(string) retry.Budget { return nil }}}, "standard attempts=3 hint=or-give-up(max=1m) budget=none"},
		"Transport with a preset":    {&retryhttp.Transport{Policy: awspreset.Standard21.Policy("")}, ""},
		"Keeper":                     {&retrykeep.Keeper{}, "full base=1s cap=1m attempts=unlimited budget=none"},
		"Keeper with a Policy":       {&retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: 9, Hint: retry.HintIgnore{}}}, "constant delay=1s attempts=9 hint=ignore budget=none"},
		"Batch":                      {retrybatch.Batch[int]{}, "standard attempts=3 budget=none"},
		"Batch with a shared Budget": {retrybatch.Batch[int]{Policy: retry.Policy{Budget: &retry.SharedBudget{Reserve: 5}}}, "standard attempts=3 budget=shared(reserve=5)"},
	} {
		effective := tt.client.Effective()
		text, err := retryconfig.Text(effective)
		require.NoError(t, err, name)
		if tt.text != "" {
			assert.Equal(t, tt.text, text, name)
		}
		assert.NotNil(t, effective.Hint, name)
		assert.NotNil(t, effective.Budget, name)
		again, err := retryconfig.Parse(text)
		require.NoError(t, err, name)
		second, err := retryconfig.Text(again)
		require.NoError(t, err, name)
		assert.Equal(t, text, second, name)
	}
}
