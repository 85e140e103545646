package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/nearest"
)

const standard = "standard"

// A policy may begin with one of ruleNames or presetNames.
var ruleNames = []string{
	standard, "none", "constant", "exponential", "linear", "fibonacci", "schedule", "full", "equal",
	"decorrelated", "jittered", "spread", "capped", "when-throttled",
}

func presetNames() []string {
	var names []string
	for preset := range awspreset.All() {
		names = append(names, preset.String())
	}
	return names
}

// parsePolicy parses a policy and sets its MaxAttempts.
func parsePolicy(text string) (retry.Policy, error) {
	first := text
	if i := strings.IndexAny(text, " ,;\t("); i >= 0 {
		first = text[:i]
	}
	known := slices.Concat(ruleNames, presetNames())
	if first != "" && !strings.Contains(first, "=") && !slices.Contains(known, first) {
		return retry.Policy{}, fmt.Errorf("unknown policy %q%s", first, didYouMean(first, known))
	}
	p, err := retry.ParsePolicy(text)
	if err == nil && p.MaxAttempts == 0 {
		p.MaxAttempts = defaultAttempts(p)
	}
	return p, err
}

func defaultAttempts(p retry.Policy) int {
	if delays, ok := p.Backoff.(retry.Schedule); ok {
		return len(delays) + 1
	}
	return 3
}

func ruleText(rule string, base, limit time.Duration) string {
	if rule == "" && (base != 0 || limit != 0) {
		rule = "full"
		if base == 0 {
			base = min(50*time.Millisecond, limit)
		}
		if limit == 0 {
			limit = max(20*time.Second, base)
		}
	}
	if rule == "" {
		return standard
	}
	text := rule
	if base != 0 {
		key := "base"
		if rule == "constant" {
			key = "delay"
		}
		text += fmt.Sprintf(" %s=%v", key, base)
	}
	if limit != 0 {
		text += fmt.Sprintf(" cap=%v", limit)
	}
	return text
}

// didYouMean suggests the known name that is closest to a misspelled one. It returns "" if
// none is close.
func didYouMean(wrong string, known []string) string {
	if meant := nearest.Name(wrong, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}
