package retry

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// String describes the policy in one line, for people and logs: its rule and numbers, and its Hint
// and Budget, if there are any. Nothing reads this text. Package retryconfig has the text that
// can be read back, and the Effective method of each client says what nil means there.
func (p Policy) String() string {
	attempts := "unlimited"
	if n := p.Attempts(); n != Unlimited {
		attempts = strconv.Itoa(n)
	}
	words := []string{"backoff=standard", "attempts=" + attempts}
	if p.Backoff != nil {
		words[0] = "backoff=" + describe(p.Backoff)
	}
	for i, limit := range [...]time.Duration{p.MaxElapsed, p.AttemptTimeout} {
		if limit != 0 {
			words = append(words, fmt.Sprint([...]string{"elapsed=", "timeout="}[i], limit))
		}
	}
	if p.Hint != nil {
		words = append(words, "hint="+describe(p.Hint))
	}
	if p.Budget != nil {
		words = append(words, "budget="+describe(p.Budget))
	}
	return strings.Join(words, " ")
}

// describe returns the String of a part, or its type, with its fields if it is of this
// package. Fields behind a pointer may be changing.
func describe(part any) string {
	name, v := fmt.Sprintf("%T", part), reflect.ValueOf(part)
	_, ok := part.(fmt.Stringer)
	switch {
	case part == nil: // a rule within another
		return "standard"
	case ok:
		return fmt.Sprint(part)
	case v.Type().PkgPath() != reflect.TypeFor[Policy]().PkgPath():
		return name
	case v.Kind() == reflect.Int64: // Constant
		return fmt.Sprintf("%s(%v)", name, time.Duration(v.Int()))
	case v.Kind() == reflect.Slice: // Schedule
		return fmt.Sprint(name, part)
	case v.Kind() != reflect.Struct:
		return name
	}
	var fields []string
	for f, v := range v.Fields() {
		if inner, _ := v.Interface().(Backoff); v.Kind() == reflect.Interface {
			fields = append(fields, f.Name+":"+describe(inner))
		} else if !v.IsZero() {
			fields = append(fields, fmt.Sprint(f.Name, ":", v))
		}
	}
	return name + "{" + strings.Join(fields, " ") + "}"
}

// MarshalText returns the result of String, for logs. Nothing reads this text: to write a policy
// into a file, use a Policy of package retryconfig, whose text reads back.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

var errNoText = invalid("policy", []string{"decode it into a Policy of package github.com/gobackoff/retry/retryconfig"})

// UnmarshalText refuses: decode a Policy of package retryconfig. Without these methods, a
// decoder would ignore a configuration.
func (*Policy) UnmarshalText([]byte) error { return errNoText }

// UnmarshalJSON refuses.
func (*Policy) UnmarshalJSON([]byte) error { return errNoText }

// UnmarshalYAML refuses.
func (*Policy) UnmarshalYAML(func(any) error) error { return errNoText }

// UnmarshalTOML refuses.
func (*Policy) UnmarshalTOML(any) error { return errNoText }

// UnmarshalMapstructure refuses.
func (*Policy) UnmarshalMapstructure(any) error { return errNoText }
