package retryconfig

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// A builder makes a policy of what a text or a mapping says.
type builder struct {
	faults
	codes retry.Codes // of retry-on and stop-on
}

// build returns start, changed as n says, if it is then valid. text is what n has been read
// from, or "" if that was a mapping.
func (b *builder) build(text string, n node, start retry.Policy) (retry.Policy, error) {
	p := b.policy(n, start)
	if b.faults == nil {
		err := p.Validate()
		if err == nil {
			return p, nil
		}
		b.add("%s", asKeys.Replace(strings.TrimPrefix(err.Error(), retry.ErrInvalid.Error()+" retry policy: ")))
	}
	return retry.Policy{}, invalid(text, b.faults...)
}

// asKeys replaces the names of a Policy's fields by those of their keys.
var asKeys = strings.NewReplacer("AttemptTimeout", "timeout", "MaxElapsed", "elapsed", "MaxAttempts", "attempts", "Backoff: ", "")

// first is add for a mistake that the others may follow from.
func (b *builder) first(text string) { b.faults = slices.Insert(b.faults, 0, text) }

func (b *builder) policy(n node, start retry.Policy) retry.Policy {
	b.codes, start = splitCodes(start)
	p, rule, others := start, ruleLike(start.Backoff), policyKeys
	settings := b.unique(n.settings)
	preset, isPreset := presetNamed(n.name)
	switch {
	case isPreset && n.of == nil:
		p, settings = b.preset(preset, settings, start)
		rule, others = reflect.Value{}, slices.Concat([]string{"service", "capacity"}, policyKeys)
	case isNone(n.name) && n.of == nil:
		p.Backoff, p.MaxAttempts = nil, retry.NoRetry
		rule = ruleLike(nil)
	case n.name != "":
		if p.Backoff == nil && p.MaxAttempts == retry.NoRetry { // none, which the name replaces
			p.MaxAttempts = 0
		}
		rule = b.rule(n, presetNames())
		if !rule.IsValid() { // whatever keys it may have
			settings = slices.DeleteFunc(settings, func(s setting) bool { return !slices.Contains(policyKeys, s.key) })
		}
	}
	known := append(keysOf(rule), others...)
	if n.isPart {
		known = append(known, nameKeys...)
	}
	ruleMissing := n.name == "" && len(keysOf(rule)) == 0
	for _, s := range b.set(rule, settings) {
		if b.own(&p, s) {
			continue
		}
		b.unknownKey(s, known, ruleMissing)
		if ruleMissing && slices.Contains(nameKeys, s.key) {
			break // the others may be the rule's
		}
	}
	if isNone(n.name) && p.MaxAttempts != retry.NoRetry && b.faults == nil {
		b.add("%s means one attempt, not %s; more attempts without a wait are %q",
			n.name, attemptsText(p.MaxAttempts), "no-delay attempts="+attemptsText(p.MaxAttempts))
	}
	if rule.IsValid() {
		p.Backoff, _ = rule.Interface().(retry.Backoff)
	}
	p.Classifier = joinCodes(b.codes, p.Classifier)
	return p
}

// unique returns the settings whose keys have not been given before.
func (b *builder) unique(settings []setting) []setting {
	var list []setting
	given := map[string]int{}
	for _, s := range settings {
		switch given[s.key]++; given[s.key] {
		case 1:
			list = append(list, s)
		case 2:
			b.add("%s%s", s.path, twice(s.key))
		}
	}
	return list
}

// preset returns a policy of the preset, with what it leaves open from start, and the
// settings except for the service and the capacity.
func (b *builder) preset(preset preset, settings []setting, start retry.Policy) (retry.Policy, []setting) {
	var service string
	settings = slices.DeleteFunc(settings, func(s setting) bool {
		if s.key == "service" {
			service, _ = b.scalar(s)
		}
		return s.key == "service"
	})
	if len(service) > 100 { // the preset's error might quote it
		b.add("service=%s is too long", clip(service, 40))
		return start, settings
	}
	p, err := preset.policy(service)
	if err != nil {
		b.add("%v", err)
	}
	settings = b.capacity(preset.name, &p, settings)
	keep(&p, &start)
	p.MaxElapsed = cmp.Or(p.MaxElapsed, start.MaxElapsed)
	p.AttemptTimeout = cmp.Or(p.AttemptTimeout, start.AttemptTimeout)
	return p, settings
}

// capacity sets the capacity of the preset's TokenBudget, and returns the other settings.
func (b *builder) capacity(name string, p *retry.Policy, settings []setting) []setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == "capacity" })
	if i < 0 {
		return settings
	}
	s := settings[i]
	settings = slices.Delete(settings, i, i+1)
	budget, ok := p.Budget.(*awspreset.TokenBudget)
	tokens := b.number(s)
	switch {
	case !ok:
		b.add("%s: %s has no budget of tokens", s, name)
	case slices.ContainsFunc(settings, func(other setting) bool { return other.key == "budget" }):
		b.add("%s is of the budget of %s, which the key budget replaces", s, name)
	case tokens == 0:
		b.add("%s would mean the default; without a budget, write budget=none", s)
	default:
		budget.Capacity = tokens
	}
	return settings
}

// ruleLike returns a copy of a rule whose fields can be set, or the zero Value if b has no
// text form.
func ruleLike(b retry.Backoff) reflect.Value {
	if _, ok := nameOf(rules, b); !ok {
		return reflect.Value{}
	}
	if b == nil {
		return reflect.Zero(reflect.TypeFor[retry.Backoff]())
	}
	v := reflect.New(reflect.TypeOf(b)).Elem()
	v.Set(reflect.ValueOf(b))
	return v
}

// rule returns a rule with the rules in its parentheses. If the name is unknown, it returns
// the rule that may be meant, or the zero Value. others are names that are valid in the
// place of the rule.
func (b *builder) rule(n node, others []string) reflect.Value {
	i := slices.Index(namesIn(rules), n.name)
	if i < 0 {
		names := append(namesIn(rules), others...)
		if isNone(n.name) {
			b.add("%s is no rule for waits; a rule without a wait is no-delay", n.name)
			return reflect.Value{}
		}
		if others == nil {
			b.add("%s", unknown("name", n.name, names))
		} else {
			b.first(unknown("name", n.name, names))
		}
		if i = slices.Index(namesIn(rules), closest(n.name, names)); i < 0 {
			return reflect.Value{}
		}
	}
	rule := ruleLike(rules[i].rule)
	inner := innerRules(rule)
	if len(inner) != len(n.of) {
		b.add("%s has rules in parentheses: %d, instead of %d", rules[i].name, len(n.of), len(inner))
		return rule
	}
	for i, field := range inner {
		child := b.rule(n.of[i], nil)
		if child.IsValid() {
			b.setAll(child, n.of[i].settings)
			field.Set(child)
		}
	}
	return rule
}

// set sets the fields of a rule or a part, and returns the settings of other keys.
func (b *builder) set(rule reflect.Value, settings []setting) (rest []setting) {
	list := fields(rule)
	for _, s := range settings {
		if i := slices.IndexFunc(list, func(f field) bool { return f.key == s.key }); i >= 0 {
			b.setField(list[i].value, s)
		} else {
			rest = append(rest, s)
		}
	}
	return rest
}

// setAll is set for what has no other keys.
func (b *builder) setAll(rule reflect.Value, settings []setting) {
	for _, s := range b.set(rule, b.unique(settings)) {
		b.unknownKey(s, keysOf(rule), false)
	}
}

// unknownKey reports a key. If a rule is missing, the key may be a rule's.
func (b *builder) unknownKey(s setting, known []string, ruleMissing bool) {
	var more []string
	for _, r := range rules {
		if ruleMissing {
			more = append(more, keysOf(ruleLike(r.rule))...)
		}
	}
	if slices.Contains(more, s.key) {
		needs := fmt.Sprintf("%skey %q needs the name of a rule, such as full", s.path, s.key)
		if !slices.ContainsFunc(b.faults, func(fault string) bool { return strings.HasSuffix(fault, "needs the name of a rule, such as full") }) {
			b.add("%s", needs)
		}
		return
	}
	if slices.Contains(nameKeys, s.key) {
		b.add("%skey %q belongs to a mapping; a text begins with the name, as in %s", s.path, s.key, clip(s.value.name, 40))
		return
	}
	message := s.path + unknown("key", s.key, known, more...)
	if s.value.isPart && s.sign == ": " {
		message += "; write a rule within a rule as text, as in rule: spread(full base=1s)"
	}
	b.add("%s", message)
}

// own sets a field of the policy itself, and reports whether there is one with this key.
func (b *builder) own(p *retry.Policy, s setting) bool {
	switch s.key {
	case "attempts":
		p.MaxAttempts = b.attempts(s)
	case "elapsed":
		p.MaxElapsed = b.limit(s)
	case "timeout":
		p.AttemptTimeout = b.limit(s)
	case "hint":
		p.Hint = part(b, s, hints)
	case "budget":
		p.Budget = part(b, s, budgets)
	case "limiter":
		p.Limiter = b.limiter(s)
	case retryOn:
		b.codes.Retry = b.listOfCodes(s)
	case stopOn:
		b.codes.Stop = b.listOfCodes(s)
	default:
		return false
	}
	return true
}

// value returns the name and the settings of a value, which in a mapping may be a text.
func (b *builder) value(s setting) node {
	if s.sign == "=" || s.value.isPart {
		return s.value
	}
	p := &parser{faults: &b.faults, words: words(s.value.name)}
	n := p.value(s.key, p.next())
	if p.peek() != "" {
		b.add("%s%s: unexpected %s", s.path, s.key, quoted(p.peek()))
	}
	return n
}

// part returns a new value of the type of the entry in the table, which is nil, a struct or
// a pointer to a struct.
func part[R any](b *builder, s setting, table []named[R]) (made R) {
	n := b.value(s)
	names := namesIn(table)
	if isNone(n.name) && slices.Contains(names, none) {
		n.name = none
	}
	i := slices.Index(names, n.name)
	if i < 0 {
		b.add("%s", unknown(s.key, n.name, names))
		return made
	}
	t := reflect.TypeOf(table[i].rule)
	if t == nil { // the default
		b.setAll(reflect.Value{}, n.settings)
		return made
	}
	v := reflect.New(t).Elem()
	if t.Kind() == reflect.Pointer {
		v.Set(reflect.New(t.Elem()))
	}
	b.setAll(reflect.Indirect(v), n.settings)
	return v.Interface().(R)
}

func (b *builder) limiter(s setting) retry.Limiter {
	n, names := b.value(s), []string{none}
	b.setAll(reflect.Value{}, n.settings)
	for _, kind := range limiters {
		if names = append(names, kind.name); kind.name == n.name {
			return kind.make()
		}
	}
	if !isNone(n.name) {
		b.add("%s", unknown(s.key, n.name, names))
	}
	return nil
}

func (b *builder) setField(field reflect.Value, s setting) {
	before := len(b.faults)
	switch field.Interface().(type) {
	case float64:
		field.SetFloat(b.number(s))
	case bool:
		field.SetBool(b.truth(s))
	case retry.Schedule:
		field.SetZero()
		text, ok := b.scalar(s)
		if !ok {
			return
		}
		for d := range strings.SplitSeq(text, listSeparator) {
			s.value.name = d
			field.Set(reflect.Append(field, reflect.ValueOf(b.duration(s))))
		}
	default: // time.Duration and Constant
		field.SetInt(int64(b.duration(s)))
	}
	if before == len(b.faults) && field.IsZero() && slices.Contains(zeroIsDefault, s.key) {
		b.add("%s would mean the default; omit it", s)
	}
}

// scalar returns the text of a value that is no part.
func (b *builder) scalar(s setting) (string, bool) {
	if s.value.isPart {
		b.add("%s is not a single value", s)
	}
	return s.value.name, !s.value.isPart
}

func (b *builder) attempts(s setting) int {
	text, ok := b.scalar(s)
	if !ok || text == unlimited {
		return retry.Unlimited
	}
	switch strings.ToLower(text) {
	case "0", none, "off", "false", "never":
		b.add("%s: one attempt is the least; write attempts=1 for no retry", s)
		return retry.NoRetry
	case "-1", "inf", "infinite", "infinity", "forever":
		b.add("%s: write attempts=%s", s, unlimited)
		return retry.Unlimited
	}
	n, err := strconv.ParseFloat(text, 64) // JSON's 3.0 is a whole number
	if err != nil || n < 1 || n != math.Trunc(n) || n >= math.MaxInt {
		b.add("%s is not a whole number of at least 1, nor %q", s, unlimited)
		return retry.NoRetry
	}
	return int(n)
}

// limit reads a duration, or none for 0.
func (b *builder) limit(s setting) time.Duration {
	if isNone(s.value.name) && !s.value.isPart {
		return 0
	}
	before := len(b.faults)
	if s.value.name == "0" {
		s.value.name = "0s"
	}
	d := b.duration(s)
	if d == 0 && before == len(b.faults) {
		b.add("%s would mean none; write none", s)
	}
	return d
}

func (b *builder) duration(s setting) time.Duration {
	text, ok := b.scalar(s)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case strings.Trim(text, "+-.0123456789") == "":
		b.add("%s needs a unit, as in %[2]sms or %[2]ss", s, clip(text, 40))
	case err != nil && otherUnit(text) != "":
		b.add("%s is not a duration; write %s", s, otherUnit(text))
	case err != nil:
		b.add("%s is not a duration such as 50ms, 20s or 1m30s", s)
	}
	return d
}

func (b *builder) number(s setting) float64 {
	text, ok := b.scalar(s)
	if !ok {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		b.add("%s is not a number", s)
	}
	return n
}

func (b *builder) truth(s setting) bool {
	text, ok := b.scalar(s)
	if !ok {
		return false
	}
	t, err := strconv.ParseBool(text)
	if err != nil {
		b.add("%s is neither true nor false", s)
	}
	return t
}
