package errfacts

import (
	"cmp"
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

// resetLimits reads the headers whose names have ratelimit and reset, with or without
// dashes. What remains has the same name, with Remaining in place of the word of the reset.
func resetLimits(h Header, now time.Time) limits {
	var found limits
	for name := range h {
		plain := strings.ToLower(strings.ReplaceAll(name, "-", ""))
		if !strings.Contains(plain, "ratelimit") || !strings.Contains(plain, "reset") || h[name+"-After"] != nil { // Discord has both
			continue
		}
		if reset, ok := ParseReset(First(h, name), now); ok {
			words := strings.Split(strings.TrimSuffix(name, "-After"), "-")
			for i, word := range words {
				if strings.HasPrefix(word, "Reset") {
					words[i] = "Remaining"
				}
			}
			found = append(found, limit{First(h, strings.Join(words, "-")) == "0", reset})
		}
	}
	return found
}

// ParseReset reads a time in any form that APIs use.
func ParseReset(value string, now time.Time) (time.Duration, bool) {
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
	date, _, _ := strings.Cut(value, " (") // as JavaScript writes the name of a zone
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05 -0700", "Mon Jan 02 2006 15:04:05 GMT-0700"} {
		if at, err := time.Parse(layout, date); err == nil {
			return max(0, at.Sub(now)), true
		}
	}
	return 0, false
}

// rateLimit reads the RateLimit header of draft-ietf-httpapi-ratelimit-headers: in
// draft 8 and later a list ("name";r=0;t=30), in draft 7 a dictionary (limit=100,
// remaining=0, reset=30). Without a valid t, the window of the named policy is used as an
// upper bound.
func rateLimit(h Header) limits {
	var found limits
	var windows map[string]string // read once, if needed
	var remaining, reset string   // of a dictionary
	for _, m := range Members(lines(h, "Ratelimit")) {
		switch key, value, _ := strings.Cut(m.Item, "="); key {
		case "remaining":
			remaining = value
		case "reset":
			reset = value
		}
		wait, ok := parseNumber(m.Param("t"), time.Second)
		if !ok {
			if windows == nil {
				windows = policyWindows(h)
			}
			wait, ok = parseNumber(windows[m.Item], time.Second)
		}
		if ok {
			found = append(found, limit{m.Param("r") == "0", wait})
		}
	}
	if wait, ok := parseNumber(reset, time.Second); ok {
		return limits{{remaining == "0", wait}}
	}
	return found
}

// policyWindows returns the windows of the policies by their names, which are strings.
func policyWindows(h Header) map[string]string {
	windows := map[string]string{}
	for _, policy := range slices.Backward(Members(lines(h, "Ratelimit-Policy"))) { // the first of a name is used
		if strings.HasPrefix(policy.Item, `"`) {
			windows[policy.Item] = policy.Param("w")
		}
	}
	return windows
}

// A Member is a member of a list or dictionary in a structured field (RFC 9651).
type Member struct {
	Item   string   // as it is written, in a dictionary with its key
	params []string // key=value
}

// Param returns the value of a parameter, or "". The last one of a name is used.
func (m Member) Param(key string) string {
	for _, param := range slices.Backward(m.params) {
		if name, value, _ := strings.Cut(param, "="); name == key {
			return value
		}
	}
	return ""
}

// Members reads the lines of a field. It does not check the syntax of items that the
// RateLimit fields do not need, and returns nil if a string does not end.
func Members(lines []string) []Member {
	if len(lines) == 0 {
		return nil
	}
	var found []Member
	for _, text := range split(strings.Join(lines, ","), ',') {
		parts := split(text, ';')
		found = append(found, Member{parts[0], parts[1:]})
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
