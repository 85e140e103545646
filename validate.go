package retry

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// A Validator is a part of a [Policy] that [Policy.Validate] checks, such as a Backoff with
// fields. The error of Validate says what is wrong; nil means nothing is.
type Validator interface {
	Validate() error
}

type invalidError struct {
	what   string
	faults []string
}

func (e *invalidError) Error() string {
	return ErrInvalid.Error() + " retry " + e.what + ": " + strings.Join(e.faults, "; ")
}

func (e *invalidError) Unwrap() error { return ErrInvalid }

func invalid(what string, faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return &invalidError{what, faults}
}

func partFaults(path string, part any) []string {
	if isNil(part) {
		return []string{fmt.Sprintf("%s is a nil %T", path, part)}
	}
	v, ok := part.(Validator)
	if !ok {
		return nil
	}
	err := v.Validate()
	if err == nil {
		return nil
	}
	if list, ok := err.(*invalidError); ok {
		return within(path, list.faults)
	}
	return []string{path + ": " + strings.TrimPrefix(err.Error(), ErrInvalid.Error()+" ")}
}

// neededFaults is partFaults for a part that must not be nil.
func neededFaults(path string, part any) []string {
	if part == nil {
		return []string{path + " is nil"}
	}
	return partFaults(path, part)
}

func isNil(part any) bool {
	v := reflect.ValueOf(part)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

func within(path string, faults []string) []string {
	var found []string
	for _, fault := range faults {
		found = append(found, path+": "+fault)
	}
	return found
}

func ruleError(rule string, faults ...[]string) error {
	var all []string
	for _, list := range faults {
		all = append(all, within(rule, list)...)
	}
	return invalid("backoff", all)
}

func baseFaults(base, limit time.Duration) []string {
	faults := append(durationFaults("Base", base), durationFaults("Cap", limit)...)
	switch {
	case base == 0:
		faults = append(faults, "Base is 0, which never waits; use NoDelay instead")
	case limit > 0 && base > limit:
		faults = append(faults, fmt.Sprintf("Base %v is above Cap %v", base, limit))
	}
	return faults
}

func durationFaults(name string, d time.Duration) []string {
	if d < 0 {
		return []string{fmt.Sprintf("%s %v is negative", name, d)}
	}
	return nil
}

func factorFaults(factor float64) []string {
	if factor == 0 || factor >= 1 && factor <= math.MaxFloat64 {
		return nil
	}
	return []string{fmt.Sprintf("Factor %v is not a number of at least 1", factor)}
}

func shareFaults(name string, share float64) []string {
	if share >= 0 && share <= 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s %v is not between 0 and 1", name, share)}
}

func amountFaults(name string, n float64) []string {
	if n >= 0 && n <= math.MaxFloat64 {
		return nil
	}
	return []string{fmt.Sprintf("%s %v is not a number of at least 0", name, n)}
}

func finiteFaults(name string, x float64) []string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []string{fmt.Sprintf("%s is %v", name, x)}
	}
	return nil
}
