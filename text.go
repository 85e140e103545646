package retry

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// String describes the rule and the numbers of the policy in one line, for logs. To read
// policies from text, use package retryconfig.
func (p Policy) String() string {
	attempts := "unlimited"
	if n := p.Attempts(); n != Unlimited {
		attempts = strconv.Itoa(n)
	}
	words := []string{"backoff=" + describe(p.Backoff), "attempts=" + attempts}
	for i, limit := range [...]time.Duration{p.MaxElapsed, p.AttemptTimeout} {
		if limit != 0 {
			words = append(words, fmt.Sprint([...]string{"elapsed=", "timeout="}[i], limit))
		}
	}
	return strings.Join(words, " ")
}

// describe returns the String of a rule, or its type, with its fields if it is of this
// package.
func describe(b Backoff) string {
	name, v := fmt.Sprintf("%T", b), reflect.ValueOf(b)
	_, ok := b.(fmt.Stringer)
	switch {
	case b == nil:
		return "standard"
	case ok:
		return fmt.Sprint(b)
	case v.Type().PkgPath() != reflect.TypeFor[Policy]().PkgPath():
		return name
	case v.Kind() == reflect.Int64: // Constant
		return fmt.Sprintf("%s(%v)", name, time.Duration(v.Int()))
	case v.Kind() == reflect.Slice: // Schedule
		return fmt.Sprint(name, b)
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

// MarshalText returns the result of String.
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
