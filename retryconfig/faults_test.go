package retryconfig_test

import (
	"encoding/json"
	"strconv"
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
			`budget: unknown key "Reserve"; did you mean "reserve"?`, `timeout: null is not a text`, `attempts: the list is empty`,
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

// TestTooLong: an input of 1 MiB is refused before it is read: about as many values are allocated as
// for one that is little longer than allowed, instead of one for each word.
func TestTooLong(t *testing.T) {
	const most = 64 << 10
	var p retryconfig.Policy
	inputs := map[string]func(size int) func() error{
		"text": func(size int) func() error {
			text := strings.Repeat("x ", size/2+1)
			return func() error { _, err := retryconfig.Parse(text); return err }
		},
		"JSON": func(size int) func() error {
			data := []byte(`{"rule":"full"` + strings.Repeat(",", size) + "}")
			return func() error { return p.UnmarshalJSON(data) }
		},
		"a mapping with many keys": func(size int) func() error {
			m := map[string]any{}
			for n := range size/4 + 1 {
				m[strconv.Itoa(1000+n)] = 1
			}
			return func() error { return p.UnmarshalTOML(m) }
		},
		"a list": func(size int) func() error {
			m := map[string]any{"rule": "schedule", "delays": make([]any, size)}
			return func() error { return p.UnmarshalTOML(m) }
		},
		"a text in a mapping": func(size int) func() error {
			m := map[string]any{"rule": strings.Repeat("x ", size/2)}
			return func() error { return p.UnmarshalTOML(m) }
		},
		"mappings in mappings": func(int) func() error {
			m := map[string]any{}
			m["backoff"] = m
			return func() error { return p.UnmarshalTOML(m) }
		},
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			allocated := func(size int) float64 {
				decode := input(size)
				err := decode()
				require.ErrorIs(t, err, retry.ErrInvalid)
				assert.ErrorContains(t, err, "at most 65536")
				assert.Less(t, len(err.Error()), 200)
				return testing.AllocsPerRun(1, func() { _ = decode() })
			}
			assert.InDelta(t, allocated(most), allocated(1<<20), 20)
		})
	}
	t.Run("a policy", func(t *testing.T) {
		delays := make(retry.Schedule, 30_000)
		for n := range delays {
			delays[n] = time.Second
		}
		_, err := retryconfig.Text(retry.Policy{Backoff: delays})
		assert.ErrorContains(t, err, "too long")
		text, err := retryconfig.Text(retry.Policy{Backoff: delays[:8000]})
		require.NoError(t, err)
		_, err = retryconfig.Parse(text)
		assert.NoError(t, err)
	})
}

// TestLongInput: errors stay short, whatever the length of the input.
func TestLongInput(t *testing.T) {
	const size = 12_000
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
			err := decode(&retryconfig.Policy{})
			require.ErrorIs(t, err, retry.ErrInvalid, "%s, %s", name, form)
			assert.Less(t, len(err.Error()), 4000, "%s, %s", name, form)
			for i := 0; i+100 < len(text); i += size / 4 {
				assert.NotContains(t, err.Error(), text[i:i+100], "%s, %s", name, form)
			}
		}
	}
}

// TestOneFault: a mistake is reported once, in one short line, with what to write first.
func TestOneFault(t *testing.T) {
	for document, want := range map[string]string{
		`{"timeout": null}`:  "timeout: null is not a text, a number or a boolean",
		`{"attempts": []}`:   "attempts: the list is empty",
		`{"hint": []}`:       "hint: the list is empty",
		`7`:                  `want a text or a mapping with text keys, not the number 7; write "attempts=7"`,
		`{"max_attempts":3}`: `unknown key "max_attempts"; write attempts`,
	} {
		var p retryconfig.Policy
		err := json.Unmarshal([]byte(document), &p)
		assert.EqualError(t, err, "invalid retry policy: "+want)
	}
	var p retryconfig.Policy
	err := p.UnmarshalTOML(map[string]any{"timeout": time.Time{}})
	assert.EqualError(t, err, "invalid retry policy: timeout: a time.Time is not a text, a number or a boolean")
}

// TestDecodersAsTheyAre: the byte order mark of an editor, and JSON's 3.0 for 3.
func TestDecodersAsTheyAre(t *testing.T) {
	var p retryconfig.Policy
	require.NoError(t, p.UnmarshalText([]byte("\ufefffull base=1s")))
	assert.Equal(t, "full base=1s attempts=3", p.String())
	require.NoError(t, p.UnmarshalText([]byte(`"full base = 1s"`)), "docker run --env-file keeps the quotes")
	assert.Equal(t, "full base=1s attempts=3", p.String())
	require.NoError(t, p.UnmarshalText([]byte("schedule delays=[1s, 2s]")))
	assert.Equal(t, "schedule delays=1s/2s attempts=3", p.String())
	require.NoError(t, p.UnmarshalText([]byte("full base=1s")))
	require.NoError(t, p.UnmarshalJSON([]byte("\ufeff{\"attempts\": 4.0}")))
	assert.Equal(t, "full base=1s attempts=4", p.String())
	require.NoError(t, p.UnmarshalJSON([]byte(`{"attempts": 1e1}`)))
	assert.Equal(t, 10, p.MaxAttempts)
	assert.ErrorContains(t, p.UnmarshalJSON([]byte(`{"attempts": 2.5}`)), "attempts: 2.5 is not a whole number")
	assert.ErrorContains(t, p.UnmarshalJSON([]byte(`{"attempts": 1e30}`)), "attempts: 1e30 is not a whole number")
}

// TestWordsOfOthers: what operators write who know another library or tool.
func TestWordsOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"3":                             `unknown name "3"; write attempts=3`,
		"0":                             `unknown name "0"; write none`,
		"-1":                            `unknown name "-1"; write attempts=unlimited`,
		"5s":                            `unknown name "5s"; write constant delay=5s`,
		"attempts: 3":                   `unknown name "attempts:"; write keys as in attempts=3`,
		`{"attempts":3}`:                `write one line, as in full base=1s attempts=3; a mapping belongs in a file`,
		"fixed 5s":                      `invalid retry policy "fixed 5s": unknown name "fixed"; write constant delay=1s`,
		"disabled":                      `unknown name "disabled"; write none`,
		"forever":                       `unknown name "forever"; write attempts=unlimited`,
		"aws":                           `unknown name "aws"; write aws-standard-2.1`,
		"aws-standart-2.1":              `unknown name "aws-standart-2.1"; did you mean "aws-standard-2.1"`,
		"exponential 1s":                `"1s" is not of the form key=value; write its key, as in base=1s`,
		"full base= 1s":                 `"base=" is not of the form key=value`,
		"schedule 1s 2s":                `"1s" is not of the form key=value; write its key, as in delays=1s`,
		"constant=5s":                   `unknown key "constant"; write the name of the rule without a value, in front`,
		"initial_interval=1s":           `unknown key "initial_interval"; write base, after the name of a rule such as full`,
		"base=1s cap=30s":               `key "base" needs the name of a rule, such as full`,
		"{rule: full, base: 1s}":        `write one line, as in full base=1s attempts=3; a mapping belongs in a file`,
		"timeout=30sec":                 `timeout=30sec is not a duration; write 30s`,
		"elapsed=1d":                    `elapsed=1d is not a duration; write 24h`,
		"timeout=0":                     `timeout=0s would mean none; write none`,
		"hint=off":                      `unknown hint "off"; valid: at-least, or-give-up, window, ignore`,
		"elapsed=10s timeout=30s":       `timeout 30s is at least elapsed 10s, so an attempt that times out is never retried`,
		"exponential initial=1s":        `unknown key "initial"; write base`,
		"constant interval=5s":          `unknown key "interval"; write delay`,
		"full base=1s max_interval=30s": `unknown key "max_interval"; write cap`,
		"maxRetries=3":                  `unknown key "maxRetries"; write attempts, which includes the first call`,
		"rule=full base=1s":             `key "rule" belongs to a mapping; a text begins with the name, as in full`,
		"attempts=-1":                   `attempts=-1: write attempts=unlimited`,
		"full base=1s retry_on=503":     `unknown key "retry_on"; did you mean "retry-on"?`,
		"jitter=true":                   `unknown key "jitter"; write the rule full, equal, or spread(exponential base=1s) fraction=0.1`,
	} {
		_, err := retryconfig.Parse(text)
		require.ErrorIs(t, err, retry.ErrInvalid, text)
		assert.ErrorContains(t, err, want, text)
		assert.Less(t, len(err.Error()), 300, "%s: %v", text, err)
	}
}
