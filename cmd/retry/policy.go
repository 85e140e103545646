package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/cmd/internal/nearest"
	"github.com/gobackoff/retry/retryconfig"
)

const standard = "standard"

// A policy may begin with one of ruleNames or presetNames.
var ruleNames = retryconfig.Rules()

func presetNames() []string {
	var names []string
	for preset := range awspreset.All() {
		names = append(names, preset.String())
	}
	return names
}

// parsePolicy parses a policy. Its codes are those of servers, and a command has statuses.
func parsePolicy(text string) (retry.Policy, error) {
	for _, key := range []string{"retry-on", "stop-on"} {
		if strings.Contains(text, key) {
			return retry.Policy{}, fmt.Errorf("write --%s LIST for statuses of the command; in a policy, %s has codes of servers", key, key)
		}
	}
	return retryconfig.Parse(text)
}

// The default waits are random, at least half a second and then a second, because most
// failures of a command last longer than the waits of the library's default, which suit
// calls from one server to another.
const (
	defaultRule = "equal"
	defaultBase = time.Second
	defaultCap  = 20 * time.Second
)

// ruleDefaults returns the rule, and the base and the cap that it has; 0 if it has none.
func ruleDefaults(rule string, base, limit time.Duration) (string, time.Duration, time.Duration) {
	rule = or(rule, defaultRule)
	switch rule {
	case "constant":
		base = or(base, defaultBase)
	case "equal", "full", "exponential", "decorrelated", "fibonacci", "linear":
		if limit == 0 {
			limit = max(defaultCap, base)
		}
		base = or(base, min(defaultBase, limit))
	}
	return rule, base, limit
}

// ruleText returns the text of a policy.
func ruleText(rule string, base, limit time.Duration) string {
	first := "base"
	if rule == "constant" {
		first = "delay"
	}
	return rule + key(first, base) + key("cap", limit)
}

func key(name string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf(" %s=%v", name, d)
}

// didYouMean suggests the known name that is closest to a misspelled one. It returns "" if
// none is close.
func didYouMean(wrong string, known []string) string {
	if meant := nearest.Name(wrong, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}
