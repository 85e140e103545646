package retry_test

import (
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
	assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m hint=at-least:1h", p.String())
	p.Hint = nil
	assert.Equal(t, "aws-java-v1-legacy attempts=6 elapsed=1m hint=at-least", p.String())
	p.Classifier, p.Hint = nil, retry.HintIgnore{}
	assert.Equal(t, "when-throttled(java-equal base=500ms cap=20s | java-full base=100ms cap=20s) attempts=6 elapsed=1m hint=ignore budget=token:500:5/5/0:success-only", p.String())
	_, err = p.MarshalText()
	assert.ErrorContains(t, err, "has no text form", "an SDK's own arithmetic has a text form only as part of its preset")
}

// TestTextOfForeignClassifiers: a classifier of any type may name a preset.
func TestTextOfForeignClassifiers(t *testing.T) {
	p := retry.Policy{Classifier: uncomparable{"aws-standard-2026"}, Backoff: awspreset.Standard2026.Policy("").Backoff}
	assert.Equal(t, "aws-standard-2026 hint=at-least budget=none", p.String())
	p.Classifier = uncomparable{"no such preset"}
	assert.Equal(t, "when-throttled(full base=1s cap=20s | full base=50ms cap=20s) attempts=3", p.String())
	var none *presetClassifier
	p.Classifier = none
	assert.Equal(t, "when-throttled(full base=1s cap=20s | full base=50ms cap=20s) attempts=3", p.String())
}

// TestNoText: parts without a text form print as their type and cannot be marshaled.
func TestNoText(t *testing.T) {
	p := retry.Policy{Backoff: retry.Capped{Of: foreignBackoff{}, Cap: time.Second}}
	assert.Equal(t, "capped(retry_test.foreignBackoff) cap=1s attempts=3", p.String())
	_, err := p.MarshalText()
	assert.EqualError(t, err, "backoff retry_test.foreignBackoff has no text form")
	p = retry.Policy{Hint: hintFunc(nil)}
	assert.Equal(t, "standard attempts=3 hint=retry_test.hintFunc", p.String())
	_, err = p.MarshalText()
	assert.EqualError(t, err, "hint rule retry_test.hintFunc has no text form")
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
		"no rule":              {`{"attempts": "unlimited", "longpoll": true}`, "attempts=unlimited longpoll=true", ""},
		"a budget":             {`{"budget": "token:500:14", "stagger": "200ms"}`, "budget=token:500:14 stagger=200ms", ""},
		"a text":               {`"full base=1s"`, "full base=1s", ""},
		"empty":                {`{}`, "", ""},
		"an unknown key":       {`{"rule": "full", "base": "1s", "atempts": 7}`, "", `unknown key "atempts"; known here: base, cap, factor, attempts`},
		"no rule for a key":    {`{"base": "1s"}`, "", `unknown key "base"; known here: attempts`},
		"an unknown rule":      {`{"rule": "ful", "base": "1s"}`, "", `unknown name "ful"`},
		"no unit":              {`{"rule": "full", "base": 100}`, "", "base=100 needs a unit"},
		"a rule as mapping":    {`{"rule": {"name": "full"}}`, "", "a map[string]interface {} is not a text, a number or a boolean"},
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
		{"ful base=1s", `unknown name "ful"; valid names are standard, none, constant,`},
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
		{"full base=1s hint=maybe", `unknown hint=maybe; valid values are at-least, or-give-up, window, ignore`},
		{"full base=1s hint=ignore:1m", `hint=ignore takes no duration`},
		{"full base=1s hint=or-give-up:9", `hint=or-give-up:9 needs a unit, as in hint=or-give-up:9ms or hint=or-give-up:9s`},
		{"decorrelated base=1s redraw=often", `redraw=often is neither true nor false`},
		{"schedule delays=1s/2", `delays=2 needs a unit`},
		{"schedule", `Schedule: has no delays`},
		{"capped", `capped takes 1 rule(s) in parentheses, separated by |; "(" is missing`},
		{"capped(full base=1s", `capped takes 1 rule(s) in parentheses; ")" is missing`},
		{"capped()", `a rule is missing before ")"; valid names are standard, none, constant, exponential, linear, fibonacci, schedule, full, equal, decorrelated, jittered, spread, capped, when-throttled`},
		{"capped(full base=1s | none)", `")" is missing`},
		{"capped(aws-js-v2)", `unknown name "aws-js-v2"; valid names are standard, none,`},
		{"capped(full base=1s attempts=3)", `unknown key "attempts"; known here: base, cap, factor`},
		{"when-throttled(none)", `when-throttled takes 2 rule(s) in parentheses, separated by |; "|" is missing`},
		{"none delay=1s", `unknown key "delay"; known here: attempts`},
		{"capped(none delay=1s)", `unknown key "delay"; known here: none`},
		{"(", `a rule is missing before "("`},
		{"spread(", `a rule is missing at the end; valid names are standard, none,`},
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
