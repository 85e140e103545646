package retry

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// A validator is a part of a Policy that Policy.Validate checks.
type validator interface {
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
	v, ok := part.(validator)
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

// rangeFaults checks a smallest and a largest delay.
func rangeFaults(base, limit time.Duration) []string {
	faults := append(delayFaults("Base", base), durationFaults("Cap", limit)...)
	if limit > 0 && base > limit {
		faults = append(faults, fmt.Sprintf("Base %v is above Cap %v", base, limit))
	}
	return faults
}

// neverFaults checks the base of a rule that has no default for it.
func neverFaults(base time.Duration) []string {
	if base == 0 {
		return []string{"Base is 0, which never waits; use NoDelay instead"}
	}
	return nil
}

// delayFaults checks a delay.
func delayFaults(name string, d time.Duration) []string {
	return append(durationFaults(name, d), unitFaults(name, d)...)
}

// unitFaults reports a positive duration below a microsecond, which is a number without its
// unit.
func unitFaults(name string, d time.Duration) []string {
	if d > 0 && d < time.Microsecond {
		return []string{fmt.Sprintf("%s %v is below 1µs; is its unit missing?", name, d)}
	}
	return nil
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
