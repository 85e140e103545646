package retryconfig

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

type named[R any] struct {
	name string
	rule R
}

var rules = []named[retry.Backoff]{
	{"standard", nil},
	{"no-delay", retry.NoDelay{}},
	{"constant", retry.Constant(0)},
	{"exponential", retry.Exponential{}},
	{"linear", retry.Linear{}},
	{"fibonacci", retry.Fibonacci{}},
	{"schedule", retry.Schedule{}},
	{"full", retry.FullJitter{}},
	{"equal", retry.EqualJitter{}},
	{"decorrelated", retry.DecorrelatedJitter{}},
	{"jittered", retry.Jittered{}},
	{"spread", retry.Spread{}},
	{"capped", retry.Capped{}},
	{"when-throttled", retry.WhenThrottled{}},
}

// Rules returns the names of the rules that a text may begin with, in the order of the comment
// on [Parse]. awspreset.All has the presets.
func Rules() []string { return namesIn(rules) }

var hints = []named[retry.HintRule]{
	{"at-least", retry.HintAtLeast{}},
	{"or-give-up", retry.HintOrGiveUp{}},
	{"window", awspreset.HintWindow{}},
	{"ignore", retry.HintIgnore{}},
}

var budgets = []named[retry.Budget]{
	{"shared", (*retry.SharedBudget)(nil)},
	{none, retry.NoBudget{}},
	{"default", nil},
}

// policyKeys are the keys of a Policy's own fields, in the order in which they are
// printed.
var policyKeys = []string{"attempts", "elapsed", "timeout", "hint", "budget", "limiter", retryOn, stopOn}

// The keys of lists of codes.
const (
	retryOn = "retry-on"
	stopOn  = "stop-on"
)

// listKeys are the keys whose value may be a list: its items are separated as words are.
var listKeys = []string{"delays", retryOn, stopOn}

const (
	unlimited = "unlimited" // MaxAttempts
	none      = "none"      // one attempt, NoBudget, no limiter, no limit of time
)

// isNone reports whether a word says that something is off. YAML and TOML make texts or
// booleans of some of these words.
func isNone(word string) bool { return slices.Contains([]string{none, "off", "false", "never"}, word) }

// zeroIsDefault are the keys of fields whose zero value means a default. A text that says
// 0 is refused, because it means 0.
var zeroIsDefault = []string{
	"cap", "factor", "max", "width", "reserve",
}

// nameOf returns the name of the entry with the type of rule.
func nameOf[R any](table []named[R], rule R) (string, bool) {
	for _, entry := range table {
		if reflect.TypeOf(entry.rule) == reflect.TypeOf(rule) {
			return entry.name, true
		}
	}
	return "", false
}

func namesIn[R any](table []named[R]) []string {
	var names []string
	for _, entry := range table {
		names = append(names, entry.name)
	}
	return names
}

// A field is one that a key sets.
type field struct {
	key   string
	value reflect.Value
}

// fields returns the fields of a rule or a part that keys set. The zero Value, and the nil
// Backoff of the default rule, have none.
func fields(rule reflect.Value) []field {
	switch {
	case !rule.IsValid():
		return nil
	case rule.Type() == reflect.TypeFor[retry.Constant]():
		return []field{{"delay", rule}}
	case rule.Type() == reflect.TypeFor[retry.Schedule]():
		return []field{{"delays", rule}}
	case rule.Kind() != reflect.Struct:
		return nil
	}
	var list []field
	for f, v := range rule.Fields() {
		key := strings.ToLower(f.Name)
		if f.IsExported() && v.Kind() != reflect.Interface {
			list = append(list, field{key, v})
		}
	}
	return list
}

// keysOf returns the keys of a rule or a part.
func keysOf(rule reflect.Value) []string {
	var keys []string
	for _, f := range fields(rule) {
		keys = append(keys, f.key)
	}
	return keys
}

// innerRules returns the fields for the rules in parentheses.
func innerRules(rule reflect.Value) []reflect.Value {
	var inner []reflect.Value
	if rule.Kind() == reflect.Struct {
		for _, v := range rule.Fields() {
			if v.Kind() == reflect.Interface {
				inner = append(inner, v)
			}
		}
	}
	return inner
}
