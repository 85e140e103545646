package retry

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/jsonvalue"
	"github.com/gobackoff/retry/internal/limiters"
)

// The text form of a Policy:
//
//	policy = [ preset | rule ] { key "=" value }
//	rule   = name [ "(" rule { "|" rule } ")" ] { key "=" value }
//
// Spaces, commas and semicolons separate words. The rules in parentheses are the Backoff
// fields of a composition, in their order in the Go type; the keys of a rule are its
// other fields in lower case.

// policyKeys are the keys of a Policy's own fields, in the order in which they are
// printed.
var policyKeys = []string{"attempts", "elapsed", "timeout", "stagger", "hint", "budget", "limiter", "longpoll"}

const (
	unlimited = "unlimited" // MaxAttempts
	none      = "none"      // no budget, no limiter
)

// String returns the text form that [ParsePolicy] reads. It omits classifiers, clocks,
// random sources, hooks, and budgets and limiters of other packages, but the name of a
// preset stands for all of its parts. A Backoff of another package prints as its String()
// result or its type, and a HintRule as its type; neither can be parsed.
func (p Policy) String() string {
	text, _ := p.text()
	return text
}

// MarshalText returns the text of [Policy.String], or an error if a Backoff or
// HintRule has none.
func (p Policy) MarshalText() ([]byte, error) {
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	return []byte(text), nil
}

// UnmarshalText replaces the whole Policy, hooks included, with the result of
// [ParsePolicy]. If the text is invalid, the Policy is unchanged.
func (p *Policy) UnmarshalText(text []byte) error {
	parsed, err := ParsePolicy(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

func (p *Policy) text() (string, error) {
	text, like := p.presetText()
	isPreset := text != ""
	var err error
	if !isPreset {
		text, err = backoffText(orDefault(p.Backoff))
	}
	values, e := p.values()
	if err == nil {
		err = e
	}
	others, _ := like.values()
	for i, key := range policyKeys {
		if values[i] != "" && (values[i] != others[i] || i == 0 && !isPreset) { // attempts are always shown
			text += " " + key + "=" + values[i]
		}
	}
	return text, err
}

// values returns the texts of the policyKeys; "" for a budget or limiter without a text.
func (p *Policy) values() ([]string, error) {
	attempts := unlimited
	if p.MaxAttempts != Unlimited {
		attempts = strconv.Itoa(p.maxAttempts())
	}
	hint, err := hintText(p.Hint)
	return []string{
		attempts, durationText(p.MaxElapsed), durationText(p.AttemptTimeout), durationText(p.Stagger), hint,
		budgetText(p.Budget), limiterText(p.Limiter), strconv.FormatBool(p.LongPoll),
	}, err
}

func budgetText(budget Budget) string {
	for _, kind := range budgets {
		if text, ok := kind.text(budget); ok {
			return kind.name + text
		}
	}
	if budget == nil {
		return none
	}
	return ""
}

func limiterText(limiter Limiter) string {
	for _, kind := range limiters.All() {
		if kind.Is(limiter) {
			return kind.Name
		}
	}
	if limiter == nil {
		return none
	}
	return ""
}

// presetText returns the text of the preset that the Classifier names, and the policy
// that the text describes. The text is empty if there is no preset or if the two policies
// have different Backoffs.
func (p *Policy) presetText() (string, Policy) {
	c, ok := p.Classifier.(interface{ PolicyText() string })
	if !ok || isNil(p.Classifier) {
		return "", Policy{}
	}
	text := c.PolicyText()
	like, err := (&parser{tokens: tokens(text)}).policy()
	if text == "" || err != nil {
		return "", Policy{}
	}
	own, _ := backoffText(orDefault(p.Backoff))
	if other, _ := backoffText(orDefault(like.Backoff)); own != other {
		return "", Policy{}
	}
	return text, like
}

func hintText(h HintRule) (string, error) {
	if h == nil {
		h = HintAtLeast{}
	}
	name, ok := nameOf(hints, h)
	if !ok {
		return fmt.Sprintf("%T", h), fmt.Errorf("hint rule %T has no text form", h)
	}
	for _, limit := range reflect.ValueOf(h).Fields() {
		if !limit.IsZero() {
			name += ":" + durationText(time.Duration(limit.Int()))
		}
	}
	return name, nil
}

func backoffText(b Backoff) (string, error) {
	name, ok := nameOf(rules, b)
	if !ok {
		err := fmt.Errorf("backoff %T has no text form", b)
		if s, ok := b.(fmt.Stringer); ok {
			return s.String(), err
		}
		return fmt.Sprintf("%T", b), err
	}
	rule := reflect.ValueOf(b)
	var inner []string
	var err error
	for _, v := range innerRules(rule) {
		child, _ := v.Interface().(Backoff)
		text, e := backoffText(child)
		if e != nil {
			err = e
		}
		inner = append(inner, text)
	}
	if inner != nil {
		name += "(" + strings.Join(inner, " | ") + ")"
	}
	for key, v := range fields(rule) {
		if !v.IsZero() {
			name += " " + key + "=" + valueText(v)
		}
	}
	return name, err
}

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

func valueText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return durationText(x)
	case Constant:
		return durationText(time.Duration(x))
	case Schedule:
		delays := make([]string, len(x))
		for i, d := range x {
			delays[i] = durationText(d)
		}
		return strings.Join(delays, "/")
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	default:
		return fmt.Sprint(x)
	}
}

// ParsePolicy reads the text form of a Policy:
//
//	full base=50ms cap=20s attempts=5 elapsed=1m timeout=2s
//	aws-standard-2026 service=dynamodb attempts=6
//	spread(exponential base=1s cap=1m) fraction=0.1 attempts=unlimited hint=or-give-up:10m
//
// The text starts with the name of a preset ([RegisterPreset]; package awspreset has
// those named aws-…) or rule. Keys and values follow in any order, separated by spaces,
// commas or semicolons. Durations need units. The rules are
//
//	standard                                  what a nil Backoff means
//	none                                      NoDelay
//	constant delay=                           Constant
//	exponential base= cap= factor=            Exponential
//	linear base= step= cap=                   Linear
//	fibonacci base= cap=                      Fibonacci
//	schedule delays=1s/2s/4s                  Schedule
//	full base= cap= factor=                   FullJitter
//	equal base= cap= factor=                  EqualJitter
//	decorrelated base= cap= redraw=           DecorrelatedJitter
//	jittered(rule) share=                     Jittered
//	spread(rule) fraction=                    Spread
//	capped(rule) cap=                         Capped
//	when-throttled(throttled rule | other rule)  WhenThrottled
//
// and the keys of a Policy are
//
//	attempts=5                                MaxAttempts; or unlimited
//	elapsed=1m timeout=2s stagger=200ms       MaxElapsed, AttemptTimeout, Stagger
//	hint=at-least[:MAX]                       HintAtLeast; or-give-up[:MAX], window[:WIDTH], ignore
//	budget=token[:CAPACITY[:COST[:SUCCESS[:DEFICIT]]]][:no-refund][:success-only]
//	budget=throttle[:TOKENS[:RATIO]]          ThrottleBudget
//	budget=ratio[:RATIO[:FLOOR[:WINDOW]]]     RatioBudget
//	limiter=adaptive                          of package awspreset
//	longpoll=true                             LongPoll
//	service=dynamodb                          for presets with services
//
// COST may be three numbers, for transient failures, timeouts and throttling, as in
// 14/14/5. "none" means no budget or limiter. An omitted key means a zero field; the
// empty text is the zero Policy. Each call makes a new budget and limiter.
//
// The result is validated. An error lists the valid choices and matches [ErrInvalid];
// the Policy is then zero.
func ParsePolicy(text string) (Policy, error) {
	return parse(fmt.Sprintf("%q", text), tokens(text))
}

// parse returns the validated Policy that tokens describe. text is for the error message.
func parse(text string, tokens []string) (Policy, error) {
	p, err := (&parser{tokens: tokens}).policy()
	faults := p.faults()
	if err != nil {
		faults = []string{err.Error()}
	}
	if err := invalid("policy "+text, faults); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// fromMapping sets the Policy from a decoded configuration. In a mapping, "rule" or
// "preset" stands for the first word of the text form.
func (p *Policy) fromMapping(value any) error {
	var words []string
	switch m := value.(type) {
	case nil:
		return nil
	case string:
		return p.UnmarshalText([]byte(m))
	case *Policy: // a decoder hook has called UnmarshalText
		*p = *m
		return nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(m)) {
			text, err := scalarText(m[key])
			if err != nil {
				return invalid(fmt.Sprintf("policy %v", m), []string{fmt.Sprintf("%s: %v", key, err)})
			}
			if key == "rule" || key == "preset" {
				words = slices.Concat(tokens(text), words)
			} else {
				words = append(words, key+"="+text)
			}
		}
	default:
		return invalid(fmt.Sprintf("policy %v", value), []string{fmt.Sprintf("a %T is neither a text nor a mapping with text keys", value)})
	}
	parsed, err := parse(fmt.Sprint(value), words)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

func scalarText(value any) (string, error) {
	switch v := value.(type) {
	case []any:
		var parts []string
		for _, part := range v {
			text, err := scalarText(part)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, "/"), nil
	case string, bool, int, int64, uint64, float64, time.Duration:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("a %T is not a text, a number or a boolean; write a rule within a rule as text, as in rule: spread(full base=1s)", value)
}

// UnmarshalJSON accepts a text, or an object with the keys of the text and "rule" or
// "preset": {"rule": "full", "base": "100ms", "attempts": 7}.
func (p *Policy) UnmarshalJSON(data []byte) error {
	value, err := jsonvalue.Parse(data)
	if err != nil {
		return invalid(fmt.Sprintf("policy %s", data), []string{err.Error()})
	}
	return p.fromMapping(value)
}

// UnmarshalYAML is UnmarshalJSON for gopkg.in/yaml.v3, github.com/goccy/go-yaml and
// others.
func (p *Policy) UnmarshalYAML(unmarshal func(any) error) error {
	var value any
	if err := unmarshal(&value); err != nil {
		return err
	}
	return p.fromMapping(value)
}

// UnmarshalTOML is UnmarshalJSON for github.com/BurntSushi/toml.
func (p *Policy) UnmarshalTOML(value any) error { return p.fromMapping(value) }

// UnmarshalMapstructure is UnmarshalJSON for github.com/go-viper/mapstructure/v2,
// version 2.5 or later, which viper and koanf use.
func (p *Policy) UnmarshalMapstructure(value any) error { return p.fromMapping(value) }

// tokens splits text into words and the signs "(", "|" and ")".
func tokens(text string) []string {
	for _, sign := range []string{"(", "|", ")"} {
		text = strings.ReplaceAll(text, sign, " "+sign+" ")
	}
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
}

type parser struct {
	tokens []string
	depth  int
}

// maxDepth bounds the nesting of rules, and thus the recursion.
const maxDepth = 16

// peek returns the next token, or "" at the end.
func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) accept(token string) bool {
	if p.peek() != token {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func isSign(token string) bool { return token == "(" || token == "|" || token == ")" }

func (p *parser) policy() (Policy, error) {
	var policy Policy
	var rule reflect.Value // settable; the zero Value if there is no rule
	keys := policyKeys
	if first := p.peek(); first != "" && !strings.Contains(first, "=") {
		if preset, ok := presetNamed(first); ok {
			p.accept(first)
			service := ""
			if preset.hasService {
				var err error
				if service, err = p.service(); err != nil {
					return policy, err
				}
				keys = slices.Concat([]string{"service"}, policyKeys)
			}
			policy = preset.policy(service)
		} else {
			var err error
			if rule, err = p.rule(); err != nil {
				return policy, err
			}
		}
	}
	seen := map[string]bool{}
	for p.peek() != "" {
		key, value, err := p.keyValue(seen)
		if err != nil {
			return policy, err
		}
		if slices.Contains(policyKeys, key) {
			err = policy.set(key, value)
		} else {
			err = setField(rule, key, value, keys)
		}
		if err != nil {
			return policy, err
		}
	}
	if rule.IsValid() && rule.Type() != reflect.TypeFor[standard]() { // a nil Backoff means the standard rule
		policy.Backoff = rule.Interface().(Backoff)
	}
	return policy, nil
}

// service removes the service key, wherever it is among the tokens, and returns its value.
func (p *parser) service() (string, error) {
	const key = "service="
	isService := func(token string) bool { return strings.HasPrefix(token, key) }
	i := slices.IndexFunc(p.tokens, isService)
	if i < 0 {
		return "", nil
	}
	token := p.tokens[i]
	service := strings.TrimPrefix(token, key)
	if service == "" {
		return "", fmt.Errorf("%q does not name a service", token)
	}
	p.tokens = slices.Delete(p.tokens, i, i+1)
	if slices.ContainsFunc(p.tokens, isService) {
		return "", errors.New(`key "service" is given twice`)
	}
	return service, nil
}

// rule reads the name of a rule and the rules in its parentheses, but not its keys.
func (p *parser) rule() (reflect.Value, error) {
	if p.depth++; p.depth > maxDepth {
		return reflect.Value{}, fmt.Errorf("rules are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	name := p.peek()
	for _, r := range rules {
		if r.name == name {
			p.accept(name)
			v := reflect.New(reflect.TypeOf(r.rule)).Elem()
			return v, p.inner(name, v)
		}
	}
	if name == "" || isSign(name) {
		where := "at the end"
		if name != "" {
			where = fmt.Sprintf("before %q", name)
		}
		return reflect.Value{}, fmt.Errorf("a rule is missing %s; valid names are %s", where, knownNames(p.depth == 1))
	}
	err := fmt.Errorf("unknown name %q; valid names are %s", name, knownNames(p.depth == 1))
	if strings.HasPrefix(name, "aws-") && !slices.ContainsFunc(presetNames(), func(known string) bool { return strings.HasPrefix(known, "aws-") }) {
		err = fmt.Errorf("%w; to use the presets of the AWS SDKs, import github.com/gobackoff/retry/awspreset", err)
	}
	return reflect.Value{}, err
}

func knownNames(withPresets bool) string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	if withPresets {
		names = append(names, presetNames()...)
	}
	return strings.Join(names, ", ")
}

// inner reads the rules in parentheses into the Backoff fields of v.
func (p *parser) inner(name string, v reflect.Value) error {
	inner := innerRules(v)
	for i, field := range inner {
		sign := "("
		if i > 0 {
			sign = "|"
		}
		if !p.accept(sign) {
			return fmt.Errorf("%s takes %d rule(s) in parentheses, separated by |; %q is missing", name, len(inner), sign)
		}
		child, err := p.rule()
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for p.peek() != "" && !isSign(p.peek()) {
			key, value, err := p.keyValue(seen)
			if err == nil {
				err = setField(child, key, value, nil)
			}
			if err != nil {
				return err
			}
		}
		field.Set(child)
	}
	if len(inner) > 0 && !p.accept(")") {
		return fmt.Errorf("%s takes %d rule(s) in parentheses; \")\" is missing", name, len(inner))
	}
	return nil
}

func (p *parser) keyValue(seen map[string]bool) (key, value string, err error) {
	token := p.peek()
	p.accept(token)
	key, value, ok := strings.Cut(token, "=")
	switch {
	case !ok || key == "" || value == "":
		return "", "", fmt.Errorf("%q is not of the form key=value", token)
	case seen[key]:
		return "", "", fmt.Errorf("key %q is given twice", key)
	}
	seen[key] = true
	return key, value, nil
}

func (p *Policy) set(key, value string) (err error) {
	switch key {
	case "attempts":
		if value == unlimited {
			p.MaxAttempts = Unlimited
			return nil
		}
		if p.MaxAttempts, err = strconv.Atoi(value); err != nil || p.MaxAttempts < 1 {
			return fmt.Errorf("attempts=%s is not a whole number of at least 1, nor %q", value, unlimited)
		}
	case "elapsed":
		p.MaxElapsed, err = parseDuration(key+"=", value)
	case "timeout":
		p.AttemptTimeout, err = parseDuration(key+"=", value)
	case "stagger":
		p.Stagger, err = parseDuration(key+"=", value)
	case "hint":
		p.Hint, err = parseHint(value)
	case "budget":
		p.Budget, err = parseBudget(value)
	case "limiter":
		p.Limiter, err = parseLimiter(value)
	case "longpoll":
		p.LongPoll, err = parseBool(key, value)
	}
	return err
}

func parseHint(value string) (HintRule, error) {
	name, limit, bounded := strings.Cut(value, ":")
	var names []string
	for _, h := range hints {
		if names = append(names, h.name); h.name != name {
			continue
		}
		v := reflect.New(reflect.TypeOf(h.rule)).Elem()
		if bounded {
			if v.NumField() == 0 {
				return nil, fmt.Errorf("hint=%s takes no duration", name)
			}
			d, err := parseDuration("hint="+name+":", limit)
			if err != nil {
				return nil, err
			}
			v.Field(0).SetInt(int64(d))
		}
		return v.Interface().(HintRule), nil
	}
	return nil, fmt.Errorf("unknown hint=%s; valid values are %s", name, strings.Join(names, ", "))
}

func parseBudget(value string) (Budget, error) {
	if value == none {
		return nil, nil
	}
	name, fields, ok := strings.Cut(value, ":")
	var given []string
	if ok {
		given = strings.Split(fields, ":")
	}
	names := []string{none}
	for _, kind := range budgets {
		if kind.name == name {
			b, err := kind.parse(given)
			if err != nil {
				return nil, fmt.Errorf("budget=%s: %w", value, err)
			}
			return b, nil
		}
		names = append(names, kind.name)
	}
	return nil, fmt.Errorf("unknown budget=%s; valid values are %s", name, strings.Join(names, ", "))
}

func parseLimiter(value string) (Limiter, error) {
	if value == none {
		return nil, nil
	}
	names := []string{none}
	for _, kind := range limiters.All() {
		if kind.Name == value {
			return kind.New().(Limiter), nil
		}
		names = append(names, kind.Name)
	}
	err := fmt.Errorf("unknown limiter=%s; valid values are %s", value, strings.Join(names, ", "))
	if value == "adaptive" {
		err = fmt.Errorf("%w; to use the adaptive limiter, import github.com/gobackoff/retry/awspreset", err)
	}
	return nil, err
}

// setField sets a field of a rule. The error about an unknown key lists the rule's keys
// and those in others.
func setField(rule reflect.Value, key, value string, others []string) error {
	var known []string
	for name, field := range fields(rule) {
		if name == key {
			return setValue(field, key, value)
		}
		known = append(known, name)
	}
	known = append(known, others...)
	return fmt.Errorf("unknown key %q; known here: %s", key, cmp.Or(strings.Join(known, ", "), "none"))
}

// fields yields the keys of a rule and the fields that they set. It yields nothing for
// the zero Value.
func fields(rule reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		switch {
		case !rule.IsValid():
		case rule.Type() == reflect.TypeFor[Constant]():
			yield("delay", rule)
		case rule.Type() == reflect.TypeFor[Schedule]():
			yield("delays", rule)
		default:
			for field, v := range rule.Fields() {
				if v.Kind() != reflect.Interface && !yield(strings.ToLower(field.Name), v) {
					return
				}
			}
		}
	}
}

func setValue(field reflect.Value, key, value string) error {
	switch field.Interface().(type) {
	case float64:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%s=%s is not a number", key, value)
		}
		field.SetFloat(f)
	case bool:
		b, err := parseBool(key, value)
		if err != nil {
			return err
		}
		field.SetBool(b)
	case Schedule:
		for d := range strings.SplitSeq(value, "/") {
			d, err := parseDuration(key+"=", d)
			if err != nil {
				return err
			}
			field.Set(reflect.Append(field, reflect.ValueOf(d)))
		}
	default: // time.Duration and Constant
		d, err := parseDuration(key+"=", value)
		if err != nil {
			return err
		}
		field.SetInt(int64(d))
	}
	return nil
}

func parseBool(key, value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%s is neither true nor false", key, value)
	}
	return b, nil
}
