package ratelimit

import "time"

var (
	numbers = map[string]*float64{
		"low": &low, "drain": &drain, "grow": &grow, "proof": &proof, "firstRate": &firstRate, "fewer": &fewer, "more": &more,
		"alike": &alike, "further": &further,
	}
	times = map[string]*time.Duration{
		"rounding": &rounding, "slot": &slot, "calm": &calm, "shortHint": &shortHint, "longHint": &longHint,
	}
)

// Scale multiplies a number of the levels, or of what is learned, and returns what undoes that.
func Scale(name string, factor float64) (undo func()) {
	if p := times[name]; p != nil {
		before := *p
		*p = time.Duration(float64(before) * factor)
		return func() { *p = before }
	}
	p := numbers[name]
	before := *p
	*p *= factor
	return func() { *p = before }
}
