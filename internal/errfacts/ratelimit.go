package errfacts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Limit is what a header says about one limit. What is unknown is -1.
type Limit struct {
	Name      string        // tells the limits of a server apart; "" for its only one
	Size      float64       // calls or units in a window; 0: the header has no valid number
	Remaining float64       // what is left of them
	Reset     time.Duration // until all of them are available again
	Window    time.Duration // the length of the window
	Unit      string        // what is counted, such as "content-bytes"; "": calls, or unknown
}

// End returns Reset. If it is unknown, End returns Window, which is an upper bound of it.
func (l Limit) End() time.Duration {
	if l.Reset < 0 {
		return l.Window
	}
	return l.Reset
}

// isUsedUp reports whether the server says that nothing is left.
func (l Limit) isUsedUp() bool { return l.Remaining == 0 }

// waitFor returns how long the limits ask to wait, or 0. This is the longest End of those that are
// used up. If none is used up, but the server has refused the request because of a limit, it is the
// shortest Reset.
func waitFor(limits []Limit, refused bool) time.Duration {
	wait := time.Duration(-1)
	for _, l := range limits {
		if l.isUsedUp() {
			wait = max(wait, l.End())
		}
	}
	if wait < 0 && refused {
		for _, l := range limits {
			if l.Reset >= 0 && (wait < 0 || l.Reset < wait) {
				wait = l.Reset
			}
		}
	}
	return max(0, wait)
}

// Limits returns what a header says about limits, in any order. Two may have the same Name. The names
// in the header may have any case; the comments of retryhttp.RetryAfter and ratelimit.Read say
// which ones it reads. now is the time of the server. It takes time linear in the length of the
// header.
func Limits(h Header, now time.Time) []Limit {
	var list, policies []member
	resource := ""
	groups := map[groupKey]group{}
	for name := range h {
		if !mentions(name) {
			continue
		}
		lower := strings.ToLower(name)
		switch lower {
		case "ratelimit":
			list = members(lines(h, name))
		case "ratelimit-policy":
			policies = members(lines(h, name))
		case "x-ratelimit-resource":
			resource = First(h, name)
		default:
			key, word := splitName(lower)
			if word != "" {
				groups[key] = groups[key].with(word, name)
			}
		}
	}
	if len(groups)+len(list) == 0 {
		return nil
	}
	byItem := map[string]member{}
	for _, policy := range slices.Backward(policies) { // the first of a name is used
		byItem[policy.item] = policy
	}
	limits := readList(list, byItem)
	for key, g := range groups {
		l := g.read(h, byItem, now)
		l.Name = cmp.Or(key.limit, resource)
		limits = append(limits, l)
	}
	return limits
}

// Mentions reports whether a header has a name that [Limits] may read.
func Mentions(h Header) bool {
	for name := range h {
		if mentions(name) {
			return true
		}
	}
	return false
}

func mentions(name string) bool {
	for i := 0; i+len("ratelimit") <= len(name); i++ {
		if name[i]|0x20 != 'r' || !strings.EqualFold(name[i:i+4], "rate") {
			continue
		}
		rest := strings.TrimPrefix(name[i+4:], "-")
		if len(rest) >= 5 && strings.EqualFold(rest[:5], "limit") {
			return true
		}
	}
	return false
}

// readList reads the RateLimit header of draft-ietf-httpapi-ratelimit-headers: in draft 8 and
// later a list ("name";r=0;t=30), in draft 7 a dictionary (limit=100, remaining=0, reset=30).
func readList(list []member, policies map[string]member) []Limit {
	var limits []Limit
	dictionary := map[string]string{}
	for _, m := range list {
		key, value, ok := strings.Cut(m.item, "=")
		if ok && !strings.HasPrefix(key, `"`) {
			dictionary[key] = value
			continue
		}
		policy := policies[m.item]
		limits = append(limits, Limit{
			Name:      strings.Trim(m.item, `"`),
			Size:      count(policy.param("q")),
			Remaining: count(m.param("r")),
			Reset:     seconds(m.param("t")),
			Window:    seconds(policy.param("w")),
			Unit:      strings.Trim(policy.param("qu"), `"`),
		})
	}
	if len(dictionary) > 0 {
		limits = append(limits, Limit{
			Size:      count(dictionary["limit"]),
			Remaining: count(dictionary["remaining"]),
			Reset:     seconds(dictionary["reset"]),
			Window:    seconds(policies[dictionary["limit"]].param("w")),
		})
	}
	return limits
}

// A group is the names of the headers of one limit. A limit and what remains of it have one name, or
// "". A reset may have several, such as Discord's X-RateLimit-Reset and X-RateLimit-Reset-After.
type group struct {
	limit, remaining, window string
	resets                   []string
}

// A groupKey tells groups apart. Some servers send a limit twice, with and without X-, and some
// proxies add a limit of their own to the server's.
type groupKey struct {
	limit string
	x     bool
}

func (g group) with(word, name string) group {
	switch word {
	case "limit":
		g.limit = max(g.limit, name)
	case "remaining":
		g.remaining = max(g.remaining, name)
	case "window":
		g.window = max(g.window, name)
	case "reset":
		g.resets = append(g.resets, name)
	}
	return g
}

// splitName splits the name of a header, such as x-ratelimit-reset-tokens, into the limit that it
// belongs to and the word that says what the value is, or "".
func splitName(header string) (key groupKey, word string) {
	header, _ = unitOfName(strings.Replace(header, "rate-limit", "ratelimit", 1))
	var others []string
	for part := range strings.FieldsFuncSeq(header, isDash) {
		part = strings.Replace(part, "ratelimit", "", 1) // Mistral's RateLimitBySize
		switch part {
		case "x":
			key.x = true
		case "", "after", "in", "sec", "seconds": // beside the word
		case "limit", "max": // HubSpot's Max
			word = "limit"
		case "remaining":
			word = part
		case "window", "interval", "period": // Crossref's Interval
			word = "window"
		case "retry": // bucket4j's Retry-After-Seconds
			word = "reset"
		default:
			if strings.Contains(part, "reset") { // Yelp's ResetTime
				word = "reset"
				continue
			}
			others = append(others, part)
		}
	}
	key.limit = strings.Join(others, "-")
	return key, word
}

func isDash(r rune) bool { return r == '-' || r == '_' }

// unitOfName returns the name of a header without the word for milliseconds at its end, as
// BigCommerce's X-Rate-Limit-Time-Reset-Ms has it, and the unit of its number. Between reset and the
// word, there need be no dash.
func unitOfName(name string) (base string, unit time.Duration) {
	lower := strings.ToLower(name)
	for _, word := range [...]string{"ms", "msec", "millis", "milliseconds"} {
		base, found := strings.CutSuffix(lower, word)
		if found && (strings.HasSuffix(base, "-") || strings.HasSuffix(base, "_") || strings.HasSuffix(base, "reset")) {
			return strings.TrimRightFunc(name[:len(base)], isDash), time.Millisecond
		}
	}
	return name, time.Second
}

// read reads the headers of a limit.
func (g group) read(h Header, policies map[string]member, now time.Time) Limit {
	l := Limit{Size: -1, Remaining: -1, Reset: -1, Window: -1}
	sizes := members(lines(h, g.limit))
	if len(sizes) > 0 {
		size := sizes[0].item
		l.Size = max(0, count(size))
		// An early draft appends the policies, as in 100, 100;w=60.
		for _, m := range append(sizes, policies[size]) {
			if m.item == size && l.Window < 0 {
				l.Window = seconds(m.param("w"))
			}
		}
	}
	for _, m := range members(lines(h, g.remaining)) { // as Docker Hub's 76;w=21600
		left, window := count(m.item), seconds(m.param("w"))
		if left < 0 || l.Remaining >= 0 && left >= l.Remaining {
			continue
		}
		l.Remaining = left
		if window >= 0 {
			l.Window = window
		}
	}
	if l.Window < 0 && g.window != "" {
		_, unit := unitOfName(g.window)
		window, ok := parseReset(First(h, g.window), unit, now)
		if ok {
			l.Window = window
		}
	}
	last := "" // with the suffix After or Ms, the name of the most precise one
	for _, name := range g.resets {
		_, unit := unitOfName(name)
		reset, ok := parseReset(First(h, name), unit, now)
		if ok && name > last {
			last, l.Reset = name, reset
		}
	}
	return l
}

// count reads a number of calls or units with an optional fraction, up to 10¹⁵ and 200 bytes. It
// returns -1 for any other text, also for NaN and 1e3, which ParseFloat accepts.
func count(text string) float64 {
	if text == "" || len(text) > 200 || strings.Trim(text, "0123456789.") != "" {
		return -1
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n > 1e15 {
		return -1
	}
	return n
}

// seconds reads a number of seconds. It returns -1 for any other text.
func seconds(text string) time.Duration {
	wait, ok := parseNumber(text, time.Second)
	if !ok {
		return -1
	}
	return wait
}

// parseReset reads a time in any form that APIs use. unit is that of a number.
func parseReset(value string, unit time.Duration, now time.Time) (time.Duration, bool) {
	if isDigits(value) {
		if len(value) >= len("1793620800000") { // milliseconds since 1970, as OpenRouter sends
			unit = time.Millisecond
		}
		return parseWait(value, unit, now)
	}
	if wait, err := time.ParseDuration(value); err == nil && wait >= 0 {
		return wait, true
	}
	if wait, ok := parseWait(value, unit, now); ok {
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

// A member is a member of a list or dictionary in a structured field (RFC 9651).
type member struct {
	item   string // as it is written, in a dictionary with its key
	params string // each with a semicolon before it
}

// param returns the value of a parameter, or "". The last one of a name is used.
func (m member) param(key string) (value string) {
	for rest := m.params; rest != ""; {
		rest = rest[1:]
		end := index(rest, ';')
		name, v, _ := strings.Cut(strings.Trim(rest[:end], " \t"), "=")
		if name == key {
			value = v
		}
		rest = rest[end:]
	}
	return value
}

// members reads the lines of a field. It does not check the syntax of items that the
// RateLimit fields do not need, and returns nil if a string does not end.
func members(lines []string) (found []member) {
	for rest := strings.Join(lines, ","); rest != ""; {
		end := index(rest, ',')
		if end < 0 {
			return nil
		}
		item := index(rest[:end], ';')
		found = append(found, member{strings.Trim(rest[:item], " \t"), rest[item:end]})
		rest = strings.TrimPrefix(rest[end:], ",")
	}
	return found
}

// index returns the index of the first separator outside of strings, or the length of text if
// there is none. It returns -1 if a string does not end.
func index(text string, separator byte) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			return i
		}
	}
	if quoted {
		return -1
	}
	return len(text)
}
