package decoders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
	"github.com/go-viper/mapstructure/v2"
	goccy "github.com/goccy/go-yaml"
	"github.com/kelseyhightower/envconfig"
	koanfyaml "github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/viper"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

type config struct {
	Retry retryconfig.Policy `json:"retry" yaml:"retry" toml:"retry" mapstructure:"retry" koanf:"retry"`
}

// A decoder decodes a document into a config that may be filled.
type decoder func(document string, c *config) error

func fromViper(document string, c *config) error {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(strings.NewReader(document)); err != nil {
		return err
	}
	return v.Unmarshal(c, viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
}

func fromKoanf(document string, c *config) error {
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider([]byte(document)), koanfyaml.Parser()); err != nil {
		return err
	}
	return k.Unmarshal("", c)
}

var yamlDecoders = map[string]decoder{
	"yaml.v3": func(document string, c *config) error { return yaml.Unmarshal([]byte(document), c) },
	"goccy":   func(document string, c *config) error { return goccy.Unmarshal([]byte(document), c) },
	"viper":   fromViper,
	"koanf":   fromKoanf,
}

var (
	jsonDecoder decoder = func(document string, c *config) error { return json.Unmarshal([]byte(document), c) }
	tomlDecoder decoder = func(document string, c *config) error { _, err := toml.Decode(document, c); return err }
)

// TestFresh runs the tests of testdata/fresh, a module with the versions that a new program gets.
func TestFresh(t *testing.T) {
	tests := exec.Command("go", "test", "-count=1", "./...")
	tests.Dir = filepath.Join("testdata", "fresh")
	out, err := tests.CombinedOutput()
	assert.NoError(t, err, string(out))
}

// TestForms: a policy's text form and its mapping form have the same meaning in every
// library.
func TestForms(t *testing.T) {
	for name, tt := range map[string]struct{ yaml, json, toml, want string }{
		"text": {
			`retry: full base=100ms cap=5s attempts=7`,
			`{"retry": "full base=100ms cap=5s attempts=7"}`,
			`retry = "full base=100ms cap=5s attempts=7"`,
			"full base=100ms cap=5s attempts=7",
		},
		"mapping": {
			"retry: {rule: full, base: 100ms, cap: 5s, attempts: 7}",
			`{"retry": {"rule": "full", "base": "100ms", "cap": "5s", "attempts": 7}}`,
			"[retry]\nrule = 'full'\nbase = '100ms'\ncap = '5s'\nattempts = 7",
			"full base=100ms cap=5s attempts=7",
		},
		"preset": {
			"retry:\n  preset: aws-standard-2.1\n  service: dynamodb\n  elapsed: 1m",
			`{"retry": {"preset": "aws-standard-2.1", "service": "dynamodb", "elapsed": "1m"}}`,
			"[retry]\npreset = 'aws-standard-2.1'\nservice = 'dynamodb'\nelapsed = '1m'",
			"aws-standard-2.1 service=dynamodb elapsed=1m",
		},
		"numbers and lists": {
			"retry: {rule: spread(full base=1s), fraction: 0.25, budget: 'shared(reserve=9)'}",
			`{"retry": {"rule": "spread(full base=1s)", "fraction": 0.25, "budget": "shared(reserve=9)"}}`,
			"[retry]\nrule = 'spread(full base=1s)'\nfraction = 0.25\nbudget = 'shared(reserve=9)'",
			"spread(full base=1s) fraction=0.25 attempts=3 budget=shared(reserve=9)",
		},
		"mappings within": {
			"retry: {backoff: {rule: full, base: 1s}, budget: {rule: shared, reserve: 1.5}, hint: {rule: window, width: 2s}}",
			`{"retry": {"backoff": {"rule": "full", "base": "1s"}, "budget": {"rule": "shared", "reserve": 1.5}, "hint": {"rule": "window", "width": "2s"}}}`,
			"[retry]\nbackoff = {rule = 'full', base = '1s'}\n[retry.budget]\nrule = 'shared'\nreserve = 1.5\n[retry.hint]\nrule = 'window'\nwidth = '2s'",
			"full base=1s attempts=3 hint=window(width=2s) budget=shared(reserve=1.5)",
		},
		"a rule by its field": {
			"retry: {backoff: full base=1s, attempts: 4}",
			`{"retry": {"backoff": "full base=1s", "attempts": 4}}`,
			"[retry]\nbackoff = 'full base=1s'\nattempts = 4",
			"full base=1s attempts=4",
		},
		"off":     {"retry: off", `{"retry": "off"}`, `retry = "off"`, "none"},
		"a false": {"retry: false", `{"retry": false}`, "retry = false", "none"},
		"off in a mapping": {
			"retry: {rule: never, timeout: 2s}", `{"retry": {"rule": false, "timeout": "2s"}}`, "[retry]\nrule = false\ntimeout = '2s'",
			"none timeout=2s",
		},
		"lists of codes": {
			"retry: {retry-on: [450, '08006', 5xx], stop-on: '429,ABORTED'}",
			`{"retry": {"retry-on": [450, "08006", "5xx"], "stop-on": "429,ABORTED"}}`,
			"[retry]\nretry-on = ['450', '08006', '5xx']\nstop-on = '429,ABORTED'",
			"standard attempts=3 retry-on=450,08006,5xx stop-on=429,ABORTED",
		},
		"lists of codes in a text": {
			"retry: standard attempts=4,retry-on=450,530,stop-on=429", `{"retry": "standard attempts=4,retry-on=450,530,stop-on=429"}`,
			`retry = "standard attempts=4,retry-on=450,530,stop-on=429"`, "standard attempts=4 retry-on=450,530 stop-on=429",
		},
		"one code": {
			"retry: {retry-on: 450, stop-on: 40001}", `{"retry": {"retry-on": 450, "stop-on": 40001}}`, "[retry]\nretry-on = 450\nstop-on = 40001",
			"standard attempts=3 retry-on=450 stop-on=40001",
		},
		"a schedule": {
			"retry: {rule: schedule, delays: [1s, 2s, 4s]}",
			`{"retry": {"rule": "schedule", "delays": ["1s", "2s", "4s"]}}`,
			"[retry]\nrule = 'schedule'\ndelays = ['1s', '2s', '4s']",
			"schedule delays=1s/2s/4s attempts=4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(library, document string, decode decoder) {
				var c config
				require.NoError(t, decode(document, &c), library)
				assert.Equal(t, tt.want, c.Retry.String(), library)
			}
			for library, decode := range yamlDecoders {
				check(library, tt.yaml, decode)
			}
			check("encoding/json", tt.json, jsonDecoder)
			check("toml", tt.toml, tomlDecoder)
		})
	}
}

// TestFilled: in every library, a mapping changes what it names in a policy that code has
// filled, a text replaces what a text can describe, and both keep hooks.
func TestFilled(t *testing.T) {
	for name, tt := range map[string]struct{ yaml, json, toml, want string }{
		"mapping": {
			"retry: {elapsed: 1m}", `{"retry": {"elapsed": "1m"}}`, "[retry]\nelapsed = '1m'",
			"full base=100ms attempts=7 elapsed=1m",
		},
		"a key of the rule": {
			"retry: {base: 2s}", `{"retry": {"base": "2s"}}`, "[retry]\nbase = '2s'",
			"full base=2s attempts=7",
		},
		"text": {
			"retry: full base=5s elapsed=1m", `{"retry": "full base=5s elapsed=1m"}`, "retry = 'full base=5s elapsed=1m'",
			"full base=5s elapsed=1m",
		},
		"nothing": {"other: 1", `{"other": 1}`, "other = 1", "full base=100ms attempts=7"},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(library, document string, decode decoder) {
				c := config{retryconfig.Policy{Policy: retry.Policy{
					Backoff: retry.FullJitter{Base: 100 * time.Millisecond}, MaxAttempts: 7,
					Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) {}},
				}}}
				require.NoError(t, decode(document, &c), library)
				assert.Equal(t, tt.want, c.Retry.String(), library)
				assert.NotNil(t, c.Retry.OnGiveUp, library)
			}
			for library, decode := range yamlDecoders {
				check(library, tt.yaml, decode)
			}
			check("encoding/json", tt.json, jsonDecoder)
			check("toml", tt.toml, tomlDecoder)
		})
	}
}

// TestMistakes: no library ignores a mistake.
func TestMistakes(t *testing.T) {
	for name, tt := range map[string]struct{ yaml, json, toml, want string }{
		"an unknown key": {
			"retry: {rule: full, base: 5s, atempts: 7}",
			`{"retry": {"rule": "full", "base": "5s", "atempts": 7}}`,
			"[retry]\nrule = 'full'\nbase = '5s'\natempts = 7",
			`unknown key "atempts"; did you mean "attempts"?`,
		},
		"no rule": {
			"retry: {base: 5s, attempts: 7}", `{"retry": {"base": "5s", "attempts": 7}}`, "[retry]\nbase = '5s'\nattempts = 7",
			`key "base" needs the name of a rule`,
		},
		"no unit": {
			"retry: {rule: full, base: 5}", `{"retry": {"rule": "full", "base": 5}}`, "[retry]\nrule = 'full'\nbase = 5",
			"base: 5 needs a unit",
		},
		"a field of the struct": {
			"retry: {MaxAttempts: 7}", `{"retry": {"MaxAttempts": 7}}`, "[retry]\nMaxAttempts = 7",
			`unknown key`, // viper lowercases keys
		},
		"an invalid text": {"retry: ful base=5s", `{"retry": "ful base=5s"}`, "retry = 'ful base=5s'", `unknown name "ful"`},
		"a list":          {"retry: [full]", `{"retry": ["full"]}`, "retry = ['full']", "want a text or a mapping with text keys, not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(library, document string, decode decoder) {
				var c config
				assert.ErrorContains(t, decode(document, &c), tt.want, library)
				assert.Equal(t, retryconfig.Policy{}, c.Retry, library)
			}
			for library, decode := range yamlDecoders {
				check(library, tt.yaml, decode)
			}
			check("encoding/json", tt.json, jsonDecoder)
			check("toml", tt.toml, tomlDecoder)
		})
	}
}

// TestEnvironment and TestFlags: libraries that decode plain text accept the text form.
func TestEnvironment(t *testing.T) {
	var c struct{ Retry retryconfig.Policy }
	t.Setenv("APP_RETRY", "full base=100ms attempts=7")
	require.NoError(t, envconfig.Process("app", &c))
	assert.Equal(t, "full base=100ms attempts=7", c.Retry.String())
	t.Setenv("APP_RETRY", "full base=100ms,retry-on=450,530")
	require.NoError(t, envconfig.Process("app", &c))
	assert.Equal(t, "full base=100ms attempts=3 retry-on=450,530", c.Retry.String())
	t.Setenv("APP_RETRY", "ful base=100ms")
	assert.ErrorContains(t, envconfig.Process("app", &c), `unknown name "ful"`)
}

func TestFlags(t *testing.T) {
	var p retryconfig.Policy
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.TextVar(&p, "retry", retryconfig.Policy{}, "")
	require.NoError(t, set.Parse([]string{"-retry", "full base=100ms attempts=7"}))
	assert.Equal(t, "full base=100ms attempts=7", p.String())

	var c struct {
		Retry retryconfig.Policy `default:"aws-standard-2.1"`
	}
	parser, err := kong.New(&c)
	require.NoError(t, err)
	_, err = parser.Parse(nil)
	require.NoError(t, err)
	assert.Equal(t, "aws-standard-2.1", c.Retry.String())
	_, err = parser.Parse([]string{"--retry=full base=100ms attempts=7"})
	require.NoError(t, err)
	assert.Equal(t, "full base=100ms attempts=7", c.Retry.String())
	_, err = parser.Parse([]string{"--retry=full base=100ms,retry-on=450,530"})
	require.NoError(t, err)
	assert.Equal(t, "full base=100ms attempts=3 retry-on=450,530", c.Retry.String())
	_, err = parser.Parse([]string{"--retry=full base=100"})
	assert.ErrorContains(t, err, "needs a unit")
}

// TestErrInvalid: the error is recognized if the library keeps the error chain.
func TestErrInvalid(t *testing.T) {
	assert.True(t, errors.Is(jsonDecoder(`{"retry": "ful"}`, new(config)), retry.ErrInvalid))
}

// TestOldType: a configuration that is decoded into a retry.Policy is not ignored, and a
// log shows the policy.
func TestOldType(t *testing.T) {
	type config struct {
		Retry retry.Policy `json:"retry" yaml:"retry" toml:"retry" mapstructure:"retry" koanf:"retry"`
	}
	decodeMap := func(value any, c *config) error { return mapstructure.Decode(map[string]any{"retry": value}, c) }
	for name, decode := range map[string]func(text bool, c *config) error{
		"encoding/json": func(text bool, c *config) error {
			return json.Unmarshal([]byte(either(text, `{"retry": "full base=1s"}`, `{"retry": {"rule": "full", "attempts": 7}}`)), c)
		},
		"yaml.v3": func(text bool, c *config) error {
			return yaml.Unmarshal([]byte(either(text, "retry: full base=1s", "retry: {rule: full, attempts: 7}")), c)
		},
		"goccy": func(text bool, c *config) error {
			return goccy.Unmarshal([]byte(either(text, "retry: full base=1s", "retry: {rule: full, attempts: 7}")), c)
		},
		"toml": func(text bool, c *config) error {
			_, err := toml.Decode(either(text, "retry = 'full base=1s'", "[retry]\nrule = 'full'\nattempts = 7"), c)
			return err
		},
		"mapstructure": func(text bool, c *config) error {
			return decodeMap(either[any](text, "full base=1s", map[string]any{"rule": "full", "attempts": 7}), c)
		},
		"flag": func(_ bool, c *config) error {
			set := flag.NewFlagSet("test", flag.ContinueOnError)
			set.SetOutput(io.Discard)
			set.TextVar(&c.Retry, "retry", retry.Policy{}, "")
			return set.Parse([]string{"-retry", "full base=1s"})
		},
	} {
		for _, text := range []bool{true, false} {
			var c config
			assert.ErrorContains(t, decode(text, &c), "github.com/gobackoff/retry/retryconfig", name)
			assert.Equal(t, config{}, c, name)
		}
	}
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// TestLogs: both types have a text in logs.
func TestLogs(t *testing.T) {
	p := retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) {}}}
	for want, policy := range map[string]any{
		"full base=1s attempts=3":                      retryconfig.Policy{Policy: p},
		"backoff=retry.FullJitter{Base:1s} attempts=3": p,
	} {
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("calling", "policy", policy)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("calling", "policy", policy)
		assert.Contains(t, out.String(), "policy="+strconv.Quote(want))
		assert.Contains(t, out.String(), `"policy":`+strconv.Quote(want))
	}
}
