package retry

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type named[R any] struct {
	name string
	rule R
}

var rules = []named[Backoff]{
	{"standard", standard{}},
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

var hints = []named[HintRule]{
	{"at-least", HintAtLeast{}},
	{"or-give-up", HintOrGiveUp{}},
	{"window", HintWindow{}},
	{"ignore", HintIgnore{}},
}

// budgets lists the budgets by name. The function parse reads the fields after the name;
// the function text formats them, and returns false for any other kind of Budget.
var budgets = []struct {
	name  string
	parse func(fields []string) (Budget, error)
	text  func(Budget) (string, bool)
}{
	{"token", parseTokenBudget, tokenBudgetText},
	{"throttle", parseThrottleBudget, throttleBudgetText},
	{"ratio", parseRatioBudget, ratioBudgetText},
}

const (
	noRefund    = "no-refund"
	successOnly = "success-only"
)

func parseTokenBudget(fields []string) (Budget, error) {
	b := &TokenBudget{}
	for len(fields) > 0 {
		last := len(fields) - 1
		switch fields[last] {
		case noRefund:
			b.NoRefund = true
		case successOnly:
			b.SuccessOnly = true
		default:
			if len(fields) > 1 && strings.Contains(fields[1], "/") {
				costs := strings.Split(fields[1], "/")
				if err := parseNumbers(costs, &b.Costs.Transient, &b.Costs.Timeout, &b.Costs.Throttled); err != nil {
					return nil, err
				}
				fields[1] = "0"
				return b, parseNumbers(fields, &b.Capacity, new(float64), &b.Success, &b.Deficit)
			}
			var cost float64
			err := parseNumbers(fields, &b.Capacity, &cost, &b.Success, &b.Deficit)
			b.Costs = TokenCosts{cost, cost, cost}
			return b, err
		}
		fields = fields[:last]
	}
	return b, nil
}

func tokenBudgetText(budget Budget) (string, bool) {
	b, ok := budget.(*TokenBudget)
	if !ok || b == nil {
		return "", false
	}
	costs := numberText(b.Costs.Transient)
	if b.Costs.Timeout != b.Costs.Transient || b.Costs.Throttled != b.Costs.Transient {
		costs += "/" + numberText(b.Costs.Timeout) + "/" + numberText(b.Costs.Throttled)
	}
	text := fieldsText(numberText(b.Capacity), costs, numberText(b.Success), numberText(b.Deficit))
	if b.NoRefund {
		text += ":" + noRefund
	}
	if b.SuccessOnly {
		text += ":" + successOnly
	}
	return text, true
}

func parseThrottleBudget(fields []string) (Budget, error) {
	b := &ThrottleBudget{}
	return b, parseNumbers(fields, &b.MaxTokens, &b.TokenRatio)
}

func throttleBudgetText(budget Budget) (string, bool) {
	b, ok := budget.(*ThrottleBudget)
	if !ok || b == nil {
		return "", false
	}
	return fieldsText(numberText(b.MaxTokens), numberText(b.TokenRatio)), true
}

func parseRatioBudget(fields []string) (Budget, error) {
	b := &RatioBudget{}
	if len(fields) == 3 {
		var err error
		if b.Window, err = parseDuration("window ", fields[2]); err != nil {
			return nil, err
		}
		fields = fields[:2]
	}
	return b, parseNumbers(fields, &b.Ratio, &b.Floor)
}

func ratioBudgetText(budget Budget) (string, bool) {
	b, ok := budget.(*RatioBudget)
	if !ok || b == nil {
		return "", false
	}
	window := "0"
	if b.Window != 0 {
		window = durationText(b.Window)
	}
	return fieldsText(numberText(b.Ratio), numberText(b.Floor), window), true
}

// parseNumbers accepts fewer fields than numbers.
func parseNumbers(fields []string, numbers ...*float64) error {
	if len(fields) > len(numbers) {
		return fmt.Errorf("takes at most %d values, not %d", len(numbers), len(fields))
	}
	for i, field := range fields {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", field)
		}
		*numbers[i] = n
	}
	return nil
}

func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// fieldsText formats the fields that follow a name, without trailing zeros.
func fieldsText(fields ...string) string {
	for len(fields) > 0 && fields[len(fields)-1] == "0" {
		fields = fields[:len(fields)-1]
	}
	var text strings.Builder
	for _, field := range fields {
		text.WriteString(":" + field)
	}
	return text.String()
}

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
// digits, "-", "_" and ".". ParsePolicy calls policy for each text with that name; the
// argument, if any, is the value of the service key, or "". RegisterPreset panics if the
// name is malformed or taken.
//
// If a Policy's Classifier has a method PolicyText() string, and the result describes a
// policy with the same Backoff, the Policy is printed as that text followed by the
// differences.
func RegisterPreset[F func() Policy | func(service string) Policy](name string, policy F) {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || name == "" {
		panic(fmt.Sprintf("retry: %q is not a valid preset name", name))
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

func presetNames() []string {
	presets.Lock()
	defer presets.Unlock()
	return slices.Sorted(maps.Keys(presets.byName))
}
