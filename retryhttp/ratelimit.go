package retryhttp

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

type limits []limit

type limit struct {
	usedUp bool          // nothing remains
	reset  time.Duration // wait until something is available
}

// wait returns how long to wait, or false if the limits do not ask for a wait. refused
// means that the server refused the request because of a limit.
func (l limits) wait(refused bool) (wait time.Duration, ok bool) {
	for _, limit := range l {
		if limit.usedUp {
			wait, ok = max(wait, limit.reset), true
		}
	}
	if ok || !refused || len(l) == 0 {
		return wait, ok
	}
	return slices.MinFunc(l, func(a, b limit) int { return cmp.Compare(a.reset, b.reset) }).reset, true
}

// families lists limits that belong together. Each has a header for what remains and one for
// the reset: the * stands for these words.
var families = [...][]string{
	{"Ratelimit-*"},
	{"X-Ratelimit-*"},
	{"X-Rate-Limit-*"},
	{"Ratelimitbysize-*"},
	{"X-Rate-Limit-*-Requests", "X-Rate-Limit-*-Tokens"},
	{"X-Ratelimit-*-Requests", "X-Ratelimit-*-Tokens"},
	{
		"Anthropic-Ratelimit-Requests-*", "Anthropic-Ratelimit-Tokens-*",
		"Anthropic-Ratelimit-Input-Tokens-*", "Anthropic-Ratelimit-Output-Tokens-*",
	},
}

// familyLimits reads the limits of one family. Discord's header for the reset ends in -After.
func familyLimits(family []string, h http.Header, now time.Time) limits {
	var found limits
	for _, name := range family {
		remaining := h.Get(strings.Replace(name, "*", "Remaining", 1))
		for _, header := range [...]string{"Reset-After", "Reset"} {
			if reset, ok := parseReset(strings.TrimSpace(h.Get(strings.Replace(name, "*", header, 1))), now); ok {
				found = append(found, limit{strings.TrimSpace(remaining) == "0", reset})
				break
			}
		}
	}
	return found
}

// parseReset reads a time in any form that the families use.
func parseReset(value string, now time.Time) (time.Duration, bool) {
	if unit := time.Second; isDigits(value) {
		if len(value) >= len("1793620800000") { // milliseconds since 1970, as OpenRouter sends
			unit = time.Millisecond
		}
		return parseWait(value, unit, now)
	}
	if wait, ok := parseWait(value, time.Second, now); ok {
		return wait, true
	}
	if wait, err := time.ParseDuration(value); err == nil && wait >= 0 {
		return wait, true
	}
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, value); err == nil {
			return max(0, at.Sub(now)), true
		}
	}
	return 0, false
}

// rateLimit reads the RateLimit header of draft-ietf-httpapi-ratelimit-headers: in
// draft 8 and later a list ("name";r=0;t=30), in draft 7 a dictionary (limit=100,
// remaining=0, reset=30). Without a valid t, the window of the named policy is used as an
// upper bound.
func rateLimit(h http.Header) limits {
	var found limits
	members := members(h["Ratelimit"])
	dictionary := map[string]string{}
	for _, m := range members {
		key, value, _ := strings.Cut(m.item, "=")
		dictionary[key] = value
		reset, ok := parseNumber(m.params["t"], time.Second)
		if !ok {
			reset, ok = policyWindow(h, m.item)
		}
		if ok {
			found = append(found, limit{m.params["r"] == "0", reset})
		}
	}
	if reset, ok := parseNumber(dictionary["reset"], time.Second); ok {
		return limits{{dictionary["remaining"] == "0", reset}}
	}
	return found
}

func policyWindow(h http.Header, name string) (time.Duration, bool) {
	for _, policy := range members(h["Ratelimit-Policy"]) {
		if policy.item == name && strings.HasPrefix(name, `"`) {
			return parseNumber(policy.params["w"], time.Second)
		}
	}
	return 0, false
}

// A member is a member of a list or dictionary in a structured field (RFC 9651).
type member struct {
	item   string // as it is written, in a dictionary with its key
	params map[string]string
}

// members reads the lines of a field. It does not check the syntax of items that the
// RateLimit fields do not need, and returns nil if a string does not end.
func members(lines []string) []member {
	var found []member
	for _, text := range split(strings.Join(lines, ","), ',') {
		parts := split(text, ';')
		m := member{parts[0], map[string]string{}}
		for _, param := range parts[1:] {
			key, value, _ := strings.Cut(param, "=")
			m.params[key] = value
		}
		found = append(found, m)
	}
	return found
}

// split splits text at separators outside of strings.
func split(text string, separator byte) []string {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, strings.Trim(text[start:i], " \t"))
			start = i + 1
		}
	}
	if quoted {
		return nil
	}
	return append(parts, strings.Trim(text[start:], " \t"))
}
