package retryconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/gobackoff/retry"
)

// A Policy is a [retry.Policy] in a configuration struct or a flag. It is written as a
// text (see [Parse]) or as a mapping with the keys of the text and "rule" (or "preset", or
// "backoff") for its first word:
//
//	{"rule": "full", "base": "1s", "attempts": 7, "budget": {"rule": "shared", "reserve": 5}}
//
// A text replaces the Policy with its Budget and Limiter. It keeps Hooks, Clock, Rand, and a
// Classifier that is not a preset's. A mapping changes only what it names. If it names no rule, its
// keys apply to the present Backoff. If it names a preset, the time limits stay. The boolean false,
// or the word none, means one attempt. A later mapping that names a rule then allows more attempts
// again. An error matches [retry.ErrInvalid] and changes nothing.
//
// [encoding/json], gopkg.in/yaml.v3, github.com/goccy/go-yaml and github.com/BurntSushi/toml
// read both forms by themselves. Other libraries that support [encoding.TextUnmarshaler] read a
// text. For viper, koanf and mapstructure, see [DecodeHook].
type Policy struct {
	retry.Policy `toml:"-"` // which other libraries for TOML would fill by the names of its fields

	// Rest makes a mistake visible: mapstructure before version 2.5 puts keys here that it
	// would otherwise ignore, and fails, because there is no value that it could set. Do not
	// use it.
	Rest map[string]needsDecodeHook `mapstructure:",remain" koanf:",remain" json:"-" yaml:"-" toml:"-"`
}

// needsDecodeHook has no value that a decoder can make. Its name is part of mapstructure's error.
type needsDecodeHook func()

// String returns the text form of the Policy, for logs. A part without a text form, such as
// a Classifier, prints as its type or String() result, which cannot be parsed.
func (p Policy) String() string {
	text, _ := textOf(p.Policy)
	return text
}

// MarshalText returns the result of [Text], or its error.
func (p Policy) MarshalText() ([]byte, error) {
	text, err := Text(p.Policy)
	return []byte(text), err
}

// UnmarshalText reads a text, as from a flag or an environment variable.
//
// An empty text, such as that of an empty variable, changes nothing.
func (p *Policy) UnmarshalText(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	parsed, err := Parse(string(text))
	if err == nil {
		keep(&parsed, &p.Policy)
		p.Policy = parsed
	}
	return err
}

// UnmarshalJSON reads a string with a text, or an object. It refuses an object with a
// duplicate key.
func (p *Policy) UnmarshalJSON(data []byte) error {
	if long := tooLong(len(data)); long != "" {
		return invalid("", long)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // the byte order mark of some editors
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // as it is written
	err := decoder.Decode(&value)
	if _, end := decoder.Token(); err == nil && end != io.EOF {
		err = errors.New("there is more than one JSON value")
	}
	if err == nil {
		err = uniqueKeys(json.NewDecoder(bytes.NewReader(data)))
	}
	if err != nil {
		return invalid("", err.Error())
	}
	return p.decode(value)
}

// uniqueKeys reads a valid JSON value and returns an error if an object in it has a
// duplicate key, of which Decode takes the last.
func uniqueKeys(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil || token != json.Delim('{') && token != json.Delim('[') {
		return err
	}
	seen := map[json.Token]bool{}
	for decoder.More() {
		if token == json.Delim('{') {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return errors.New(twice(key.(string)))
			}
			seen[key] = true
		}
		if err := uniqueKeys(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// UnmarshalYAML reads a text or a mapping, with gopkg.in/yaml.v3 and
// github.com/goccy/go-yaml.
func (p *Policy) UnmarshalYAML(unmarshal func(any) error) error {
	var value any
	if err := unmarshal(&value); err != nil {
		return err
	}
	return p.decode(value)
}

// UnmarshalTOML reads a text or a table, with github.com/BurntSushi/toml.
func (p *Policy) UnmarshalTOML(value any) error { return p.decode(value) }

// UnmarshalMapstructure reads a text or a map, with github.com/go-viper/mapstructure/v2
// since version 2.5. With earlier versions, use [DecodeHook].
func (p *Policy) UnmarshalMapstructure(value any) error { return p.decode(value) }

// DecodeHook makes github.com/go-viper/mapstructure/v2 read a [Policy] from a text or a map, and
// so viper and koanf, whose current releases require a version before 2.5. Without it, they
// read a text at most, and fail for a map. It leaves values of other types as they are, so it
// can be composed with other hooks:
//
//	viper.Unmarshal(&config, viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
//		mapstructure.StringToTimeDurationHookFunc(), retryconfig.DecodeHook)))
func DecodeHook(from, to reflect.Value) (any, error) {
	if !to.IsValid() || to.Type() != reflect.TypeFor[Policy]() {
		return from.Interface(), nil
	}
	p := to.Interface().(Policy)
	err := p.decode(from.Interface())
	return p, err
}

// decode changes the Policy as a decoded value says.
func (p *Policy) decode(value any) error {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return p.UnmarshalText([]byte(v))
	case bool: // false is none
		return p.UnmarshalText([]byte(strconv.FormatBool(v)))
	case Policy: // of DecodeHook
		*p = v
		return nil
	case *Policy: // a hook of mapstructure has called UnmarshalText
		keep(&v.Policy, &p.Policy)
		*p = *v
		return nil
	case map[string]any:
		err := checkSize(v)
		if err != nil {
			return err
		}
		b := &builder{}
		changed, err := b.build("", b.mapping("", v, true), p.Policy)
		if err == nil {
			p.Policy = changed
		}
		return err
	}
	what := kindOf(value)
	number, _ := strings.CutPrefix(what, "the number ")
	if write := attemptsFor(number); write != "" {
		what += `; write "` + write + `"`
	}
	return invalid("", "want a text or a mapping with text keys, not "+what)
}

// keep takes over what code has set in old and no text can describe.
func keep(p, old *retry.Policy) {
	if !reflect.ValueOf(old.Hooks).IsZero() {
		p.Hooks = old.Hooks
	}
	p.Clock = cmp.Or(old.Clock, p.Clock)
	if old.Rand != nil {
		p.Rand = old.Rand
	}
	codes, _ := splitCodes(*p)
	_, bare := splitCodes(*old)
	_, _, preset := presetOf(bare)
	if bare.Classifier != nil && !preset {
		p.Classifier = joinCodes(codes, bare.Classifier)
	}
}
