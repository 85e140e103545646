package errfacts

import (
	"cmp"
	"strings"
	"time"
)

// SaysSecondary reports whether a text says that GitHub's secondary limit is exceeded. The limit has
// no code and no status of its own, so GitHub's clients look for this sentence, for the one that it
// had before, or for the address of its documentation.
func SaysSecondary(text string) bool {
	text = strings.ToLower(text)
	for _, phrase := range [...]string{"secondary rate limit", "secondary-rate-limit", "triggered an abuse detection mechanism", "#abuse-rate-limits"} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// SecondaryWait returns the wait after a response that says so, by "Rate limits for the REST API" at
// docs.github.com: what Retry-After asks for, or the reset of a limit of which nothing is left, or
// else a minute.
func SecondaryWait(h Header, now time.Time) time.Duration {
	const least = time.Minute
	return cmp.Or(ReadHead(h, 0, now).Wait, least)
}
