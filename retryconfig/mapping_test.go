package retryconfig_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

// TestMerge: a mapping changes what it names, and leaves the rest as it is.
func TestMerge(t *testing.T) {
	full := "full base=100ms cap=5s attempts=7 elapsed=30s budget=shared(reserve=10)"
	for mapping, tt := range map[string]struct{ before, after, wrong string }{
		`{"elapsed": "1m"}`:                             {full, "full base=100ms cap=5s attempts=7 elapsed=1m budget=shared(reserve=10)", ""},
		`{"base": "1s"}`:                                {full, "full base=1s cap=5s attempts=7 elapsed=30s budget=shared(reserve=10)", ""},
		`{"rule": "equal", "base": "1s"}`:               {full, "equal base=1s attempts=7 elapsed=30s budget=shared(reserve=10)", ""},
		`{"rule": "standard", "budget": "none"}`:        {full, "attempts=7 elapsed=30s budget=none", ""},
		`{"elapsed": "none", "attempts": "unlimited"}`:  {full, "full base=100ms cap=5s attempts=unlimited budget=shared(reserve=10)", ""},
		`{"budget": {"rule": "shared"}}`:                {full, "full base=100ms cap=5s attempts=7 elapsed=30s budget=shared", ""},
		`{"preset": "house"}`:                           {full, "house elapsed=30s", ""},
		`{}`:                                            {full, full, ""},
		`{"elapsed": "1µs"}`:                            {full, "full base=100ms cap=5s attempts=7 elapsed=1µs budget=shared(reserve=10)", ""},
		`{"delays": ["3s"]}`:                            {"schedule delays=1s/2s attempts=3", "schedule delays=3s attempts=3", ""},
		`{"fraction": 0.5}`:                             {"spread(full base=1s) fraction=0.1", "spread(full base=1s) fraction=0.5", ""},
		`{"attempts": 2}`:                               {"house service=kitchen", "house service=kitchen attempts=2", ""},
		`{"step": "1s"}`:                                {full, full, `unknown key "step"; valid: base, cap, factor, attempts`},
		`{"cap": "10ms"}`:                               {full, full, `Base 100ms is above Cap 10ms`},
		`{"base": "1s", "attempts": 9, "limiter": "x"}`: {full, full, `unknown limiter "x"`},
	} {
		t.Run(mapping, func(t *testing.T) {
			before, err := retryconfig.Parse(tt.before)
			require.NoError(t, err)
			p := retryconfig.Policy{Policy: before}
			want, err := retryconfig.Parse(tt.after)
			require.NoError(t, err)
			err = json.Unmarshal([]byte(mapping), &p)
			if tt.wrong != "" {
				require.ErrorContains(t, err, tt.wrong)
			} else {
				require.NoError(t, err)
			}
			want.MaxAttempts = max(want.MaxAttempts, p.MaxAttempts) // a text without attempts leaves them 0
			assert.Equal(t, textOf(want), p.String())
		})
	}
	t.Run("a schedule is not shared", func(t *testing.T) {
		delays := retry.Schedule{time.Second}
		p := retryconfig.Policy{Policy: retry.Policy{Backoff: delays}}
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
		"a preset":             {`{"preset": "house", "service": "kitchen", "attempts": 6}`, "house service=kitchen attempts=6", ""},
		"rules in a rule":      {`{"rule": "spread(full base=1s)", "fraction": 0.1}`, "spread(full base=1s) fraction=0.1", ""},
		"a list":               {`{"rule": "schedule", "delays": ["1s", "2s"]}`, "schedule delays=1s/2s", ""},
		"no rule":              {`{"attempts": "unlimited", "limiter": "none"}`, "attempts=unlimited", ""},
		"a budget":             {`{"budget": "shared(reserve=9)", "timeout": "200ms"}`, "budget=shared(reserve=9) timeout=200ms", ""},
		"a text":               {`"full base=1s"`, "full base=1s", ""},
		"empty":                {`{}`, "", ""},
		"an unknown key":       {`{"rule": "full", "base": "1s", "atempts": 7}`, "", `unknown key "atempts"; did you mean "attempts"?`},
		"no rule for a key":    {`{"base": "1s"}`, "", `key "base" needs the name of a rule, such as full`},
		"an unknown rule":      {`{"rule": "ful", "base": "1s"}`, "", `unknown name "ful"`},
		"no unit":              {`{"rule": "full", "base": 100}`, "", "base: 100 needs a unit, as in 100ms or 100s"},
		"a rule by its field":  {`{"backoff": "full base=1s"}`, "full base=1s", ""},
		"a rule as mapping":    {`{"backoff": {"rule": "full", "base": "1s"}, "attempts": 7}`, "full base=1s attempts=7", ""},
		"a part as mapping":    {`{"budget": {"rule": "shared", "reserve": 7}, "hint": {"rule": "ignore"}}`, "hint=ignore budget=shared(reserve=7)", ""},
		"a part with spaces":   {`{"hint": "or-give-up( max = 1m )"}`, "hint=or-give-up(max=1m)", ""},
		"another mapping":      {`{"rule": "full", "base": {"seconds": 1}}`, "", "base: {…} is not a single value"},
		"a mapping within":     {`{"backoff": {"rule": "full", "base": [{}]}}`, "", "backoff: base: a mapping in a list is not a text"},
		"two names":            {`{"rule": "full base=1s", "preset": "house"}`, "", `"rule" names the rule a second time`},
		"nothing":              {`{"attempts": null}`, "", "attempts: null is not a text"},
		"a key inside a value": {`{"rule": "full", "base": "1s attempts=9"}`, "", "base: 1s attempts=9 is not a duration"},
		"a list at the top":    {`["full"]`, "", "want a text or a mapping with text keys, not a list"},
		"a number":             {`7`, "", ""},
		"a rule within a rule": {`{"rule": "spread", "of": {"rule": "full", "base": "1s"}}`, "", "write a rule within a rule as text, as in rule: spread(full base=1s)"},
		"a key twice":          {`{"rule": "full base=1s", "base": "2s"}`, "", `key "base" is given twice`},
		"upper case":           {`{"Rule": "full", "Base": "1s"}`, "", `unknown key "Base"; did you mean "base"?; unknown key "Rule"; did you mean "rule"?`},
		"fields of the struct": {`{"MaxAttempts": 7, "MaxElapsed": "1m"}`, "", `unknown key "MaxAttempts"; write attempts`},
		"in a part":            {`{"budget": {"rule": "shared", "Reserve": 5}, "hint": {"rule": "window", "width": 5}}`, "", `budget: unknown key "Reserve"; did you mean "reserve"?; hint: width: 5 needs a unit`},
		"a part without name":  {`{"hint": {"max": "1s"}, "budget": ""}`, "", `the name of the budget is missing; valid: shared, none, default; the name of the hint is missing; valid: at-least,`},
		"two rules":            {`{"rule": "full base=1s", "base": "2s"}`, "", `key "base" is given twice`},
	} {
		t.Run(name, func(t *testing.T) {
			before := retryconfig.Policy{Policy: retry.Policy{MaxAttempts: 42}}
			var generic any
			require.NoError(t, json.Unmarshal([]byte(tt.mapping), &generic))
			for form, unmarshal := range map[string]func(*retryconfig.Policy) error{
				"JSON": func(p *retryconfig.Policy) error { return json.Unmarshal([]byte(tt.mapping), p) },
				"YAML": func(p *retryconfig.Policy) error {
					return p.UnmarshalYAML(func(v any) error { *v.(*any) = generic; return nil })
				},
				"TOML":         func(p *retryconfig.Policy) error { return p.UnmarshalTOML(generic) },
				"mapstructure": func(p *retryconfig.Policy) error { return p.UnmarshalMapstructure(generic) },
			} {
				var p retryconfig.Policy
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
				want, err := retryconfig.Parse(tt.text)
				require.NoError(t, err)
				assert.Equal(t, textOf(want), p.String(), form)
			}
		})
	}
}

func TestValuesThatAreNoMapping(t *testing.T) {
	t.Run("null", func(t *testing.T) {
		p := retryconfig.Policy{Policy: retry.Policy{MaxAttempts: 42}}
		require.NoError(t, json.Unmarshal([]byte("null"), &p))
		assert.Equal(t, 42, p.MaxAttempts)
	})
	t.Run("nested mappings", func(t *testing.T) {
		var p retryconfig.Policy
		deep := strings.Repeat(`{"backoff": `, 5000) + "1" + strings.Repeat("}", 5000)
		assert.ErrorContains(t, json.Unmarshal([]byte(deep), &p), "mappings are nested too deep")
		deep = strings.Repeat(`{"delays": [`, 4000) + "1" + strings.Repeat("]}", 4000)
		assert.ErrorIs(t, json.Unmarshal([]byte(deep), &p), retry.ErrInvalid)
	})
	t.Run("values of other types", func(t *testing.T) {
		var p retryconfig.Policy
		assert.ErrorContains(t, p.UnmarshalTOML(time.Time{}), "not a time.Time")
		assert.ErrorContains(t, p.UnmarshalTOML(map[any]any{1: 2}), "not a mapping with keys that are not text")
		assert.ErrorContains(t, p.UnmarshalTOML(map[string]any{"timeout": time.Time{}}), "timeout: a time.Time is not a text")
		require.NoError(t, p.UnmarshalTOML(map[string]any{"timeout": time.Minute, "attempts": int32(7)}))
		assert.Equal(t, "standard attempts=7 timeout=1m", p.String())
	})
	t.Run("a failing decoder", func(t *testing.T) {
		var p retryconfig.Policy
		assert.Equal(t, errOp, p.UnmarshalYAML(func(any) error { return errOp }))
		assert.ErrorIs(t, p.UnmarshalJSON([]byte("{")), retry.ErrInvalid)
	})
}

// FuzzMapping: no JSON makes a decoder panic, and an accepted mapping has a text with the
// same meaning.
func FuzzMapping(f *testing.F) {
	for _, text := range []string{
		`{"rule": "full", "base": "1s", "attempts": 7}`, `{"preset": "house", "service": "kitchen", "elapsed": "1m"}`,
		`{"backoff": {"rule": "capped(full base=1s)", "cap": "5s"}, "budget": {"rule": "token", "cost": 10, "success": 0.5}}`,
		`{"rule": "schedule", "delays": ["1s", "2s"], "hint": "window(width=1s)", "limiter": "porter"}`, `"no-delay attempts=2"`, `{"hint": ""}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p retryconfig.Policy
		if json.Unmarshal(data, &p) != nil {
			return
		}
		printed := p.String()
		again, err := retryconfig.Parse(printed)
		if err != nil {
			t.Fatalf("%s prints as %q, which is an error: %v", data, printed, err)
		}
		if reprinted := textOf(again); reprinted != printed {
			t.Fatalf("%s prints as %q and then as %q", data, printed, reprinted)
		}
	})
}
