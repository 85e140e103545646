package retryhttp

import (
	"net/http"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/sfv"
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
	wait = l[0].reset
	for _, limit := range l {
		wait = min(wait, limit.reset)
	}
	return wait, true
}

// A family is a group of limits, each with a header for what remains and one for the
// reset.
type family []struct{ remaining, reset string }

var families = []family{
	{{"Ratelimit-Remaining", "Ratelimit-Reset"}},
	{{"X-Ratelimit-Remaining", "X-Ratelimit-Reset-After"}},
	{{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"}},
	{{"X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"}},
	{{"Ratelimitbysize-Remaining", "Ratelimitbysize-Reset"}},
	{
		{"X-Rate-Limit-Remaining-Requests", "X-Rate-Limit-Reset-Requests"},
		{"X-Rate-Limit-Remaining-Tokens", "X-Rate-Limit-Reset-Tokens"},
	},
	{
		{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	},
	{
		{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
		{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
		{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
		{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
	},
}

func (f family) limits(h http.Header, now time.Time) limits {
	var found limits
	for _, names := range f {
		if reset, ok := parseReset(strings.TrimSpace(h.Get(names.reset)), now); ok {
			found = append(found, limit{strings.TrimSpace(h.Get(names.remaining)) == "0", reset})
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
// remaining=0, reset=30). If t is missing, the window of the named policy is used as an
// upper bound.
func rateLimit(h http.Header) limits {
	text := strings.Join(h["Ratelimit"], ",")
	if text == "" {
		return nil
	}
	if dictionary, err := sfv.ParseDictionary(text); err == nil {
		members := sfv.Params(dictionary)
		if reset, ok := seconds(members.Get("reset")); ok {
			return limits{{members.Get("remaining") == int64(0), reset}}
		}
	}
	list, err := sfv.ParseList(text)
	if err != nil {
		return nil
	}
	var found limits
	for _, item := range list {
		reset, ok := seconds(item.Params.Get("t"))
		if !ok {
			reset, ok = policyWindow(h, item.Value)
		}
		if ok {
			found = append(found, limit{item.Params.Get("r") == int64(0), reset})
		}
	}
	return found
}

func policyWindow(h http.Header, name any) (time.Duration, bool) {
	policies, err := sfv.ParseList(strings.Join(h["Ratelimit-Policy"], ","))
	if err != nil {
		return 0, false
	}
	for _, policy := range policies {
		if _, ok := policy.Value.(string); ok && policy.Value == name {
			return seconds(policy.Params.Get("w"))
		}
	}
	return 0, false
}

func seconds(value any) (time.Duration, bool) {
	n, ok := value.(int64)
	if !ok || n < 0 {
		return 0, false
	}
	return saturatedSeconds(n), true
}

func saturatedSeconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(n, most)) * time.Second
}
