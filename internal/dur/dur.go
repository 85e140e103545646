// Package dur does the arithmetic of delays: it saturates where a Duration would
// overflow, and gives invalid numbers a safe meaning. Its function Sleep waits for a delay.
package dur

import (
	"math"
	"time"
)

// Saturate converts nanoseconds to a Duration in [0, limit]; NaN becomes 0. No other
// function converts a float to a Duration, because the conversion is
// implementation-dependent if the float overflows int64.
func Saturate(ns float64, limit time.Duration) time.Duration {
	switch {
	case ns >= float64(limit):
		return limit
	case ns > 0:
		return time.Duration(ns)
	}
	return 0
}

// Add adds two non-negative durations, saturating.
func Add(a, b time.Duration) time.Duration {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Limit returns limit, or the longest Duration if limit is 0 or less.
func Limit(limit time.Duration) time.Duration {
	if limit <= 0 {
		return math.MaxInt64
	}
	return limit
}

// Ceiling returns min(limit, base · factorⁿ) for n >= 0, in nanoseconds. It does not
// round, because jitter is drawn below it and rounding twice would cost accuracy. A limit
// of 0 or less means no limit; the result may then overflow a Duration, but is not +Inf.
func Ceiling(base, limit time.Duration, factor float64, n int) float64 {
	most := math.MaxFloat64
	if limit > 0 {
		most = float64(limit)
	}
	t := float64(base) * Power(factor, n)
	if t > most {
		return most
	}
	return t
}

// Power returns factorⁿ for n >= 0. A factor of 0 or NaN counts as 2, one below 1 as
// 1. Whole results below 2⁵³ are exact, as with math.Pow, which is several times
// slower.
func Power(factor float64, n int) float64 {
	if factor == 0 || factor == 2 || factor != factor {
		return math.Float64frombits(uint64(1023+min(n, 1023)) << 52) // 2ⁿ
	}
	p := 1.0
	for f := max(1, factor); n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= f
		}
		f *= f
	}
	return p
}

// Unit clamps x to [0, 1]; NaN becomes 0.
func Unit(x float64) float64 {
	if x > 0 {
		return min(x, 1)
	}
	return 0
}
