package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
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

type foreignBackoff struct{ fault string }

func (foreignBackoff) Delay(retry.Attempt, float64) time.Duration { return time.Second }
func (b foreignBackoff) Validate() error {
	if b.fault == "" {
		return nil
	}
	return errors.New(b.fault)
}

// strictBackoff has a Validate method of its pointer only.
type strictBackoff struct{}

func (strictBackoff) Delay(retry.Attempt, float64) time.Duration { return time.Second }
func (*strictBackoff) Validate() error                           { return errors.New("not strict enough") }

func TestValidate(t *testing.T) {
	nan := math.NaN()
	valid := []retry.Policy{
		{},
		{MaxAttempts: retry.Unlimited, MaxElapsed: time.Hour, AttemptTimeout: 1},
		{Backoff: retry.Linear{Step: time.Second}},
		{Backoff: foreignBackoff{}},
		{Backoff: retry.Capped{Of: foreignBackoff{}, Cap: 1}, Classifier: retry.FirstOf(retry.DefaultClassifier{}), Hint: retry.HintOrGiveUp{}},
		{Budget: &retry.TokenBudget{}, Clock: &retrytest.Clock{}},
		{Budget: &retry.RatioBudget{Floor: -1}},
		{Budget: &retry.ThrottleBudget{}},
		{Budget: &retry.TokenBudget{Success: -1}},
		{Backoff: &retry.FullJitter{Base: 1}},
		{Backoff: retry.Schedule{0, 1}},
		{Backoff: retry.Constant(0)},
		{Backoff: retry.Exponential{Base: 1, Cap: 1, Factor: 1}},
		{Backoff: retry.Spread{Of: retry.Jittered{Of: retry.NoDelay{}}, Fraction: 1}},
		{Budget: &retry.TokenBudget{Deficit: 500}},
	}
	for name, b := range everyBackoff {
		p := retry.Policy{Backoff: b.rule}
		assert.NoError(t, p.Validate(), name)
	}
	for _, p := range valid {
		assert.NoError(t, p.Validate(), "%v", p)
	}

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
		{"no base", retry.Policy{Backoff: retry.FullJitter{}}, []string{"Backoff: FullJitter: Base is 0, which never waits; NoDelay says so"}},
		{"factors", retry.Policy{Backoff: retry.EqualJitter{Base: 1, Factor: 0.5}}, []string{"Backoff: EqualJitter: Factor 0.5 is not a number of at least 1"}},
		{"infinite factor", retry.Policy{Backoff: retry.EqualJitter{Base: 1, Factor: math.Inf(1)}}, []string{"Backoff: EqualJitter: Factor +Inf is not a number of at least 1"}},
		{"a list", retry.Policy{Backoff: retry.Schedule{1, -1}}, []string{"Backoff: Schedule: delay 2 is negative (-1ns)"}},
		{"an empty list", retry.Policy{Backoff: retry.Schedule{}}, []string{"Backoff: Schedule: has no delays"}},
		{"a constant", retry.Policy{Backoff: retry.Constant(-1)}, []string{"Backoff: Constant: delay -1ns is negative"}},
		{"missing rules", retry.Policy{Backoff: retry.WhenThrottled{Else: retry.Capped{}}}, []string{
			"Backoff: WhenThrottled.Throttled is nil", "Backoff: WhenThrottled.Else: Capped.Of is nil",
		}},
		{"shares", retry.Policy{Backoff: retry.Spread{Of: retry.Jittered{Of: retry.NoDelay{}, Share: 2}, Fraction: nan}}, []string{
			"Backoff: Spread.Of: Jittered: Share 2 is not between 0 and 1", "Backoff: Spread: Fraction NaN is not between 0 and 1",
		}},
		{"somebody else's rule", retry.Policy{Backoff: retry.Capped{Of: foreignBackoff{"too eager"}}}, []string{"Backoff: Capped.Of: too eager"}},
		{"a pointer to somebody else's rule", retry.Policy{Backoff: &strictBackoff{}}, []string{"Backoff: not strict enough"}},
		{"classifiers", retry.Policy{Classifier: retry.FirstOf(nil, retry.FirstOf(nil))}, []string{
			"Classifier: FirstOf[0] is nil", "Classifier: FirstOf[1]: FirstOf[0] is nil",
		}},
		{"a bucket", retry.Policy{Budget: &retry.TokenBudget{Capacity: -1, Success: nan, Costs: retry.TokenCosts{Timeout: -1}}}, []string{
			"Budget: Capacity -1 is not a number of at least 0", "Success NaN is not a number", "Costs.Timeout -1 is not",
		}},
		{"a deficit", retry.Policy{Budget: &retry.TokenBudget{Deficit: 501}}, []string{"Deficit is above Capacity"}},
		{"a throttle", retry.Policy{Budget: &retry.ThrottleBudget{TokenRatio: -1}}, []string{"TokenRatio -1 is not a number of at least 0"}},
		{"a ratio", retry.Policy{Budget: &retry.RatioBudget{Ratio: nan, Floor: math.Inf(1), Window: -1}}, []string{
			"Ratio is NaN", "Floor is +Inf", "Window -1ns is negative",
		}},
		{"a pointer to a rule", retry.Policy{Backoff: &retry.FullJitter{Base: -1}}, []string{"Backoff: FullJitter: Base -1ns is negative"}},
		{"nothing to wait for", retry.Policy{Backoff: retry.Linear{}}, []string{"Backoff: Linear: Base is 0, which never waits; NoDelay says so"}},
		{"hints", retry.Policy{Hint: retry.HintAtLeast{Max: -1}}, []string{"Hint: HintAtLeast: Max -1ns is negative"}},
		{"nil functions", retry.Policy{Classifier: retry.FirstOf(retry.ClassifierFunc(nil)), Limiter: limiterFunc(nil)}, []string{
			"Classifier: FirstOf[0] is a nil retry.ClassifierFunc", "Limiter is a nil retry_test.limiterFunc",
		}},
		{"nil rules", retry.Policy{Backoff: (*retry.FullJitter)(nil)}, []string{"Backoff is a nil *retry.FullJitter"}},
		{"nil pointers", retry.Policy{Budget: (*retry.TokenBudget)(nil), Clock: (*retrytest.Clock)(nil)}, []string{
			"Budget is a nil *retry.TokenBudget", "Clock is a nil *retrytest.Clock",
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

// uncomparable is a classifier that panics when it is compared by ==.
type uncomparable []string

func (uncomparable) Classify(error) retry.Class { return retry.ClassUnknown }
func (c uncomparable) PolicyText() string       { return c[0] }

// presetClassifier is a classifier whose methods panic if it is nil.
type presetClassifier struct{ text string }

func (*presetClassifier) Classify(error) retry.Class { return retry.ClassUnknown }
func (c *presetClassifier) PolicyText() string       { return c.text }

// TestText: texts that say the same as a Policy, in the form that String prints.
func TestText(t *testing.T) {
	s := time.Second
	tests := []struct {
		text   string
		policy retry.Policy
	}{
		{"full base=50ms cap=20s attempts=3", retry.Policy{Backoff: retry.FullJitter{Base: 50 * ms, Cap: 20 * s}}},
		{"full base=50ms cap=20s attempts=5 elapsed=1m", retry.Policy{Backoff: retry.FullJitter{Base: 50 * ms, Cap: 20 * s}, MaxAttempts: 5, MaxElapsed: time.Minute}},
		{"none attempts=1", retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 1}},
		{"constant delay=1.5s attempts=unlimited timeout=2h", retry.Policy{Backoff: retry.Constant(1500 * ms), MaxAttempts: retry.Unlimited, AttemptTimeout: 2 * time.Hour}},
		{"exponential base=100ms cap=1h30m factor=1.5 attempts=3", retry.Policy{Backoff: retry.Exponential{Base: 100 * ms, Cap: 90 * time.Minute, Factor: 1.5}}},
		{"linear base=1s step=2s attempts=3", retry.Policy{Backoff: retry.Linear{Base: s, Step: 2 * s}}},
		{"fibonacci base=1µs attempts=3", retry.Policy{Backoff: retry.Fibonacci{Base: time.Microsecond}}},
		{"schedule delays=1s/2s/1m30s attempts=4", retry.Policy{Backoff: retry.Schedule{s, 2 * s, 90 * s}}},
		{"equal base=1s attempts=3", retry.Policy{Backoff: retry.EqualJitter{Base: s}}},
		{"decorrelated base=1s cap=1m redraw=true attempts=3", retry.Policy{Backoff: retry.DecorrelatedJitter{Base: s, Cap: time.Minute, Redraw: true}}},
		{"jittered(fibonacci base=1s) share=1 attempts=3", retry.Policy{Backoff: retry.Jittered{Of: retry.Fibonacci{Base: s}, Share: 1}}},
		{"capped(spread(exponential base=1s) fraction=0.1) cap=1m attempts=3 elapsed=5m", retry.Policy{
			Backoff:    retry.Capped{Of: retry.Spread{Of: retry.Exponential{Base: s}, Fraction: 0.1}, Cap: time.Minute},
			MaxElapsed: 5 * time.Minute,
		}},
		{"when-throttled(equal base=500ms cap=20s | none) attempts=3", retry.Policy{
			Backoff: retry.WhenThrottled{Throttled: retry.EqualJitter{Base: 500 * ms, Cap: 20 * s}, Else: retry.NoDelay{}},
		}},
		{"none attempts=3 hint=ignore", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintIgnore{}}},
		{"none attempts=3 hint=at-least:10m", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintAtLeast{Max: 10 * time.Minute}}},
		{"none attempts=3 hint=or-give-up:1m", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintOrGiveUp{Max: time.Minute}}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			assert.Equal(t, tt.text, tt.policy.String())
			marshaled, err := tt.policy.MarshalText()
			require.NoError(t, err)
			assert.Equal(t, tt.text, string(marshaled))

			parsed, err := retry.ParsePolicy(tt.text)
			require.NoError(t, err)
			if s, ok := tt.policy.Backoff.(retry.Schedule); ok {
				tt.policy.MaxAttempts = len(s) + 1
			} else if tt.policy.MaxAttempts == 0 {
				tt.policy.MaxAttempts = 3
			}
			assert.Equal(t, tt.policy, parsed)
		})
	}
	t.Run("separators", func(t *testing.T) {
		want, err := retry.ParsePolicy("capped(full base=1s) cap=1m attempts=4")
		require.NoError(t, err)
		for _, text := range []string{"capped(full,base=1s),cap=1m,attempts=4", "capped ( full; base=1s );\n\tcap=1m; attempts=4 "} {
			got, err := retry.ParsePolicy(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	})
	t.Run("depth", func(t *testing.T) {
		deep := func(n int) string {
			return strings.Repeat("capped(", n) + "none" + strings.Repeat(") cap=1s", n)
		}
		for text, ok := range map[string]bool{
			deep(15): true,
			deep(16): false,
			"when-throttled(" + deep(14) + " | " + deep(14) + ")": true, // side by side is not deeper
		} {
			p, err := retry.ParsePolicy(text)
			if !ok {
				assert.ErrorContains(t, err, "rules are nested more than 16 deep")
			} else if assert.NoError(t, err) {
				assert.Equal(t, text+" attempts=3", p.String())
			}
		}
	})
	t.Run("what is left out", func(t *testing.T) {
		assert.Equal(t, "standard attempts=3", retry.Policy{}.String())
		p, err := retry.ParsePolicy("")
		require.NoError(t, err)
		assert.Equal(t, retry.Policy{}, p)
		p, err = retry.ParsePolicy("attempts=7")
		require.NoError(t, err)
		assert.Equal(t, retry.Policy{MaxAttempts: 7}, p)
	})
	t.Run("presets", func(t *testing.T) {
		p := awspreset.JavaV1Legacy.Policy("")
		assert.Equal(t, "aws-java-v1-legacy", p.String())
		p.MaxAttempts, p.MaxElapsed = 6, time.Minute
		assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m", p.String())
		parsed, err := retry.ParsePolicy(p.String())
		require.NoError(t, err)
		assert.Equal(t, p, parsed, "with the classifier, the hint rule and a budget of its own")
		assert.NotSame(t, p.Budget, parsed.Budget)
		p.Hint = retry.HintAtLeast{Max: time.Hour}
		assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m hint=at-least:1h", p.String())
		p.Hint = nil
		assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m hint=at-least", p.String())
		p.Classifier, p.Hint = nil, retry.HintIgnore{}
		assert.Equal(t, "when-throttled(java-equal base=500ms cap=20s | java-full base=100ms cap=20s) attempts=6 elapsed=1m hint=ignore budget=token:500:5/5/0:success-only", p.String())
		_, err = p.MarshalText()
		assert.ErrorContains(t, err, "has no text form", "an SDK's own arithmetic has a text by its preset only")
	})
	t.Run("registered", func(t *testing.T) {
		retry.RegisterPreset("checkout-db", func() retry.Policy { return retry.Policy{MaxAttempts: 9, Budget: &retry.TokenBudget{}} })
		p, err := retry.ParsePolicy("checkout-db timeout=2s")
		require.NoError(t, err)
		assert.Equal(t, retry.Policy{MaxAttempts: 9, AttemptTimeout: 2 * s, Budget: &retry.TokenBudget{}}, p)
		_, err = retry.ParsePolicy("checkout-db service=s3")
		assert.ErrorContains(t, err, `unknown key "service"`)
		for _, name := range []string{"checkout-db", "full", "aws-standard-2026", "", "a b", "a=b", "x(", "é"} {
			assert.Panics(t, func() { retry.RegisterPreset(name, func() retry.Policy { return retry.Policy{} }) }, name)
		}
	})
	assert.Equal(t, "none attempts=3", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintAtLeast{}}.String(), "the default rule")
	t.Run("an uncomparable classifier", func(t *testing.T) {
		p := retry.Policy{Classifier: uncomparable{"aws-standard-2026"}, Backoff: awspreset.Standard2026.Policy("").Backoff}
		assert.Equal(t, "aws-standard-2026 hint=at-least budget=none", p.String())
		p.Classifier = uncomparable{"no such preset"}
		assert.Equal(t, "when-throttled(full base=1s cap=20s | full base=50ms cap=20s) attempts=3", p.String())
		var none *presetClassifier
		p.Classifier = none
		assert.Equal(t, "when-throttled(full base=1s cap=20s | full base=50ms cap=20s) attempts=3", p.String())
	})
	t.Run("what has no text", func(t *testing.T) {
		p := retry.Policy{Backoff: retry.Capped{Of: foreignBackoff{}, Cap: time.Second}}
		assert.Equal(t, "capped(retry_test.foreignBackoff) cap=1s attempts=3", p.String())
		_, err := p.MarshalText()
		assert.EqualError(t, err, "backoff retry_test.foreignBackoff has no text form")
		p = retry.Policy{Hint: hintFunc(nil)}
		assert.Equal(t, "standard attempts=3 hint=retry_test.hintFunc", p.String())
		_, err = p.MarshalText()
		assert.EqualError(t, err, "hint rule retry_test.hintFunc has no text form")
	})
}

// TestTextOfBudgets: budgets and limiters are values of the text, too, and each parse
// makes new ones.
func TestTextOfBudgets(t *testing.T) {
	for text, want := range map[string]retry.Budget{
		"token":                                  &retry.TokenBudget{},
		"token:100":                              &retry.TokenBudget{Capacity: 100},
		"token:500:14":                           &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 14, Timeout: 14, Throttled: 14}},
		"token:500:5/10/5":                       &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}},
		"token:1:1:0.1":                          &retry.TokenBudget{Capacity: 1, Costs: retry.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}, Success: 0.1},
		"token:0:0:-1":                           &retry.TokenBudget{Success: -1},
		"token:0:0:0:500:no-refund:success-only": &retry.TokenBudget{Deficit: 500, NoRefund: true, SuccessOnly: true},
		"token:no-refund":                        &retry.TokenBudget{NoRefund: true},
		"throttle":                               &retry.ThrottleBudget{},
		"throttle:100:0.2":                       &retry.ThrottleBudget{MaxTokens: 100, TokenRatio: 0.2},
		"ratio":                                  &retry.RatioBudget{},
		"ratio:0.1":                              &retry.RatioBudget{Ratio: 0.1},
		"ratio:0.1:-1:1m":                        &retry.RatioBudget{Ratio: 0.1, Floor: -1, Window: time.Minute},
		"ratio:0:0:1m30s":                        &retry.RatioBudget{Window: 90 * time.Second},
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
		p.Limiter = limiterFunc(nil)
		assert.Equal(t, "standard attempts=3", p.String(), "code has no text")
	})
	t.Run("a preset without what it has", func(t *testing.T) {
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
		"budget=aws":              `unknown budget=aws; known are none, token, throttle, ratio`,
		"budget=token:x":          `budget=token:x: "x" is not a number`,
		"budget=token:":           `budget=token:: "" is not a number`,
		"budget=token:1:2:3:4:5":  `takes at most 4 values, not 5`,
		"budget=token:1:2/3/4/5":  `takes at most 3 values, not 4`,
		"budget=token:1:2/x":      `"x" is not a number`,
		"budget=token:-1":         `Budget: Capacity -1 is not a number of at least 0`,
		"budget=throttle:1:2:3":   `takes at most 2 values, not 3`,
		"budget=ratio:1:2:3":      `window 3 needs a unit`,
		"budget=ratio:NaN":        `Budget: Ratio is NaN`,
		"limiter=token":           `unknown limiter=token; known are none, adaptive`,
		"budget=token budget=any": `key "budget" is given twice`,
		"stagger=-1s":             `Stagger is negative (-1s)`,
	} {
		_, err := retry.ParsePolicy(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// TestMapping: configurations may have the keys of the text as a mapping.
func TestMapping(t *testing.T) {
	for name, tt := range map[string]struct {
		mapping string
		text    string
		wrong   string
	}{
		"a rule":            {`{"rule": "full", "base": "100ms", "cap": "5s", "attempts": 7}`, "full base=100ms cap=5s attempts=7", ""},
		"a preset":          {`{"preset": "aws-standard-2026", "service": "dynamodb", "attempts": 6}`, "aws-standard-2026 service=dynamodb attempts=6", ""},
		"rules in a rule":   {`{"rule": "spread(full base=1s)", "fraction": 0.1}`, "spread(full base=1s) fraction=0.1", ""},
		"a list":            {`{"rule": "schedule", "delays": ["1s", "2s"]}`, "schedule delays=1s/2s", ""},
		"no rule":           {`{"attempts": "unlimited", "longpoll": true}`, "attempts=unlimited longpoll=true", ""},
		"a budget":          {`{"budget": "token:500:14", "stagger": "200ms"}`, "budget=token:500:14 stagger=200ms", ""},
		"a text":            {`"full base=1s"`, "full base=1s", ""},
		"empty":             {`{}`, "", ""},
		"an unknown key":    {`{"rule": "full", "base": "1s", "atempts": 7}`, "", `unknown key "atempts"; known here: base, cap, factor, attempts`},
		"no rule for a key": {`{"base": "1s"}`, "", `unknown key "base"; known here: attempts`},
		"an unknown rule":   {`{"rule": "ful", "base": "1s"}`, "", `unknown name "ful"`},
		"no unit":           {`{"rule": "full", "base": 100}`, "", "base=100 needs a unit"},
		"a rule as mapping": {`{"rule": {"name": "full"}}`, "", "a map[string]interface {} is not a text, a number or true or false"},
		"nothing":           {`{"attempts": null}`, "", "a <nil> is not a text"},
		"smuggled keys":     {`{"rule": "full", "base": "1s attempts=9"}`, "", "base=1s attempts=9 is not a duration"},
		"a list at the top": {`["full"]`, "", "is neither a text nor a mapping"},
		"a number":          {`7`, "", ""},
		"two rules":         {`{"rule": "full base=1s", "base": "2s"}`, "", `key "base" is given twice`},
	} {
		t.Run(name, func(t *testing.T) {
			before := retry.Policy{MaxAttempts: 42}
			var generic any
			require.NoError(t, json.Unmarshal([]byte(tt.mapping), &generic))
			for form, unmarshal := range map[string]func(*retry.Policy) error{
				"JSON": func(p *retry.Policy) error { return json.Unmarshal([]byte(tt.mapping), p) },
				"YAML": func(p *retry.Policy) error {
					return p.UnmarshalYAML(func(v any) error { *v.(*any) = generic; return nil })
				},
				"TOML":         func(p *retry.Policy) error { return p.UnmarshalTOML(generic) },
				"mapstructure": func(p *retry.Policy) error { return p.UnmarshalMapstructure(generic) },
			} {
				p := before
				err := unmarshal(&p)
				if tt.wrong != "" || name == "a number" {
					assert.ErrorIs(t, err, retry.ErrInvalid, form)
					assert.ErrorContains(t, err, tt.wrong, form)
					assert.Equal(t, before, p, form)
					continue
				}
				require.NoError(t, err, form)
				want, err := retry.ParsePolicy(tt.text)
				require.NoError(t, err)
				assert.Equal(t, want.String(), p.String(), form)
			}
		})
	}
	t.Run("null", func(t *testing.T) {
		p := retry.Policy{MaxAttempts: 42}
		require.NoError(t, json.Unmarshal([]byte("null"), &p))
		assert.Equal(t, 42, p.MaxAttempts)
	})
	t.Run("a failing decoder", func(t *testing.T) {
		var p retry.Policy
		assert.Equal(t, errOp, p.UnmarshalYAML(func(any) error { return errOp }))
		assert.ErrorIs(t, p.UnmarshalJSON([]byte("{")), retry.ErrInvalid)
	})
}

func TestParsePolicyErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"ful base=1s", `unknown name "ful"; known are standard, none, constant,`},
		{"ful", `aws-js-v3-adaptive-2026`},
		{"full base=50", `base=50 needs a unit, as in base=50ms or base=50s`},
		{"full base=0", `base=0 needs a unit`},
		{"full base=fast", `base=fast is not a duration such as 50ms, 20s or 1m30s`},
		{"full bse=50ms", `unknown key "bse"; known here: base, cap, factor, attempts, elapsed, timeout, stagger, hint, budget, limiter, longpoll`},
		{"base=50ms", `unknown key "base"; known here: attempts, elapsed, timeout, stagger, hint, budget, limiter, longpoll`},
		{"aws-js-v2 base=50ms", `unknown key "base"; known here: service, attempts, elapsed, timeout, stagger, hint, budget, limiter, longpoll`},
		{"aws-js-v2 service=", `"service=" does not name a service`},
		{"aws-js-v2 service=DynamoDB", `"DynamoDB" does not name a service as the AWS CLI does, as in dynamodb`},
		{"aws-js-v2 service=s3 service=sqs", `key "service" is given twice`},
		{"full base=1s service=s3", `unknown key "service"; known here: base, cap, factor, attempts`},
		{"full base=1s longpoll=maybe", `longpoll=maybe is neither true nor false`},
		{"full base=50ms base=60ms", `key "base" is given twice`},
		{"full base=50ms quickly", `"quickly" is not of the form key=value`},
		{"full base=", `"base=" is not of the form key=value`},
		{"full =50ms", `"=50ms" is not of the form key=value`},
		{"full base=1s factor=two", `factor=two is not a number`},
		{"full base=1s attempts=0", `attempts=0 is not a whole number of at least 1, nor "unlimited"`},
		{"full base=1s attempts=2.5", `attempts=2.5 is not a whole number`},
		{"full base=1s attempts=-1", `attempts=-1 is not a whole number`},
		{"full base=1s elapsed=60", `elapsed=60 needs a unit`},
		{"full base=1s timeout=x", `timeout=x is not a duration`},
		{"full base=1s hint=maybe", `unknown hint=maybe; known are at-least, or-give-up, window, ignore`},
		{"full base=1s hint=ignore:1m", `hint=ignore takes no duration`},
		{"full base=1s hint=or-give-up:9", `hint=or-give-up:9 needs a unit, as in hint=or-give-up:9ms or hint=or-give-up:9s`},
		{"decorrelated base=1s redraw=often", `redraw=often is neither true nor false`},
		{"schedule delays=1s/2", `delays=2 needs a unit`},
		{"schedule", `Schedule: has no delays`},
		{"capped", `capped takes 1 rule(s) in parentheses, separated by |; "(" is missing`},
		{"capped(full base=1s", `capped takes 1 rule(s) in parentheses; ")" is missing`},
		{"capped()", `a rule is missing before ")"; known are standard, none, constant, exponential, linear, fibonacci, schedule, full, equal, decorrelated, jittered, spread, capped, when-throttled`},
		{"capped(full base=1s | none)", `")" is missing`},
		{"capped(aws-js-v2)", `unknown name "aws-js-v2"; known are standard, none,`},
		{"capped(full base=1s attempts=3)", `unknown key "attempts"; known here: base, cap, factor`},
		{"when-throttled(none)", `when-throttled takes 2 rule(s) in parentheses, separated by |; "|" is missing`},
		{"none delay=1s", `unknown key "delay"; known here: attempts`},
		{"capped(none delay=1s)", `unknown key "delay"; known here: none`},
		{"(", `a rule is missing before "("`},
		{"spread(", `a rule is missing at the end; known are standard, none,`},
		{"full base=1s elapsed=inf", `elapsed=inf is not a duration`},
		{"full base=1s hint=or-give-up:-5s", `Hint: HintOrGiveUp: Max -5s is negative`},
		{"full base=1s )", `")" is not of the form key=value`},
		{strings.Repeat("capped(", 100), `rules are nested more than 16 deep`},
		{"full base=5s cap=1s", `Base 5s is above Cap 1s`},
		{"full", `Base is 0, which never waits`},
		{"full base=1s elapsed=-1s", `MaxElapsed is negative (-1s)`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := retry.ParsePolicy(tt.text)
			require.ErrorContains(t, err, tt.want)
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.True(t, strings.HasPrefix(err.Error(), "invalid retry policy "), "%v", err)
		})
	}
}

// TestTextInOtherFormats: one text serves flags, JSON and logs.
func TestTextInOtherFormats(t *testing.T) {
	var config struct{ Retry retry.Policy }
	require.NoError(t, json.Unmarshal([]byte(`{"Retry": "equal base=1s attempts=4"}`), &config))
	assert.Equal(t, retry.Policy{Backoff: retry.EqualJitter{Base: time.Second}, MaxAttempts: 4}, config.Retry)
	text, err := json.Marshal(config)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Retry": "equal base=1s attempts=4"}`, string(text))

	require.Error(t, json.Unmarshal([]byte(`{"Retry": "equal"}`), &config))
	assert.Equal(t, 4, config.Retry.MaxAttempts, "an error changes nothing")

	var p retry.Policy
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(&p, "retry", awspreset.BotocoreLegacy.Policy(""), "retry `policy`")
	require.NoError(t, flags.Parse(nil))
	assert.Equal(t, 5, p.MaxAttempts)
	require.NoError(t, flags.Parse([]string{"-retry", "none attempts=2"}))
	assert.Equal(t, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2}, p)
	require.Error(t, flags.Parse([]string{"-retry", "some attempts=2"}))

	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("calling", "policy", p)
	assert.Contains(t, out.String(), `policy="none attempts=2"`)
}

// FuzzParsePolicy: no text makes the parser panic, and what it accepts prints
// as a text that means the same.
func FuzzParsePolicy(f *testing.F) {
	for _, text := range []string{
		"", "full base=50ms cap=20s attempts=5 elapsed=1m", "aws-java-v1-legacy attempts=6", "none hint=or-give-up:1m",
		"when-throttled(capped(spread(exponential base=1s factor=1.5) fraction=0.1) cap=1m | schedule delays=1s/2s) timeout=1s",
		"jittered(decorrelated base=1s redraw=true) share=0.5 attempts=unlimited", "capped(((|", "constant delay=1µs;linear",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := retry.ParsePolicy(text)
		if err != nil {
			return
		}
		printed := p.String()
		again, err := retry.ParsePolicy(printed)
		if err != nil {
			t.Fatalf("%q prints as %q, which is an error: %v", text, printed, err)
		}
		if reprinted := again.String(); reprinted != printed {
			t.Fatalf("%q prints as %q and then as %q", text, printed, reprinted)
		}
	})
}

func TestDelays(t *testing.T) {
	collect := func(p retry.Policy, limit int) (waits []time.Duration) {
		for wait := range p.Delays() {
			if waits = append(waits, wait); len(waits) == limit {
				break
			}
		}
		return waits
	}
	s := time.Second
	p := retry.Policy{Backoff: retry.FullJitter{Base: s}, MaxAttempts: 5, Rand: retrytest.Replay(0.5, 0, 0.25, 0.75)}
	assert.Equal(t, []time.Duration{s / 2, 0, s, 6 * s}, collect(p, 99))
	assert.Empty(t, collect(retry.Policy{MaxAttempts: 1}, 99))
	assert.Len(t, collect(retry.Policy{}, 99), 2)
	assert.Equal(t, []time.Duration{s, s, s}, collect(retry.Policy{Backoff: retry.Constant(s), MaxAttempts: retry.Unlimited}, 3))
	assert.Equal(t, []time.Duration{s, 2 * s}, collect(retry.Policy{Backoff: retry.Exponential{Base: s}, MaxAttempts: 9, MaxElapsed: 6 * s}, 99))
	assert.Len(t, collect(retry.Policy{Backoff: retry.Constant(forever), MaxAttempts: 4}, 99), 3)

	// The schedule is what a call does.
	clock := &retrytest.Clock{}
	p = awspreset.JavaV1Legacy.Policy("dynamodb")
	p.Clock, p.Rand = clock, retrytest.Seeded(3)
	_ = retry.Do(t.Context(), p, func(context.Context) error { return retry.Transient(errOp) })
	p.Rand = retrytest.Seeded(3)
	assert.Equal(t, clock.Waits(), collect(p, 99))
}

func TestPlan(t *testing.T) {
	s := time.Second
	close := func(want, got time.Duration, percent float64) {
		t.Helper()
		assert.InEpsilon(t, float64(want), float64(got), percent/100, "%v", got)
	}
	t.Run("full jitter", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.FullJitter{Base: s, Cap: 3 * s}, MaxAttempts: 4}.Plan()
		require.Len(t, plan.Retries, 3)
		for i, ceiling := range []time.Duration{s, 2 * s, 3 * s} {
			r := plan.Retries[i]
			assert.Zero(t, r.Min)
			close(ceiling/2, r.Mean, 0.1)
			close(ceiling*99/100, r.P99, 0.1)
			assert.Equal(t, ceiling-1, r.Max)
		}
		assert.Zero(t, plan.Total.Min)
		assert.Equal(t, 6*s-3, plan.Total.Max)
		close(3*s, plan.Total.Mean, 0.1)
		// Of the sum of three independent uniform times, by integration:
		// P(total > 6s−x) = x³/36 for x ≤ 1, and 1% is x = 0.711.
		close(6*s-711*ms, plan.Total.P99, 1)
		assert.False(t, plan.Truncated)
	})
	t.Run("no chance", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.Exponential{Base: s}, MaxAttempts: 4}.Plan()
		want := []retry.WaitStats{{s, s, s, s}, {2 * s, 2 * s, 2 * s, 2 * s}, {4 * s, 4 * s, 4 * s, 4 * s}}
		assert.Equal(t, retry.Plan{Retries: want, Total: retry.WaitStats{Min: 7 * s, Mean: 7 * s, P99: 7 * s, Max: 7 * s}}, plan)
	})
	t.Run("a rule with a memory", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.DecorrelatedJitter{Base: s, Cap: 20 * s}, MaxAttempts: 3}.Plan()
		assert.Equal(t, retry.WaitStats{Min: s, Mean: plan.Retries[1].Mean, P99: plan.Retries[1].P99, Max: 9 * s}, plan.Retries[1])
		close(2*s, plan.Retries[0].Mean, 0.1)
		close(3500*ms, plan.Retries[1].Mean, 1) // (base + 3·E[prev]) / 2
	})
	t.Run("no retries", func(t *testing.T) {
		assert.Equal(t, retry.Plan{}, retry.Policy{MaxAttempts: 1}.Plan())
	})
	t.Run("for ever", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.Constant(s), MaxAttempts: retry.Unlimited}.Plan()
		assert.Len(t, plan.Retries, 100)
		assert.True(t, plan.Truncated)
		assert.Equal(t, 100*s, plan.Total.Max)
	})
	t.Run("all of a hundred", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.Constant(s), MaxAttempts: 101}.Plan()
		assert.Len(t, plan.Retries, 100)
		assert.False(t, plan.Truncated)
	})
	t.Run("within a time limit", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.FullJitter{Base: 4 * s}, MaxAttempts: retry.Unlimited, MaxElapsed: 10 * s}.Plan()
		assert.LessOrEqual(t, plan.Total.Max, 10*s)
		assert.Greater(t, plan.Total.Max, 9*s)
		plan = retry.Policy{Backoff: retry.Constant(s), MaxAttempts: retry.Unlimited, MaxElapsed: 3 * s}.Plan()
		assert.Len(t, plan.Retries, 3)
		assert.Equal(t, 3*s, plan.Total.Max)
		assert.False(t, plan.Truncated)
	})
	t.Run("the mean is between the bounds", func(t *testing.T) {
		plan := retry.Policy{Backoff: retry.Constant(9535669894329), MaxAttempts: 4}.Plan()
		for _, r := range append(plan.Retries, plan.Total) {
			assert.LessOrEqual(t, r.Min, r.Mean)
			assert.LessOrEqual(t, r.Mean, r.Max)
		}
	})
	t.Run("the same every time", func(t *testing.T) {
		assert.Equal(t, retry.Policy{}.Plan(), retry.Policy{}.Plan())
	})
	t.Run("sums saturate", func(t *testing.T) {
		assert.Equal(t, forever, retry.Policy{Backoff: retry.Constant(forever)}.Plan().Total.Max)
	})
}
