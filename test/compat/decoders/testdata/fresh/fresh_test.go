package fresh

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/go-viper/mapstructure/v2"
	"github.com/ilyakaznacheev/cleanenv"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/viper"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

type config struct {
	Retry retryconfig.Policy `mapstructure:"retry" koanf:"retry" toml:"retry" env:"APP_RETRY"`
}

func fromViper(document string, c *config, hooks ...viper.DecoderConfigOption) error {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(strings.NewReader(document)); err != nil {
		return err
	}
	return v.Unmarshal(c, hooks...)
}

func fromKoanf(document string, c *config, hook mapstructure.DecodeHookFunc) error {
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider([]byte(document)), yaml.Parser()); err != nil {
		return err
	}
	if hook == nil {
		return k.Unmarshal("", c)
	}
	return k.UnmarshalWithConf("", c, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{DecodeHook: hook, Result: c, WeaklyTypedInput: true}})
}

var withHook = map[string]func(string, *config) error{
	"viper": func(document string, c *config) error {
		return fromViper(document, c, viper.DecodeHook(retryconfig.DecodeHook))
	},
	"viper, composed": func(document string, c *config) error {
		return fromViper(document, c, viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(mapstructure.StringToTimeDurationHookFunc(), retryconfig.DecodeHook)))
	},
	"koanf": func(document string, c *config) error { return fromKoanf(document, c, retryconfig.DecodeHook) },
}

var withoutHook = map[string]func(string, *config) error{
	"viper": func(document string, c *config) error { return fromViper(document, c) },
	"viper, for texts": func(document string, c *config) error {
		return fromViper(document, c, viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
	},
	"koanf": func(document string, c *config) error { return fromKoanf(document, c, nil) },
}

// TestHook: with DecodeHook, both forms are read, changes apply to what code has set, and no
// mistake is ignored.
func TestHook(t *testing.T) {
	for library, decode := range withHook {
		for document, want := range map[string]string{
			"retry: full base=1s attempts=5":             "full base=1s attempts=5",
			"retry: {rule: full, base: 1s, attempts: 5}": "full base=1s attempts=5",
			"retry: {attempts: 5}":                       "full base=50ms attempts=5",
			"retry: ''":                                  "full base=50ms attempts=7",
			"other: 1":                                   "full base=50ms attempts=7",
		} {
			c := config{retryconfig.Policy{Policy: retry.Policy{
				Backoff: retry.FullJitter{Base: 50_000_000}, MaxAttempts: 7,
				Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) {}},
			}}}
			if err := decode(document, &c); err != nil {
				t.Errorf("%s: %s: %v", library, document, err)
			}
			if got := c.Retry.String(); got != want {
				t.Errorf("%s: %s: %s, want %s", library, document, got, want)
			}
			if c.Retry.OnGiveUp == nil {
				t.Errorf("%s: %s: the hooks are lost", library, document)
			}
		}
		for document, want := range map[string]string{
			"retry: {rule: full, base: 1s, atempts: 5}": `unknown key "atempts"`,
			"retry: {rule: full, base: 1}":              "needs a unit",
			"retry: {maxattempts: 5}":                   "unknown key",
			"retry: [full]":                             "want a text or a mapping",
			"retry: ful":                                `unknown name "ful"`,
		} {
			var c config
			if err := decode(document, &c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, want %s", library, document, err, want)
			}
		}
	}
}

// TestNoHook: without DecodeHook, no mapping is ignored.
func TestNoHook(t *testing.T) {
	for library, decode := range withoutHook {
		for _, document := range []string{
			"retry: {rule: full, base: 1s, attempts: 5}", "retry: {attempts: 5}", "retry: {policy: {maxattempts: 5}, attempts: 5}",
			"retry: {atempts: 5}", "retry: {preset: aws-standard}", "retry: {elapsed: 1m}", "retry: {maxattempts: 5}",
		} {
			var c config
			if err := decode(document, &c); err == nil || !strings.Contains(err.Error(), "needsDecodeHook") {
				t.Errorf("%s: %s: %v, and the policy is %v", library, document, err, c.Retry)
			}
		}
	}
}

// TestTOML: pelletier/go-toml reads texts. It ignores a table, unless it is strict.
func TestTOML(t *testing.T) {
	var c config
	if err := toml.Unmarshal([]byte("retry = 'full base=1s attempts=5'"), &c); err != nil || c.Retry.String() != "full base=1s attempts=5" {
		t.Errorf("%v: %v", c.Retry, err)
	}
	for _, document := range []string{"[retry]\nrule = 'full'\nattempts = 5", "[retry]\nmaxattempts = 5"} {
		c = config{}
		decoder := toml.NewDecoder(strings.NewReader(document)).DisallowUnknownFields()
		if err := decoder.Decode(&c); err == nil || c.Retry.MaxAttempts != 0 {
			t.Errorf("%s: %v", document, c.Retry)
		}
	}
}

// TestCleanenv: cleanenv has no way to read a struct from a variable. If it gets one, the
// configuration page has to change.
func TestCleanenv(t *testing.T) {
	os.Setenv("APP_RETRY", "full base=1s attempts=5")
	var c config
	if err := cleanenv.ReadEnv(&c); err == nil && c.Retry.MaxAttempts == 5 {
		t.Error("cleanenv reads a policy now")
	}
}
