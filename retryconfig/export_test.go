package retryconfig

import "github.com/gobackoff/retry"

// AddForTests adds a preset and a kind of limiter.
func AddForTests(name string, policy func(service string) (retry.Policy, error), is func(retry.Policy) (string, bool), limiterName string, newLimiter func() retry.Limiter, isLimiter func(retry.Limiter) bool) {
	presets = append([]preset{{name, policy, is}}, presets...)
	limiters = append(limiters, limiter{limiterName, newLimiter, isLimiter})
}
