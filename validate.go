package retry

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// innerFaults checks what the Policy is composed of.
func (p *Policy) innerFaults() []string {
	var faults []string
	if p.Backoff != nil {
		faults = backoffFaults("Backoff", p.Backoff)
	}
	faults = append(faults, classifierFaults("Classifier", p.Classifier)...)
	if _, ok := nameOf(hints, p.Hint); ok {
		for field, v := range reflect.ValueOf(p.Hint).Fields() {
			if v.Int() < 0 {
				faults = append(faults, fmt.Sprintf("Hint: %T: %s %v is negative", p.Hint, field.Name, time.Duration(v.Int())))
			}
		}
	}
	for _, part := range []struct {
		path  string
		value any
	}{
		{"Hint", p.Hint}, {"Budget", p.Budget}, {"Limiter", p.Limiter}, {"Clock", p.Clock},
	} {
		faults = append(faults, partFaults(part.path, part.value)...)
	}
	return faults
}

// partFaults checks a part that is nothing to this package but its methods.
func partFaults(path string, part any) []string {
	if isNil(part) {
		return []string{fmt.Sprintf("%s is a nil %T", path, part)}
	}
	if v, ok := part.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return []string{path + ": " + strings.TrimPrefix(err.Error(), ErrInvalid.Error()+" ")}
		}
	}
	return nil
}

// isNil reports whether part is something in which there is nothing to call.
func isNil(part any) bool {
	v := reflect.ValueOf(part)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

func classifierFaults(path string, c Classifier) []string {
	list, ok := c.(firstOf)
	if !ok {
		return partFaults(path, c)
	}
	var faults []string
	for i, c := range list {
		inner := fmt.Sprintf("%s: FirstOf[%d]", path, i)
		if c == nil {
			faults = append(faults, inner+" is nil")
		}
		faults = append(faults, classifierFaults(inner, c)...)
	}
	return faults
}

// backoffFaults checks a rule and the rules inside it.
func backoffFaults(path string, b Backoff) []string {
	if b == nil {
		return []string{path + " is nil"}
	}
	v := reflect.ValueOf(b)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		// The methods of a rule are those of its pointer, too.
		if rule, ok := v.Elem().Interface().(Backoff); ok && isRule(rule) {
			b, v = rule, v.Elem()
		}
	}
	if !isRule(b) {
		return partFaults(path, b)
	}
	path += ": " + v.Type().Name()
	switch b := b.(type) {
	case Constant:
		return scheduleFaults(path, Schedule{time.Duration(b)})
	case Schedule:
		return scheduleFaults(path, b)
	}
	return fieldFaults(path, v)
}

func isRule(b Backoff) bool {
	_, ok := nameOf(rules, b)
	return ok
}

func scheduleFaults(path string, delays Schedule) []string {
	if len(delays) == 0 {
		return []string{path + ": has no delays"}
	}
	var faults []string
	for i, d := range delays {
		if d < 0 {
			faults = append(faults, fmt.Sprintf("%s: delay %d is negative (%v)", path, i+1, d))
		}
	}
	return faults
}

// fieldFaults checks the fields of a rule. Those of the same name mean the same
// in every rule, so there is one check for each name.
func fieldFaults(path string, rule reflect.Value) []string {
	var faults []string
	fault := func(format string, args ...any) {
		faults = append(faults, path+": "+fmt.Sprintf(format, args...))
	}
	base, step, limit := rule.FieldByName("Base"), rule.FieldByName("Step"), rule.FieldByName("Cap")
	for field, v := range rule.Fields() {
		switch x := v.Interface().(type) {
		case time.Duration:
			if x < 0 {
				fault("%s %v is negative", field.Name, x)
			}
		case float64:
			switch {
			case field.Name == "Factor" && !(x == 0 || x >= 1 && x <= math.MaxFloat64):
				fault("Factor %v is not a number of at least 1", x)
			case field.Name != "Factor" && !(x >= 0 && x <= 1):
				fault("%s %v is not between 0 and 1", field.Name, x)
			}
		case bool:
		default:
			inner, _ := x.(Backoff)
			faults = append(faults, backoffFaults(path+"."+field.Name, inner)...)
		}
	}
	if base.IsValid() && base.IsZero() && (!step.IsValid() || step.IsZero()) {
		fault("Base is 0, which never waits; NoDelay says so")
	}
	switch rule.Interface().(type) {
	case wholeFull, javaFull, javaEqual:
		if b := time.Duration(base.Int()); 0 < b && b < time.Millisecond {
			fault("Base %v is below 1ms, of which this rule counts whole ones", b)
		}
	}
	if base.IsValid() && limit.IsValid() && limit.Int() > 0 && base.Int() > limit.Int() {
		fault("Base %v is above Cap %v", time.Duration(base.Int()), time.Duration(limit.Int()))
	}
	return faults
}

// Validate reports everything that is wrong with the bucket's numbers.
func (b *TokenBudget) Validate() error {
	faults := tokenFaults("Capacity", b.Capacity, "Success", max(0, b.Success), "Deficit", b.Deficit,
		"Costs.Transient", b.Costs.Transient, "Costs.Timeout", b.Costs.Timeout, "Costs.Throttled", b.Costs.Throttled)
	if full := b.full(); len(faults) == 0 && full < 0 {
		faults = append(faults, "Deficit is above Capacity")
	}
	return invalid("budget", faults)
}

// Validate reports everything that is wrong with the budget's numbers.
func (b *ThrottleBudget) Validate() error {
	return invalid("budget", tokenFaults("MaxTokens", b.MaxTokens, "TokenRatio", b.TokenRatio))
}

// Validate reports everything that is wrong with the budget's numbers.
func (b *RatioBudget) Validate() error {
	var faults []string
	if math.IsNaN(b.Ratio) || math.IsInf(b.Ratio, 0) {
		faults = append(faults, fmt.Sprintf("Ratio is %v", b.Ratio))
	}
	if math.IsNaN(b.Floor) || math.IsInf(b.Floor, 0) {
		faults = append(faults, fmt.Sprintf("Floor is %v", b.Floor))
	}
	if b.Window < 0 {
		faults = append(faults, fmt.Sprintf("Window %v is negative", b.Window))
	}
	return invalid("budget", faults)
}

// tokenFaults checks names and numbers in turn.
func tokenFaults(namesAndNumbers ...any) []string {
	var faults []string
	for i := 0; i < len(namesAndNumbers); i += 2 {
		if n := namesAndNumbers[i+1].(float64); !(n >= 0 && n <= math.MaxFloat64) {
			faults = append(faults, fmt.Sprintf("%s %v is not a number of at least 0", namesAndNumbers[i], n))
		}
	}
	return faults
}
