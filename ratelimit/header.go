package ratelimit

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A State is what a response says about one limit.
type State struct {
	// Name tells the limits of a server apart, such as "requests" and "tokens". It is ""
	// for a server's only limit. A limit whose Name contains "token" counts tokens; every
	// other limit counts calls.
	Name string

	Limit     float64       // calls or units in a window, or the size of a bucket; 0: unknown
	Remaining float64       // what is left of it, 0 or more
	Reset     time.Duration // until all of it is available again; 0 or less: now
	Window    time.Duration // the length of the window; 0: unknown
}

const (
	maxStates = 8   // of one response
	maxName   = 100 // bytes of a header's name
	maxValue  = 200 // bytes of a header's value that is not a list
)

// Read returns what the headers of a response, or the metadata of a gRPC response, say about
// limits. Names of headers may have any case. now is the time of the response; a valid Date in
// the header replaces it, so the clocks of client and server need not agree.
//
// Read understands these headers. NAME stands for the Name of the State:
//
//	RateLimit, RateLimit-Policy      both forms of the IETF draft: "NAME";r=1;t=2 with
//	                                 "NAME";q=3;w=4, and limit=3, remaining=1, reset=2
//	…RateLimit…NAME…                 three headers whose names have the words limit,
//	                                 remaining and reset, such as X-RateLimit-Limit,
//	                                 x-ratelimit-remaining-tokens and
//	                                 anthropic-ratelimit-tokens-reset
//	X-RateLimit-Resource             the NAME of a limit that has no other
//
// If the header with the limit itself is missing, the State's Limit is 0. A reset is a number
// of seconds, a time since 1970 in seconds or milliseconds, a duration such as 6m0s, or a date.
// A limit with a value that is missing, negative or not a number is left out, and so is a limit
// on bytes or on concurrent requests. Read returns at most eight States, ordered by Name. It
// takes time linear in the length of the header.
func Read(header map[string][]string, now time.Time) []State {
	groups := map[string]*group{}
	var list, policies []string
	resource, date := "", ""
	for name, values := range header {
		if len(name) > maxName || len(values) == 0 {
			continue
		}
		switch name = strings.ToLower(name); name {
		case "date":
			date = values[0]
		case "ratelimit":
			list = short(values)
		case "ratelimit-policy":
			policies = short(values)
		case "x-ratelimit-resource":
			resource = strings.TrimSpace(values[0])
		default:
			addHeader(groups, name, strings.TrimSpace(values[0]))
		}
	}
	if len(groups) == 0 && list == nil {
		return nil
	}
	if at, err := errfacts.ParseTime(date); err == nil {
		now = at
	}
	found := map[string]State{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		state, ok := groups[name].state(now)
		if !ok {
			continue
		}
		state.Name = name
		if name == "" && len(resource) <= maxName {
			state.Name = resource
		}
		found[state.Name] = state
	}
	for _, state := range readFields(list, policies) {
		found[state.Name] = state
	}
	states := slices.SortedFunc(maps.Values(found), func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	return states[:min(len(states), maxStates)]
}

// A group is the headers of one limit.
type group struct{ limit, remaining, reset, after string }

// addHeader adds a header to the group that has the rest of its name.
func addHeader(groups map[string]*group, name, value string) {
	before, rest, ok := strings.Cut(name, "ratelimit")
	if !ok {
		before, rest, ok = strings.Cut(name, "rate-limit")
	}
	if !ok || len(value) > maxValue {
		return
	}
	words := strings.FieldsFunc(before+"-"+rest, func(r rune) bool { return r == '-' })
	var kinds, others []string
	for _, word := range words {
		switch word {
		case "x":
		case "limit", "remaining", "reset", "after":
			kinds = append(kinds, word)
		default:
			others = append(others, word)
		}
	}
	key := strings.Join(others, "-")
	g := groups[key]
	if g == nil {
		g = &group{}
		groups[key] = g
	}
	switch strings.Join(kinds, "-") {
	case "limit":
		g.limit = value
	case "remaining":
		g.remaining = value
	case "reset":
		g.reset = value
	case "reset-after":
		g.after = value
	}
}

func (g *group) state(now time.Time) (State, bool) {
	remaining, ok := number(g.remaining)
	if !ok {
		return State{}, false
	}
	reset, ok := errfacts.ParseReset(cmp.Or(g.after, g.reset), now)
	if !ok {
		return State{}, false
	}
	s := State{Remaining: remaining, Reset: reset}
	if g.limit == "" { // as Reddit does
		return s, true
	}
	// An early draft of the IETF appends the policies, as in 100, 100;w=60.
	first, list, _ := strings.Cut(g.limit, ",")
	text, params, _ := strings.Cut(first, ";")
	if s.Limit, ok = number(text); !ok || s.Limit == 0 {
		return State{}, false
	}
	for _, m := range errfacts.Members([]string{text + ";" + params, list}) {
		if m.Item == strings.TrimSpace(text) && s.Window == 0 {
			s.Window = seconds(m.Param("w"))
		}
	}
	return s, true
}

// readFields reads RateLimit and RateLimit-Policy.
func readFields(list, policies []string) []State {
	if list == nil {
		return nil
	}
	byName := map[string]errfacts.Member{}
	for _, m := range slices.Backward(errfacts.Members(policies)) { // the first of a name is used
		byName[m.Item] = m
	}
	var states []State
	dictionary := map[string]string{}
	for _, m := range errfacts.Members(list) {
		if key, value, ok := strings.Cut(m.Item, "="); ok && !strings.HasPrefix(key, `"`) {
			dictionary[key] = value
			continue
		}
		policy := byName[m.Item]
		unit := strings.Trim(policy.Param("qu"), `"`)
		remaining, ok := number(m.Param("r"))
		if !ok || unit == "content-bytes" || unit == "concurrent-requests" || len(m.Item) > maxName {
			continue
		}
		limit, _ := number(policy.Param("q"))
		window := seconds(policy.Param("w"))
		reset := window
		if t := m.Param("t"); t != "" {
			reset = seconds(t)
		}
		states = append(states, State{strings.Trim(m.Item, `"`), limit, remaining, reset, window})
	}
	limit, ok := number(dictionary["limit"])
	remaining, ok2 := number(dictionary["remaining"])
	reset, ok3 := number(dictionary["reset"])
	if ok && ok2 && ok3 && limit > 0 {
		s := State{Limit: limit, Remaining: remaining, Reset: duration(reset)}
		if policy, ok := byName[dictionary["limit"]]; ok {
			s.Window = seconds(policy.Param("w"))
		}
		states = append(states, s)
	}
	return states
}

// maxField is the length of the longest list that is read.
const maxField = 8 << 10

// short returns the lines of a list, or nil if they are too long.
func short(lines []string) []string {
	size := 0
	for _, line := range lines {
		size += len(line) + 1
		if size > maxField {
			return nil
		}
	}
	return lines
}

// number reads digits with an optional fraction: ParseFloat also accepts NaN, hexadecimal
// digits and exponents.
func number(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n <= 1e15
}

func seconds(text string) time.Duration {
	n, _ := number(text)
	return duration(n)
}

// duration returns a number of seconds, at most the longest Duration.
func duration(seconds float64) time.Duration {
	if seconds*float64(time.Second) >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(seconds * float64(time.Second))
}
