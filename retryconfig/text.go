package retryconfig

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// Text returns the text form of p, which [Parse] reads, or an error if a part has none. The
// name of a preset stands for all of its parts. Clock, Rand and Hooks are omitted.
func Text(p retry.Policy) (string, error) {
	text, err := textOf(p)
	if err != nil {
		return "", err
	}
	if long := tooLong(len(text)); long != "" {
		return "", fmt.Errorf("the text of the policy is too long: %s", long)
	}
	return text, nil
}

// textOf returns a text even if there is an error: parts without a text form are then
// described.
func textOf(p retry.Policy) (string, error) {
	codes, p := splitCodes(p)
	text, like := presetText(p)
	isPreset := text != ""
	isNone := !isPreset && p.Backoff == nil && p.MaxAttempts == retry.NoRetry
	var err error
	switch {
	case isNone:
		text = none
	case !isPreset:
		text, err = backoffText(p.Backoff)
	}
	own, others := values(p), values(like)
	for i, key := range policyKeys[:len(own)] {
		show := own[i].text != others[i].text || own[i].err != nil && !alike(reflect.ValueOf(own[i].part), reflect.ValueOf(others[i].part))
		if i == 0 && !isPreset { // attempts, unless only the time bounds them
			show = !isNone && (p.MaxAttempts != 0 || p.Attempts() != retry.Unlimited)
		}
		if show {
			text += " " + key + "=" + own[i].text
			err = cmp.Or(err, own[i].err)
		}
	}
	for _, list := range []struct {
		key   string
		codes []string
	}{{retryOn, codes.Retry}, {stopOn, codes.Stop}} {
		if len(list.codes) > 0 {
			text += " " + list.key + "=" + strings.Join(list.codes, ",")
		}
	}
	if c := p.Classifier; !isPreset && c != nil && reflect.TypeOf(c) != reflect.TypeFor[retry.DefaultClassifier]() {
		text += fmt.Sprintf(" classifier=%T", c)
		err = cmp.Or(err, fmt.Errorf("classifier %T has no text form", c))
	}
	return text, err
}

// A value is the text of one of the policyKeys, except for those of lists of codes. If there is
// none, err says so, text is a description, and part is what has no text.
type value struct {
	text string
	err  error
	part any
}

func values(p retry.Policy) []value {
	return []value{
		{text: attemptsText(p.Attempts())}, {text: limitText(p.MaxElapsed)}, {text: limitText(p.AttemptTimeout)},
		partText("hint rule", hints, cmp.Or[retry.HintRule](p.Hint, retry.HintAtLeast{})),
		partText("budget", budgets, p.Budget), limiterText(p.Limiter),
	}
}

func attemptsText(n int) string {
	if n == retry.Unlimited {
		return unlimited
	}
	return strconv.Itoa(n)
}

func limitText(d time.Duration) string {
	if d == 0 {
		return none
	}
	return durationText(d)
}

func partText[R any](kind string, table []named[R], part R) value {
	v := reflect.ValueOf(part)
	name, ok := nameOf(table, part)
	if !v.IsValid() {
		return value{text: cmp.Or(name, none)}
	}
	if !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return value{fmt.Sprintf("%T", part), fmt.Errorf("%s %T has no text form", kind, part), part}
	}
	if texts := fieldTexts(reflect.Indirect(v)); texts != nil {
		name += "(" + strings.Join(texts, " ") + ")"
	}
	return value{text: name}
}

// alike reports whether two parts have the same type and exported fields. Other fields are state.
func alike(a, b reflect.Value) bool {
	switch {
	case !a.IsValid() || !b.IsValid():
		return a.IsValid() == b.IsValid()
	case a.Type() != b.Type():
		return false
	case a.Kind() == reflect.Pointer || a.Kind() == reflect.Interface:
		return alike(a.Elem(), b.Elem())
	case a.Kind() != reflect.Struct:
		return !a.Comparable() || a.Equal(b)
	}
	for f, v := range a.Fields() {
		if f.IsExported() && !alike(v, b.FieldByIndex(f.Index)) {
			return false
		}
	}
	return true
}

func limiterText(l retry.Limiter) value {
	for _, kind := range limiters {
		if l != nil && kind.is(l) {
			return value{text: kind.name}
		}
	}
	return partText("limiter", nil, l)
}

// presetText returns the text of the preset that p is from, and the policy that the text
// describes. The text is empty if there is no preset or if the two policies have different
// Backoffs.
func presetText(p retry.Policy) (string, retry.Policy) {
	preset, service, ok := presetOf(p)
	if !ok {
		return "", retry.Policy{}
	}
	like, err := preset.policy(service)
	own, _ := backoffText(p.Backoff)
	other, _ := backoffText(like.Backoff)
	if err != nil || own != other {
		return "", retry.Policy{}
	}
	text := preset.name
	if service != "" {
		text += " service=" + service
	}
	return text + capacityText(p.Budget, like.Budget), like
}

// capacityText returns the capacity of a budget that differs from that of a preset in nothing
// else, and gives it to the preset's.
func capacityText(budget, ofPreset retry.Budget) string {
	own, isTokens := budget.(*awspreset.TokenBudget)
	like, isLike := ofPreset.(*awspreset.TokenBudget)
	if !isTokens || !isLike || own == nil || own.Capacity == like.Capacity || own.Capacity == 0 {
		return ""
	}
	usual := like.Capacity
	like.Capacity = own.Capacity
	if alike(reflect.ValueOf(own), reflect.ValueOf(like)) {
		return " capacity=" + numberText(own.Capacity)
	}
	like.Capacity = usual
	return ""
}

func backoffText(b retry.Backoff) (string, error) {
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
		child, _ := v.Interface().(retry.Backoff)
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
	for _, f := range fields(rule) {
		if !f.value.IsZero() {
			texts = append(texts, f.key+"="+valueText(f.value))
		}
	}
	return texts
}

func valueText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return durationText(x)
	case retry.Constant:
		return durationText(time.Duration(x))
	case retry.Schedule:
		delays := make([]string, len(x))
		for i, d := range x {
			delays[i] = durationText(d)
		}
		return strings.Join(delays, "/")
	case float64:
		return numberText(x)
	default:
		return fmt.Sprint(x)
	}
}

func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

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
