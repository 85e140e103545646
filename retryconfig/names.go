package retryconfig

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gobackoff/retry/internal/limiters"
)

type named[R any] struct {
	name string
	rule R
}

// ruleNames are apart from the rules, because RegisterPreset would otherwise link all
// rules, 24 kB, into every program that registers a preset.
var ruleNames = [...]string{
	"standard", "none", "constant", "exponential", "linear", "fibonacci", "schedule", "full", "equal", "decorrelated",
	"jittered", "spread", "capped", "when-throttled",
}

func rules() []named[Backoff] {
	var table []named[Backoff]
	for i, rule := range [len(ruleNames)]Backoff{
		standard{}, NoDelay{}, Constant(0), Exponential{}, Linear{}, Fibonacci{}, Schedule{}, FullJitter{}, EqualJitter{},
		DecorrelatedJitter{}, Jittered{}, Spread{}, Capped{}, WhenThrottled{},
	} {
		table = append(table, named[Backoff]{ruleNames[i], rule})
	}
	return table
}

var hints = []named[HintRule]{
	{"at-least", HintAtLeast{}},
	{"or-give-up", HintOrGiveUp{}},
	{"window", HintWindow{}},
	{"ignore", HintIgnore{}},
}

var budgets = []named[Budget]{
	{"token", (*TokenBudget)(nil)},
	{"throttle", (*ThrottleBudget)(nil)},
	{"ratio", (*RatioBudget)(nil)},
}

// limiterTable returns the limiters that other packages have registered.
func limiterTable() []named[Limiter] {
	var table []named[Limiter]
	for _, kind := range limiters.All() {
		table = append(table, named[Limiter]{kind.Name, kind.New().(Limiter)})
	}
	return table
}

// zeroIsDefault are the keys of fields whose zero value means a default. A text that says
// 0 is refused, because it means 0.
var zeroIsDefault = []string{
	"cap", "factor", "max", "width", "capacity", "success", "ratio", "floor", "window", "maxtokens", "tokenratio",
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

// durationText omits the zero units that time.Duration prints: 1m, not 1m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// parseDuration parses value; an error message has prefix before the value.
func parseDuration(prefix, value string) (time.Duration, error) {
	if strings.Trim(value, "+-.0123456789") == "" {
		return 0, fmt.Errorf("%[1]s%[2]s needs a unit, as in %[1]s%[2]sms or %[1]s%[2]ss", prefix, value)
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("%s%s is not a duration such as 50ms, 20s or 1m30s", prefix, value)
	}
	return d, nil
}

// RegisterPreset makes a policy available to [ParsePolicy] under a name of letters,
// digits, "-", "_" and ".". It panics if the name is malformed or taken. ParsePolicy calls
// policy for each text with that name; service is the value of the service key, or "", and
// policy must refuse a service that it does not know.
//
// A Policy whose Classifier has a method PolicyText() string prints as that text and the
// differences, if the Backoff is the same.
func RegisterPreset(name string, policy func(service string) (Policy, error)) {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || name == "" {
		panic("retry: " + strconv.Quote(name) + " is not a valid preset name")
	}
	presets.Lock()
	defer presets.Unlock()
	if presets.byName[name] != nil || slices.Contains(ruleNames[:], name) {
		panic("retry: the name " + name + " is taken")
	}
	presets.byName[name] = policy
}

var presets = struct {
	sync.Mutex
	byName map[string]func(service string) (Policy, error)
}{byName: map[string]func(service string) (Policy, error){}}

// presetNamed returns nil for an unknown name.
func presetNamed(name string) func(service string) (Policy, error) {
	presets.Lock()
	defer presets.Unlock()
	return presets.byName[name]
}

func presetNames() []string {
	presets.Lock()
	defer presets.Unlock()
	return slices.Sorted(maps.Keys(presets.byName))
}
