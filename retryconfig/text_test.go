package retryconfig_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// uncomparable is a classifier that panics when compared with ==.
type uncomparable []string

func (uncomparable) Classify(error) retry.Verdict { return retry.Verdict{} }
func (c uncomparable) PolicyText() string         { return c[0] }

// presetClassifier is a classifier whose PolicyText panics on a nil receiver.
type presetClassifier struct{ text string }

func (*presetClassifier) Classify(error) retry.Verdict { return retry.Verdict{} }
func (c *presetClassifier) PolicyText() string         { return c.text }

// TestText: String prints what ParsePolicy reads.
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
		{"none attempts=3 hint=at-least(max=10m)", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintAtLeast{Max: 10 * time.Minute}}},
		{"none attempts=3 hint=or-give-up(max=1m)", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintOrGiveUp{Max: time.Minute}}},
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
}

// TestTextSeparators: commas, semicolons and line breaks separate words as spaces do.
func TestTextSeparators(t *testing.T) {
	want, err := retry.ParsePolicy("capped(full base=1s) cap=1m attempts=4")
	require.NoError(t, err)
	for _, text := range []string{"capped(full,base=1s),cap=1m,attempts=4", "capped ( full; base=1s );\n\tcap=1m; attempts=4 "} {
		got, err := retry.ParsePolicy(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestTextDepth(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat("capped(", n) + "none" + strings.Repeat(") cap=1s", n)
	}
	for text, ok := range map[string]bool{
		deep(15): true,
		deep(16): false,
		"when-throttled(" + deep(14) + " | " + deep(14) + ")": true, // rules side by side add no depth
	} {
		p, err := retry.ParsePolicy(text)
		if !ok {
			assert.ErrorContains(t, err, "rules are nested more than 16 deep")
		} else if assert.NoError(t, err) {
			assert.Equal(t, text+" attempts=3", p.String())
		}
	}
}

func TestTextOfDefaults(t *testing.T) {
	assert.Equal(t, "standard attempts=3", retry.Policy{}.String())
	p, err := retry.ParsePolicy("")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{}, p)
	p, err = retry.ParsePolicy("attempts=7")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{MaxAttempts: 7}, p)
	assert.Equal(t, "none attempts=3", retry.Policy{Backoff: retry.NoDelay{}, Hint: retry.HintAtLeast{}}.String(), "the default hint rule")
}

// TestTextOfPresets: a policy made from a preset prints as its name and the
// differences.
func TestTextOfPresets(t *testing.T) {
	p := awspreset.JavaV1Legacy.Policy("")
	assert.Equal(t, "aws-java-v1-legacy", p.String())
	p.MaxAttempts, p.MaxElapsed = 6, time.Minute
	assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m", p.String())
	parsed, err := retry.ParsePolicy(p.String())
	require.NoError(t, err)
	assert.Equal(t, p, parsed, "with the classifier, the hint rule and a new budget")
	assert.NotSame(t, p.Budget, parsed.Budget)
	p.Hint = retry.HintAtLeast{Max: time.Hour}
	assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m hint=at-least(max=1h)", p.String())
	p.Hint = nil
	assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m hint=at-least", p.String())
	p.Classifier, p.Hint = nil, retry.HintIgnore{}
	assert.Equal(t, "when-throttled(java-equal base=500ms cap=20s | java-full base=100ms cap=20s) attempts=6 elapsed=1m hint=ignore budget=token(capacity=500 cost=5 throttled=0 successonly=true)", p.String())
	_, err = p.MarshalText()
	assert.ErrorContains(t, err, "has no text form", "an SDK's own arithmetic has a text form only as part of its preset")
}

func TestTextOfShortLimits(t *testing.T) {
	p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxElapsed: 1}
	assert.Equal(t, "full base=1s attempts=3 elapsed=1ns", p.String())
}

// TestTextOfForeignClassifiers: a classifier of any type may name a preset.
func TestTextOfForeignClassifiers(t *testing.T) {
	p := retry.Policy{Classifier: uncomparable{"aws-standard-2026"}, Backoff: awspreset.Standard2026.Policy("").Backoff}
	assert.Equal(t, "aws-standard-2026 hint=at-least budget=none", p.String())
	p.Classifier = uncomparable{"no such preset"}
	assert.Equal(t, "when-throttled(full base=1s cap=20s | full base=50ms cap=20s) attempts=3 classifier=retry_test.uncomparable", p.String())
	var none *presetClassifier
	p.Classifier = none
	assert.Equal(t, "when-throttled(full base=1s cap=20s | full base=50ms cap=20s) attempts=3 classifier=*retry_test.presetClassifier", p.String())
}

// TestNoText: parts without a text form print as their type and cannot be marshaled.
func TestNoText(t *testing.T) {
	for text, tt := range map[string]struct {
		policy retry.Policy
		fault  string
	}{
		"capped(retry_test.foreignBackoff) cap=1s attempts=3": {
			retry.Policy{Backoff: retry.Capped{Of: foreignBackoff{}, Cap: time.Second}}, "backoff retry_test.foreignBackoff",
		},
		"standard attempts=3 hint=retry_test.hintFunc":       {retry.Policy{Hint: hintFunc(nil)}, "hint rule retry_test.hintFunc"},
		"standard attempts=3 budget=retry_test.seeing":       {retry.Policy{Budget: seeing{}}, "budget retry_test.seeing"},
		"standard attempts=3 budget=*retry.TokenBudget":      {retry.Policy{Budget: (*retry.TokenBudget)(nil)}, "budget *retry.TokenBudget"},
		"standard attempts=3 limiter=retry_test.limiterFunc": {retry.Policy{Limiter: limiterFunc(nil)}, "limiter retry_test.limiterFunc"},
		"standard attempts=3 limiter=*awspreset.AdaptiveLimiter": {
			retry.Policy{Limiter: awspreset.BotocoreAdaptive.Policy("").Limiter}, "limiter *awspreset.AdaptiveLimiter",
		},
		"standard attempts=3 classifier=retry_test.uncomparable": {
			retry.Policy{Classifier: uncomparable{"no such preset"}}, "classifier retry_test.uncomparable",
		},
		"aws-standard-2026 budget=retry_test.seeing": {
			retry.Policy{
				Classifier: uncomparable{"aws-standard-2026"}, Backoff: awspreset.Standard2026.Policy("").Backoff,
				Hint: retry.HintWindow{}, Budget: seeing{},
			}, "budget retry_test.seeing",
		},
	} {
		assert.Equal(t, text, tt.policy.String())
		_, err := tt.policy.MarshalText()
		assert.EqualError(t, err, tt.fault+" has no text form", text)
		_, err = retry.ParsePolicy(text)
		assert.Error(t, err, text)
	}
	p := retry.Policy{Classifier: retry.DefaultClassifier{}, Clock: retry.SystemClock{}, Rand: func() float64 { return 0 }}
	text, err := p.MarshalText()
	require.NoError(t, err, "a text never describes clocks and random sources")
	assert.Equal(t, "standard attempts=3", string(text))
}

// TestKeep: a line of text replaces what a text can describe.
func TestKeep(t *testing.T) {
	clock, own := &retrytest.Clock{}, retry.FirstOf(retry.DefaultClassifier{})
	retried := 0
	filled := retry.Policy{
		Backoff: retry.Constant(time.Second), MaxAttempts: 9, MaxElapsed: time.Minute, Budget: &retry.TokenBudget{},
		Classifier: own, Clock: clock, Rand: func() float64 { return 0.5 },
		Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) { retried++ }},
	}
	kept := func(t *testing.T, p retry.Policy) {
		t.Helper()
		assert.Same(t, clock, p.Clock)
		assert.InDelta(t, 0.5, p.Rand(), 0)
		p.OnRetry(t.Context(), retry.Attempt{}, 0)
		assert.Positive(t, retried)
		retried = 0
		assert.Equal(t, own, p.Classifier)
	}
	for _, text := range []string{"full base=1s", "attempts=2", "", "aws-standard-2026"} {
		t.Run(text, func(t *testing.T) {
			p := filled
			require.NoError(t, p.UnmarshalText([]byte(text)))
			kept(t, p)
			want, err := retry.ParsePolicy(text)
			require.NoError(t, err)
			p.Classifier = want.Classifier
			assert.Equal(t, want.String(), p.String())
		})
	}
	t.Run("the classifier of a preset", func(t *testing.T) {
		p := awspreset.BotocoreLegacy.Policy("")
		require.NoError(t, p.UnmarshalText([]byte("full base=1s")))
		assert.Equal(t, retry.Policy{Backoff: retry.FullJitter{Base: time.Second}}, p)
	})
	t.Run("a Policy of a decoder's hook", func(t *testing.T) {
		p := filled
		require.NoError(t, p.UnmarshalTOML(&retry.Policy{MaxAttempts: 7}))
		kept(t, p)
		assert.Equal(t, 7, p.MaxAttempts)
	})
	t.Run("mapping", func(t *testing.T) {
		p := filled
		require.NoError(t, p.UnmarshalTOML(map[string]any{"preset": "aws-standard-2026", "attempts": 7}))
		kept(t, p)
		want := awspreset.Standard2026.Policy("")
		assert.Equal(t, want.Backoff, p.Backoff)
		assert.Equal(t, want.Hint, p.Hint)
		assert.Equal(t, 7, p.MaxAttempts)
		assert.Equal(t, time.Minute, p.MaxElapsed)
	})
}

// TestMerge: a mapping changes what it names, and leaves the rest as it is.
func TestMerge(t *testing.T) {
	full := "full base=100ms cap=5s attempts=7 elapsed=30s budget=token(capacity=10)"
	for mapping, tt := range map[string]struct{ before, after, wrong string }{
		`{"elapsed": "1m"}`:                             {full, "full base=100ms cap=5s attempts=7 elapsed=1m budget=token(capacity=10)", ""},
		`{"base": "1s"}`:                                {full, "full base=1s cap=5s attempts=7 elapsed=30s budget=token(capacity=10)", ""},
		`{"rule": "equal", "base": "1s"}`:               {full, "equal base=1s attempts=7 elapsed=30s budget=token(capacity=10)", ""},
		`{"rule": "standard", "budget": "none"}`:        {full, "attempts=7 elapsed=30s", ""},
		`{"elapsed": "none", "attempts": "unlimited"}`:  {full, "full base=100ms cap=5s attempts=unlimited budget=token(capacity=10)", ""},
		`{"budget": {"rule": "token"}}`:                 {full, "full base=100ms cap=5s attempts=7 elapsed=30s budget=token", ""},
		`{"preset": "aws-js-v2"}`:                       {full, "aws-js-v2 elapsed=30s", ""},
		`{}`:                                            {full, full, ""},
		`{"elapsed": "1ns"}`:                            {full, "full base=100ms cap=5s attempts=7 elapsed=1ns budget=token(capacity=10)", ""},
		`{"delays": ["3s"]}`:                            {"schedule delays=1s/2s attempts=3", "schedule delays=3s attempts=3", ""},
		`{"fraction": 0.5}`:                             {"spread(full base=1s) fraction=0.1", "spread(full base=1s) fraction=0.5", ""},
		`{"attempts": 2}`:                               {"aws-js-v2 service=s3", "aws-js-v2 service=s3 attempts=2", ""},
		`{"step": "1s"}`:                                {full, full, `unknown key "step"; valid: base, cap, factor, attempts`},
		`{"cap": "10ms"}`:                               {full, full, `Base 100ms is above Cap 10ms`},
		`{"base": "1s", "attempts": 9, "limiter": "x"}`: {full, full, `unknown limiter "x"`},
	} {
		t.Run(mapping, func(t *testing.T) {
			p, err := retry.ParsePolicy(tt.before)
			require.NoError(t, err)
			want, err := retry.ParsePolicy(tt.after)
			require.NoError(t, err)
			err = json.Unmarshal([]byte(mapping), &p)
			if tt.wrong != "" {
				require.ErrorContains(t, err, tt.wrong)
			} else {
				require.NoError(t, err)
			}
			want.MaxAttempts = max(want.MaxAttempts, p.MaxAttempts) // a text without attempts leaves them 0
			assert.Equal(t, want.String(), p.String())
		})
	}
	t.Run("a schedule is not shared", func(t *testing.T) {
		delays := retry.Schedule{time.Second}
		p := retry.Policy{Backoff: delays}
		require.NoError(t, json.Unmarshal([]byte(`{"delays": "5s"}`), &p))
		assert.Equal(t, retry.Schedule{time.Second}, delays)
		assert.Equal(t, retry.Schedule{5 * time.Second}, p.Backoff)
	})
}

// TestMapping: a configuration file may contain the keys of the text form as a mapping.
func TestMapping(t *testing.T) {
	for name, tt := range map[string]struct {
		mapping string
		text    string
		wrong   string
	}{
		"a rule":               {`{"rule": "full", "base": "100ms", "cap": "5s", "attempts": 7}`, "full base=100ms cap=5s attempts=7", ""},
		"a preset":             {`{"preset": "aws-standard-2026", "service": "dynamodb", "attempts": 6}`, "aws-standard-2026 service=dynamodb attempts=6", ""},
		"rules in a rule":      {`{"rule": "spread(full base=1s)", "fraction": 0.1}`, "spread(full base=1s) fraction=0.1", ""},
		"a list":               {`{"rule": "schedule", "delays": ["1s", "2s"]}`, "schedule delays=1s/2s", ""},
		"no rule":              {`{"attempts": "unlimited", "limiter": "none"}`, "attempts=unlimited", ""},
		"a budget":             {`{"budget": "token(capacity=500 cost=14)", "timeout": "200ms"}`, "timeout=200ms budget=token(capacity=500 cost=14)", ""},
		"a text":               {`"full base=1s"`, "full base=1s", ""},
		"empty":                {`{}`, "", ""},
		"an unknown key":       {`{"rule": "full", "base": "1s", "atempts": 7}`, "", `unknown key "atempts"; did you mean "attempts"? Valid: base, cap, factor, attempts`},
		"no rule for a key":    {`{"base": "1s"}`, "", `unknown key "base"; valid: attempts`},
		"an unknown rule":      {`{"rule": "ful", "base": "1s"}`, "", `unknown name "ful"`},
		"no unit":              {`{"rule": "full", "base": 100}`, "", "base=100 needs a unit"},
		"a rule by its field":  {`{"backoff": "full base=1s"}`, "full base=1s", ""},
		"a rule as mapping":    {`{"backoff": {"rule": "full", "base": "1s"}, "attempts": 7}`, "full base=1s attempts=7", ""},
		"a part as mapping":    {`{"budget": {"rule": "token", "cost": 5, "throttled": 0}, "hint": {"rule": "ignore"}}`, "hint=ignore budget=token(cost=5 throttled=0)", ""},
		"a part with spaces":   {`{"hint": "or-give-up( max = 1m )"}`, "", `"max" is not of the form key=value`},
		"another mapping":      {`{"rule": "full", "base": {"seconds": 1}}`, "", "base: a map[string]interface {} is not a text, a number or a boolean"},
		"a mapping within":     {`{"backoff": {"rule": "full", "base": [{}]}}`, "", "backoff: base: a map[string]interface {} is not a text"},
		"two names":            {`{"rule": "full base=1s", "preset": "aws-js-v2"}`, "", `"rule" names the rule a second time`},
		"nothing":              {`{"attempts": null}`, "", "a <nil> is not a text"},
		"a key inside a value": {`{"rule": "full", "base": "1s attempts=9"}`, "", "base=1s attempts=9 is not a duration"},
		"a list at the top":    {`["full"]`, "", "is neither a text nor a mapping"},
		"a number":             {`7`, "", ""},
		"two rules":            {`{"rule": "full base=1s", "base": "2s"}`, "", `key "base" is given twice`},
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
				var p retry.Policy
				if tt.wrong != "" || name == "a number" {
					p = before
				}
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
		{"ful base=1s", `unknown name "ful"; did you mean "full"? Valid: standard, none, constant,`},
		{"ful", `aws-js-v3-adaptive-2026`},
		{"aws-js-v9", `aws-standard-2026`},
		{"full base=1s limiter=x", `unknown limiter "x"`},
		{"full base=50", `base=50 needs a unit, as in base=50ms or base=50s`},
		{"full base=0", `base=0 needs a unit`},
		{"full base=1s cap=0s", `cap=0s would mean the default; omit it`},
		{"exponential base=1s factor=0", `factor=0 would mean the default`},
		{"full base=1s elapsed=0s", `elapsed=0s would mean none; say so`},
		{"full base=1s hint=window(width=0s)", `width=0s would mean the default`},
		{"full base=fast", `base=fast is not a duration such as 50ms, 20s or 1m30s`},
		{"full bse=50ms", `unknown key "bse"; did you mean "base"? Valid: base, cap, factor, attempts, elapsed, timeout, hint, budget, limiter`},
		{"base=50ms", `unknown key "base"; valid: attempts, elapsed, timeout, hint, budget, limiter`},
		{"aws-js-v2 base=50ms", `unknown key "base"; valid: service, attempts, elapsed, timeout, hint, budget, limiter`},
		{"aws-js-v2 service=", `"service=" is not of the form key=value`},
		{"aws-js-v2 service=DynamoDB", `"DynamoDB" does not name a service as the AWS CLI does, as in dynamodb`},
		{"aws-js-v2 service=s3 service=sqs", `key "service" is given twice`},
		{"full base=1s service=s3", `unknown key "service"; valid: base, cap, factor, attempts`},
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
		{"full base=1s hint=maybe", `unknown hint "maybe"; valid: at-least, or-give-up, window, ignore`},
		{"full base=1s hint=ignore(max=1m)", `unknown key "max"; valid: none`},
		{"full base=1s hint=or-give-up(max=9)", `max=9 needs a unit, as in max=9ms or max=9s`},
		{"decorrelated base=1s redraw=often", `redraw=often is neither true nor false`},
		{"schedule delays=1s/2", `delays=2 needs a unit`},
		{"schedule", `Schedule: has no delays`},
		{"capped", `capped takes 1 rule(s) in parentheses, separated by |; "(" is missing`},
		{"capped(full base=1s", `capped takes 1 rule(s) in parentheses; ")" is missing`},
		{"capped()", `a rule is missing before ); valid: standard, none, constant, exponential, linear, fibonacci, schedule, full, equal, decorrelated, jittered, spread, capped, when-throttled`},
		{"capped(full base=1s | none)", `")" is missing`},
		{"capped(aws-js-v2)", `unknown name "aws-js-v2"; valid: standard, none,`},
		{"capped(full base=1s attempts=3)", `unknown key "attempts"; valid: base, cap, factor`},
		{"when-throttled(none)", `when-throttled takes 2 rule(s) in parentheses, separated by |; "|" is missing`},
		{"none delay=1s", `unknown key "delay"; valid: attempts`},
		{"capped(none delay=1s)", `unknown key "delay"; valid: none`},
		{"(", `a rule is missing before (`},
		{"spread(", `a rule is missing before the end; valid: standard, none,`},
		{"full base=1s elapsed=inf", `elapsed=inf is not a duration`},
		{"full base=1s hint=or-give-up(max=-5s)", `Hint: HintOrGiveUp: Max -5s is negative`},
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
			assert.NotContains(t, err.Error(), "import github.com") // of awspreset, which these tests do
		})
	}
}

// TestTextInOtherFormats: flags, JSON and logs use the same text.
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

// FuzzParsePolicy: no text makes the parser panic, and an accepted text keeps its
// meaning when printed.
func FuzzParsePolicy(f *testing.F) {
	for _, text := range []string{
		"", "full base=50ms cap=20s attempts=5 elapsed=1m", "aws-java-v1-legacy attempts=6", "none hint=or-give-up(max=1m)",
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
