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

// TestSeveralMistakes: an error lists all mistakes, with the keys as they are written.
func TestSeveralMistakes(t *testing.T) {
	for input, want := range map[string][]string{
		`"full bse=50 attempts=0 budget=shard elapsed=60"`: {
			`unknown key "bse"; did you mean "base"?`, `attempts=0: one attempt is the least`, `unknown budget "shard"; did you mean "shared"?`, `elapsed=60 needs a unit`,
		},
		`"ful base=1s atempts=3"`:  {`unknown name "ful"; did you mean "full"?`, `unknown key "atempts"`},
		`"xyz base=1s attempts=x"`: {`unknown name "xyz"`, `attempts=x is not`},
		`"decorrelated base=1s(x=1) redraw=true(x=1) attempts=3(x=1) elapsed=none(x=1)"`: {
			"base=1s(…) is not a single value", "redraw=true(…) is not", "attempts=3(…) is not", "elapsed=none(…) is not",
		},
		`{"rule": "schedule", "delays": {"first": "1s"}, "budget": {"rule": "shared", "reserve": {}}}`: {
			"delays: {…} is not a single value", "budget: reserve: {…} is not a single value",
		},
		`"spread(full bas=1s) fraction=x"`:        {`unknown key "bas"`, `fraction=x is not a number`},
		`"full base=1s base=2s quickly =5 cap=x"`: {`key "base" is given twice`, `"quickly" is not of the form`, `"=5" is not of the form`, `cap=x is not a duration`},
		`{"rule": "Full", "Base": "1s", "budget": {"rule": "shared", "reserve": "x", "Reserve": 5}, "attempts": [], "timeout": null}`: {
			`unknown name "Full"; did you mean "full"?`, `unknown key "Base"; did you mean "base"?`, `budget: reserve: x is not a number`,
			`budget: unknown key "Reserve"; did you mean "reserve"?`, `timeout: null is not a text`, `attempts:  is not a whole number`,
		},
	} {
		var p retryconfig.Policy
		err := json.Unmarshal([]byte(input), &p)
		require.ErrorIs(t, err, retry.ErrInvalid)
		for _, mistake := range want {
			assert.ErrorContains(t, err, mistake, input)
		}
		assert.NotContains(t, err.Error(), "map[", input)
		assert.Equal(t, retryconfig.Policy{}, p)
	}
}

// TestDuplicateKeys: a duplicate key in JSON is refused, as in a text.
func TestDuplicateKeys(t *testing.T) {
	for _, input := range []string{
		`{"attempts": 3, "attempts": 4}`, `{"rule": "full", "base": "1s", "base": "1s"}`,
		`{"budget": {"rule": "shared", "reserve": 1, "reserve": 2}}`, `{"delays": [{"a": 1, "a": 2}]}`, `{"a": 1, "\u0061": 2}`,
	} {
		var p retryconfig.Policy
		assert.ErrorContains(t, json.Unmarshal([]byte(input), &p), "is given twice", input)
	}
	var p retryconfig.Policy
	assert.NoError(t, json.Unmarshal([]byte(`{"hint": {"rule": "window", "width": "1s"}, "budget": {"rule": "shared"}}`), &p))
	assert.ErrorContains(t, p.UnmarshalJSON([]byte(`"full base=1s" 7`)), "more than one JSON value")
	assert.ErrorContains(t, p.UnmarshalJSON([]byte(`"full base=1s" }`)), "more than one JSON value")
}

// TestLongInput: errors stay short, and come soon, whatever the length of the input.
func TestLongInput(t *testing.T) {
	const size = 1 << 18
	for name, text := range map[string]string{
		"a name":           strings.Repeat("x", size),
		"words":            strings.Repeat("x ", size/2),
		"a key":            "full " + strings.Repeat("k", size) + "=1",
		"keys":             "full " + strings.Repeat("k=1 ", size/4),
		"a value":          "full base=" + strings.Repeat("9", size),
		"values":           "full " + strings.Repeat("base=1s(x=1) ", size/13),
		"a service":        "house service=" + strings.Repeat("s", size),
		"delays":           "schedule delays=" + strings.Repeat("x/", size/2),
		"a budget":         "budget=" + strings.Repeat("b", size),
		"keys of budgets":  "budget=shared(" + strings.Repeat("c=1 ", size/4) + ")",
		"parentheses":      strings.Repeat("capped(", size/7),
		"rules":            "capped(" + strings.Repeat("full|", size/5) + "full)",
		"values in values": strings.Repeat("budget=shared(", size/14),
		"signs":            "full " + strings.Repeat(")", size),
	} {
		for form, decode := range map[string]func(p *retryconfig.Policy) error{
			"text":                            func(p *retryconfig.Policy) error { return p.UnmarshalText([]byte(text)) },
			"a mapping with the text as rule": func(p *retryconfig.Policy) error { return p.UnmarshalTOML(map[string]any{"rule": text}) },
			"a mapping within the text": func(p *retryconfig.Policy) error {
				return p.UnmarshalTOML(map[string]any{text: map[string]any{"a": nil, "b": map[string]any{"c": []any{nil}}}})
			},
			"a mapping with the text as key": func(p *retryconfig.Policy) error { return p.UnmarshalTOML(map[string]any{text: "1s"}) },
			"a mapping with the text as value": func(p *retryconfig.Policy) error {
				return p.UnmarshalTOML(map[string]any{"base": text, "budget": text, "hint": map[string]any{"rule": text, text: text}})
			},
		} {
			start := time.Now()
			err := decode(&retryconfig.Policy{})
			require.ErrorIs(t, err, retry.ErrInvalid, "%s, %s", name, form)
			assert.Less(t, len(err.Error()), 4000, "%s, %s", name, form)
			for i := 0; i+100 < len(text); i += size / 4 {
				assert.NotContains(t, err.Error(), text[i:i+100], "%s, %s", name, form)
			}
			assert.Less(t, time.Since(start), 20*time.Second, "%s, %s", name, form)
		}
	}
}
