package retryconfig

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
	"github.com/gobackoff/retry/internal/nearest"
)

// The text form of a Policy:
//
//	policy = [ preset | rule ] { key "=" value }
//	rule   = name [ "(" rule { "|" rule } ")" ] { key "=" value }
//	value  = word | name "(" { key "=" value } ")"
//
// Spaces, commas and semicolons separate words. The rules in parentheses are the Backoff
// fields of a composition, in their order in the Go type; the keys of a rule, a hint rule
// or a budget are its other fields in lower case.

// policyKeys are the keys of a Policy's own fields, in the order in which they are
// printed.
var policyKeys = []string{"attempts", "elapsed", "timeout", "hint", "budget", "limiter"}

const (
	unlimited = "unlimited" // MaxAttempts
	none      = "none"      // no budget, no limiter, no limit of time
)

// String returns the text form that [ParsePolicy] reads. The name of a preset stands for
// all of its parts. A part without a text form, such as another package's Classifier,
// prints as its type or String() result, which cannot be parsed. Clock, Rand and Hooks are
// omitted.
func (p Policy) String() string {
	text, _ := p.text()
	return text
}

// MarshalText returns the text of [Policy.String], or an error if a part has no text form.
func (p Policy) MarshalText() ([]byte, error) {
	text, err := p.text()
	return []byte(text), err
}

// UnmarshalText replaces the Policy with the result of [ParsePolicy], but keeps Hooks,
// Clock, Rand, and a Classifier that is not a preset's. An error changes nothing.
func (p *Policy) UnmarshalText(text []byte) error {
	parsed, err := ParsePolicy(string(text))
	if err == nil {
		parsed.keep(p)
		*p = parsed
	}
	return err
}

// keep takes over what code has set in old and no text can describe.
func (p *Policy) keep(old *Policy) {
	if !reflect.ValueOf(old.Hooks).IsZero() {
		p.Hooks = old.Hooks
	}
	p.Clock = cmp.Or(old.Clock, p.Clock)
	if old.Rand != nil {
		p.Rand = old.Rand
	}
	if old.Classifier != nil && presetOf(old.Classifier) == "" {
		p.Classifier = old.Classifier
	}
}

func (p *Policy) text() (string, error) {
	text, like := p.presetText()
	isPreset := text != ""
	var err error
	if !isPreset {
		text, err = backoffText(orDefault(p.Backoff))
	}
	own, others := p.values(), like.values()
	for i, key := range policyKeys {
		if own[i].text != others[i].text || i == 0 && !isPreset { // attempts are always shown
			text += " " + key + "=" + own[i].text
			err = cmp.Or(err, own[i].err)
		}
	}
	if c := p.Classifier; !isPreset && c != nil && reflect.TypeOf(c) != reflect.TypeFor[DefaultClassifier]() {
		text += fmt.Sprintf(" classifier=%T", c)
		err = cmp.Or(err, fmt.Errorf("classifier %T has no text form", c))
	}
	return text, err
}

// A value is the text of one of the policyKeys. If there is none, err says so, and text is
// a description.
type value struct {
	text string
	err  error
}

func (p *Policy) values() []value {
	attempts := unlimited
	if p.MaxAttempts != Unlimited {
		attempts = strconv.Itoa(p.maxAttempts())
	}
	return []value{
		{text: attempts}, {text: limitText(p.MaxElapsed)}, {text: limitText(p.AttemptTimeout)},
		partText("hint rule", hints, cmp.Or[HintRule](p.Hint, HintAtLeast{})), partText("budget", budgets, p.Budget),
		limiterText(p.Limiter),
	}
}

func limitText(d time.Duration) string {
	if d == 0 {
		return none
	}
	return durationText(d)
}

func partText[R any](kind string, table []named[R], part R) value {
	v := reflect.ValueOf(part)
	if !v.IsValid() {
		return value{text: none}
	}
	name, ok := nameOf(table, part)
	if !ok || isNil(part) {
		return value{fmt.Sprintf("%T", part), fmt.Errorf("%s %T has no text form", kind, part)}
	}
	if texts := fieldTexts(reflect.Indirect(v)); texts != nil {
		name += "(" + strings.Join(texts, " ") + ")"
	}
	return value{text: name}
}

func limiterText(limiter Limiter) value {
	for _, kind := range limiters.All() {
		if kind.Is(limiter) {
			return value{text: kind.Name}
		}
	}
	return partText("limiter", nil, limiter)
}

// presetText returns the text of the preset that the Classifier names, and the policy
// that the text describes. The text is empty if there is no preset or if the two policies
// have different Backoffs.
func (p *Policy) presetText() (string, Policy) {
	text := presetOf(p.Classifier)
	like, err := (&parser{tokens: tokens(text)}).policy(Policy{})
	own, _ := backoffText(orDefault(p.Backoff))
	other, _ := backoffText(orDefault(like.Backoff))
	if text == "" || err != nil || own != other {
		return "", Policy{}
	}
	return text, like
}

func presetOf(c Classifier) string {
	if preset, ok := c.(interface{ PolicyText() string }); ok && !isNil(c) {
		return preset.PolicyText()
	}
	return ""
}

func backoffText(b Backoff) (string, error) {
	name, ok := nameOf(rules(), b)
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
	return strings.Join(append([]string{name}, fieldTexts(rule)...), " "), err
}

// fieldTexts returns the texts of the fields that are not zero.
func fieldTexts(rule reflect.Value) []string {
	var texts []string
	for key, v := range fields(rule) {
		if !v.IsZero() {
			texts = append(texts, key+"="+valueText(v))
		}
	}
	return texts
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
		return numberText(x)
	case TokenCosts:
		text := numberText(x.Transient)
		if x.Timeout != x.Transient {
			text += " timeout=" + numberText(x.Timeout)
		}
		if x.Throttled != x.Transient {
			text += " throttled=" + numberText(x.Throttled)
		}
		return text
	default:
		return fmt.Sprint(x)
	}
}

func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// ParsePolicy reads the text form of a Policy:
//
//	full base=50ms cap=20s attempts=5 elapsed=1m timeout=2s
//	aws-standard-2026 service=dynamodb attempts=6
//	spread(exponential base=1s cap=1m) fraction=0.1 attempts=unlimited hint=or-give-up(max=10m)
//
// The text starts with the name of a rule or a preset ([RegisterPreset]; aws-… in package
// awspreset). Keys and values follow in any order, separated by spaces, commas or
// semicolons. Durations need units. The rules are
//
//	standard                          what a nil Backoff means
//	none                              NoDelay
//	constant delay=
//	exponential base= cap= factor=
//	linear base= step= cap=
//	fibonacci base= cap=
//	schedule delays=1s/2s/4s
//	full base= cap= factor=           FullJitter
//	equal base= cap= factor=          EqualJitter
//	decorrelated base= cap= redraw=   DecorrelatedJitter
//	jittered(rule) share=
//	spread(rule) fraction=
//	capped(rule) cap=
//	when-throttled(throttled rule | other rule)
//
// and the keys of a Policy are
//
//	attempts=5                           or unlimited
//	elapsed=1m timeout=2s                or none
//	hint=at-least(max=10m)               or-give-up(max=10m), window(width=5s), ignore
//	budget=token(capacity= cost=5 timeout=10 throttled= success= deficit= norefund= successonly=)
//	budget=throttle(maxtokens= tokenratio=)
//	budget=ratio(ratio= floor= window=)
//	limiter=adaptive                     of package awspreset
//	service=dynamodb                     for presets with services
//
// budget and limiter may be none. An omitted key means a zero field or, for the cost of a
// class, cost; a 0 that would mean a default is refused. Each call makes a new budget and
// limiter. An error lists the valid choices and matches [ErrInvalid]; the Policy is then zero.
func ParsePolicy(text string) (Policy, error) {
	return parse(fmt.Sprintf("%q", text), tokens(text), Policy{})
}

// parse returns the validated Policy that tokens make of start. text is for the error
// message.
func parse(text string, tokens []string, start Policy) (Policy, error) {
	p, err := (&parser{tokens: tokens}).policy(start)
	faults := p.faults()
	if err != nil {
		faults = []string{err.Error()}
	}
	if err := invalid("policy "+text, faults); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// fromMapping changes the Policy as a decoded configuration says.
func (p *Policy) fromMapping(value any) error {
	switch m := value.(type) {
	case nil:
		return nil
	case string:
		return p.UnmarshalText([]byte(m))
	case *Policy: // a decoder hook has called UnmarshalText
		m.keep(p)
		*p = *m
		return nil
	case map[string]any:
		first, keyValues, err := mappingWords(m)
		if err != nil {
			return invalid(fmt.Sprintf("policy %v", m), []string{err.Error()})
		}
		parsed, err := parse(fmt.Sprint(m), append(tokens(first), keyValues...), *p)
		if err == nil {
			*p = parsed
		}
		return err
	}
	return invalid(fmt.Sprintf("policy %v", value), []string{fmt.Sprintf("a %T is neither a text nor a mapping with text keys", value)})
}

// mappingWords returns the words of the text form. In a mapping, "rule", "preset" or
// "backoff" stands for the first of them.
func mappingWords(m map[string]any) (first string, keyValues []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value, isFirst := m[key], key == "rule" || key == "preset" || key == "backoff"
		if inner, ok := value.(map[string]any); ok && isFirst { // backoff: {rule: full, base: 1s}
			name, more, err := mappingWords(inner)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", key, err)
			}
			value, keyValues = name, append(keyValues, more...)
		}
		text, err := scalarText(value)
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("%s: %w", key, err)
		case !isFirst:
			keyValues = append(keyValues, key+"="+text)
		case first != "":
			return "", nil, fmt.Errorf("key %q names the rule a second time", key)
		default:
			first = text
		}
	}
	return first, keyValues, nil
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
	case map[string]any: // budget: {rule: token, capacity: 100}
		name, keyValues, err := mappingWords(v)
		if name != "" || err != nil {
			return name + "(" + strings.Join(keyValues, " ") + ")", err
		}
	case string, bool, int, int64, uint64, float64, jsonvalue.Number, interface{ Int64() (int64, error) }, time.Duration: // json.Number has Int64
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("a %T is not a text, a number or a boolean; write a rule within a rule as text, as in rule: spread(full base=1s)", value)
}

// UnmarshalJSON reads a text as [Policy.UnmarshalText] does, or an object with the keys of
// the text and "rule" (or "preset", or "backoff") for its first word:
//
//	{"rule": "full", "base": "1s", "attempts": 7, "budget": {"rule": "token", "cost": 10}}
//
// An object changes only what it names: without a rule, its keys apply to the present
// Backoff. Presets keep time limits.
func (p *Policy) UnmarshalJSON(data []byte) error {
	value, err := jsonvalue.Decode(data)
	if err != nil {
		return invalid(fmt.Sprintf("policy %s", data), []string{err.Error()})
	}
	return p.fromMapping(value)
}

// UnmarshalYAML is UnmarshalJSON for gopkg.in/yaml.v3 and github.com/goccy/go-yaml.
func (p *Policy) UnmarshalYAML(unmarshal func(any) error) error {
	var value any
	if err := unmarshal(&value); err != nil {
		return err
	}
	return p.fromMapping(value)
}

// UnmarshalTOML is UnmarshalJSON for github.com/BurntSushi/toml.
func (p *Policy) UnmarshalTOML(value any) error { return p.fromMapping(value) }

// UnmarshalMapstructure is UnmarshalJSON for github.com/go-viper/mapstructure/v2 since
// version 2.5, viper and koanf.
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

// policy returns start, changed as the tokens say.
func (p *parser) policy(start Policy) (Policy, error) {
	policy, rule, keys := start, presentRule(start.Backoff), policyKeys
	var preset func(service string) (Policy, error)
	var err error
	if first := p.peek(); first != "" && !strings.Contains(first, "=") {
		if preset = presetNamed(first); preset != nil {
			p.accept(first)
		} else if rule, err = p.rule(); err != nil {
			return policy, err
		}
	}
	given, err := p.keyValues(false)
	if err != nil {
		return policy, err
	}
	if preset != nil {
		if policy, err = preset(given["service"]); err != nil {
			return policy, err
		}
		delete(given, "service")
		policy.keep(&start)
		policy.MaxElapsed = cmp.Or(policy.MaxElapsed, start.MaxElapsed)
		policy.AttemptTimeout = cmp.Or(policy.AttemptTimeout, start.AttemptTimeout)
		rule, keys = reflect.Value{}, slices.Concat([]string{"service"}, policyKeys)
	}
	for _, key := range policyKeys {
		if value, ok := given[key]; ok {
			if err := policy.set(key, value); err != nil {
				return policy, err
			}
			delete(given, key)
		}
	}
	if err := setFields(rule, given, keys); err != nil {
		return policy, err
	}
	if rule.IsValid() {
		policy.Backoff = rule.Interface().(Backoff)
	}
	if policy.Backoff == (standard{}) {
		policy.Backoff = nil
	}
	return policy, nil
}

// presentRule returns a copy of b whose fields can be set, or the zero Value if b has no
// text form.
func presentRule(b Backoff) reflect.Value {
	if _, ok := nameOf(rules(), b); !ok {
		return reflect.Value{}
	}
	v := reflect.New(reflect.TypeOf(b)).Elem()
	v.Set(reflect.ValueOf(b))
	return v
}

// rule reads the name of a rule and the rules in its parentheses, but not its keys.
func (p *parser) rule() (reflect.Value, error) {
	if p.depth++; p.depth > maxDepth {
		return reflect.Value{}, fmt.Errorf("rules are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	name := p.peek()
	var names []string
	for _, r := range rules() {
		if names = append(names, r.name); r.name == name {
			p.accept(name)
			v := reflect.New(reflect.TypeOf(r.rule)).Elem()
			return v, p.inner(name, v)
		}
	}
	if p.depth == 1 {
		names = append(names, presetNames()...)
	}
	if strings.Contains("(|)", name) { // or there is no name
		return reflect.Value{}, fmt.Errorf("a rule is missing before %s; valid: %s", cmp.Or(name, "the end"), strings.Join(names, ", "))
	}
	err := unknown("name", name, names)
	if strings.HasPrefix(name, "aws-") && presetNamed("aws-standard-2026") == nil {
		err = fmt.Errorf("%w; to use the presets of the AWS SDKs, import github.com/gobackoff/retry/awspreset", err)
	}
	return reflect.Value{}, err
}

// unknown returns an error that lists the known names and suggests one.
func unknown(kind, name string, known []string) error {
	format := "unknown %s %q; valid: %s"
	if meant := nearest.Name(name, known); meant != "" {
		format = "unknown %s %q; did you mean " + strconv.Quote(meant) + "? Valid: %s"
	}
	return fmt.Errorf(format, kind, name, cmp.Or(strings.Join(known, ", "), none))
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
		given, err := p.keyValues(true)
		if err == nil {
			err = setFields(child, given, nil)
		}
		if err != nil {
			return err
		}
		field.Set(child)
	}
	if len(inner) > 0 && !p.accept(")") {
		return fmt.Errorf("%s takes %d rule(s) in parentheses; \")\" is missing", name, len(inner))
	}
	return nil
}

// keyValues reads keys and values up to the end, or within parentheses up to a sign.
func (p *parser) keyValues(nested bool) (map[string]string, error) {
	given := map[string]string{}
	for p.peek() != "" && !(nested && strings.Contains("(|)", p.peek())) {
		token := p.peek()
		p.accept(token)
		key, value, _ := strings.Cut(token, "=")
		if key == "" || value == "" {
			return nil, fmt.Errorf("%q is not of the form key=value", token)
		}
		if _, twice := given[key]; twice {
			return nil, fmt.Errorf("key %q is given twice", key)
		}
		if p.peek() == "(" {
			end := slices.Index(p.tokens, ")")
			if end < 0 {
				return nil, fmt.Errorf("%q takes keys in parentheses; \")\" is missing", token)
			}
			value += "(" + strings.Join(p.tokens[1:end], " ") + ")"
			p.tokens = p.tokens[end+1:]
		}
		given[key] = value
	}
	return given, nil
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
		p.MaxElapsed, err = parseLimit(key, value)
	case "timeout":
		p.AttemptTimeout, err = parseLimit(key, value)
	case "hint":
		p.Hint, err = parsePart(key, value, hints)
	case "budget":
		p.Budget, err = parsePart(key, value, append([]named[Budget]{{none, nil}}, budgets...))
	case "limiter":
		p.Limiter, err = parsePart(key, value, append([]named[Limiter]{{none, nil}}, limiterTable()...))
		if err != nil && len(limiterTable()) == 0 {
			err = fmt.Errorf("%w; to use the adaptive limiter, import github.com/gobackoff/retry/awspreset", err)
		}
	}
	return err
}

// parsePart reads a name in the table, and the keys in parentheses that may follow.
func parsePart[R any](key, value string, table []named[R]) (part R, err error) {
	p := &parser{tokens: tokens(value)}
	var names []string
	for _, entry := range table {
		names = append(names, entry.name)
		if !p.accept(entry.name) {
			continue
		}
		given := map[string]string{}
		if p.accept("(") {
			given, err = p.keyValues(true)
			p.accept(")")
		}
		if err == nil && p.peek() != "" {
			err = fmt.Errorf("unexpected %q", p.peek())
		}
		if err == nil {
			part, err = newPart(entry.rule, given)
		}
		if err != nil {
			err = fmt.Errorf("%s=%s: %w", key, value, err)
		}
		return part, err
	}
	return part, unknown(key, p.peek(), names)
}

// newPart returns a new value of the type of like, which is nil, a struct or a pointer to a
// struct.
func newPart[R any](like R, given map[string]string) (R, error) {
	t := reflect.TypeOf(like)
	if t == nil {
		return like, setFields(reflect.Value{}, given, nil)
	}
	v := reflect.New(t).Elem()
	if t.Kind() == reflect.Pointer {
		v.Set(reflect.New(t.Elem()))
	}
	err := setFields(reflect.Indirect(v), given, nil)
	return v.Interface().(R), err
}

// setFields sets the fields of a rule. The error about an unknown key lists the rule's keys
// and those in others.
func setFields(rule reflect.Value, given map[string]string, others []string) error {
	var known []string
	for key, field := range fields(rule) {
		known = append(known, key)
		if costs, ok := field.Addr().Interface().(*TokenCosts); ok {
			known = append(known, "timeout", "throttled")
			if err := costs.set(given); err != nil {
				return err
			}
			continue
		}
		if value, ok := given[key]; ok {
			if err := setValue(field, key, value); err != nil {
				return err
			}
			if field.IsZero() && slices.Contains(zeroIsDefault, key) {
				return fmt.Errorf("%s=%s would mean the default; omit it", key, value)
			}
			delete(given, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		return unknown("key", key, append(known, others...))
	}
	return nil
}

// set reads the costs, and removes their keys from given.
func (c *TokenCosts) set(given map[string]string) error {
	costs := defaultCosts
	for _, key := range []string{"cost", "timeout", "throttled"} {
		if text, ok := given[key]; ok {
			n, err := parseNumber(key, text)
			if err != nil {
				return err
			}
			delete(given, key)
			switch key {
			case "cost":
				costs = TokenCosts{n, n, n}
			case "timeout":
				costs.Timeout = n
			case "throttled":
				costs.Throttled = n
			}
		}
	}
	if costs == (TokenCosts{}) {
		return errors.New("costs of 0 would mean the default; omit them, or the budget")
	}
	if costs != defaultCosts {
		*c = costs
	}
	return nil
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
				key := strings.ToLower(field.Name)
				if v.Type() == reflect.TypeFor[TokenCosts]() {
					key = "cost"
				}
				if field.IsExported() && v.Kind() != reflect.Interface && !yield(key, v) {
					return
				}
			}
		}
	}
}

func setValue(field reflect.Value, key, value string) error {
	switch field.Interface().(type) {
	case float64:
		f, err := parseNumber(key, value)
		if err != nil {
			return err
		}
		field.SetFloat(f)
	case bool:
		b, err := parseBool(key, value)
		if err != nil {
			return err
		}
		field.SetBool(b)
	case Schedule:
		field.SetZero()
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

// parseLimit reads a duration, or none for 0.
func parseLimit(key, value string) (time.Duration, error) {
	if value == none {
		return 0, nil
	}
	d, err := parseDuration(key+"=", value)
	if err == nil && d == 0 {
		err = fmt.Errorf("%s=%s would mean none; say so", key, value)
	}
	return d, err
}

func parseNumber(key, value string) (float64, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is not a number", key, value)
	}
	return n, nil
}

func parseBool(key, value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%s is neither true nor false", key, value)
	}
	return b, nil
}
