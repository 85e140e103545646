package retry

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// named is a rule's name in the text.
type named[R any] struct {
	name string
	rule R
}

// rules are the names of the rules and an empty value of each.
var rules = []named[Backoff]{
	{"none", NoDelay{}},
	{"constant", Constant(0)},
	{"exponential", Exponential{}},
	{"linear", Linear{}},
	{"fibonacci", Fibonacci{}},
	{"schedule", Schedule{}},
	{"full", FullJitter{}},
	{"equal", EqualJitter{}},
	{"decorrelated", DecorrelatedJitter{}},
	{"jittered", Jittered{}},
	{"spread", Spread{}},
	{"capped", Capped{}},
	{"when-throttled", WhenThrottled{}},
}

// hints are the names of the hint rules and an empty value of each.
var hints = []named[HintRule]{
	{"at-least", HintAtLeast{}},
	{"or-give-up", HintOrGiveUp{}},
	{"window", HintWindow{}},
	{"ignore", HintIgnore{}},
}

// nameOf returns the name of the rule's type.
func nameOf[R any](table []named[R], rule R) (string, bool) {
	for _, entry := range table {
		if reflect.TypeOf(entry.rule) == reflect.TypeOf(rule) {
			return entry.name, true
		}
	}
	return "", false
}

// RegisterPreset makes a policy known to [ParsePolicy] by a name, which may have
// letters, digits, "-", "_" and ".". policy is called for each text that has the
// name; the second form gets the value of the key service, or "". Call it when the
// program starts; it panics if the name is taken or malformed.
//
// A Policy whose Classifier has a method PolicyText() string prints as that text,
// followed by what is different, if the text stands for a policy with the same
// Backoff.
//
// The import of package awspreset registers the AWS SDKs' retry behaviors.
func RegisterPreset[F func() Policy | func(service string) Policy](name string, policy F) {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || name == "" {
		panic(fmt.Sprintf("retry: %q cannot be the name of a preset", name))
	}
	p := preset{name: name}
	switch policy := any(policy).(type) {
	case func() Policy:
		p.policy = func(string) Policy { return policy() }
	case func(string) Policy:
		p.policy, p.hasService = policy, true
	}
	presets.Lock()
	defer presets.Unlock()
	isRule := slices.ContainsFunc(rules, func(r named[Backoff]) bool { return r.name == name })
	if _, taken := presets.byName[name]; taken || isRule {
		panic(fmt.Sprintf("retry: the name %q is taken", name))
	}
	if presets.byName == nil {
		presets.byName = map[string]preset{}
	}
	presets.byName[name] = p
}

type preset struct {
	name       string
	policy     func(service string) Policy
	hasService bool
}

var presets struct {
	sync.Mutex
	byName map[string]preset
}

func presetNamed(name string) (preset, bool) {
	presets.Lock()
	defer presets.Unlock()
	p, ok := presets.byName[name]
	return p, ok
}

// presetNames returns the names in order.
func presetNames() []string {
	presets.Lock()
	defer presets.Unlock()
	return slices.Sorted(maps.Keys(presets.byName))
}
