package ratelimit

import "time"

// Scale multiplies a number of the levels, and returns what undoes that.
func Scale(name string, factor float64) (undo func()) {
	if name == "rounding" {
		before := rounding
		rounding = time.Duration(float64(before) * factor)
		return func() { rounding = before }
	}
	number := map[string]*float64{"low": &low, "drain": &drain, "grow": &grow, "proof": &proof}[name]
	before := *number
	*number *= factor
	return func() { *number = before }
}
