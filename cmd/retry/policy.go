package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// standard is the name of the default rule.
const standard = "standard"

// ruleNames are the rules with which a policy may begin.
var ruleNames = []string{
	standard, "none", "constant", "exponential", "linear", "fibonacci", "schedule", "full", "equal",
	"decorrelated", "jittered", "spread", "capped", "when-throttled",
}

// presetNames returns the names of the AWS SDKs' policies.
func presetNames() []string {
	var names []string
	for preset := range awspreset.All() {
		names = append(names, preset.String())
	}
	return names
}

// parsePolicy reads a policy and sets its number of attempts.
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

// defaultAttempts returns the number of attempts of a policy that does not set it.
func defaultAttempts(p retry.Policy) int {
	if delays, ok := p.Backoff.(retry.Schedule); ok {
		return len(delays) + 1
	}
	return 3
}

// ruleText returns the text of the policy that the flags describe.
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

// didYouMean returns a suggestion of the known name that is closest to a wrong
// one, or "" if none is close.
func didYouMean(wrong string, known []string) string {
	best, least := "", len(wrong)/3+2
	for _, name := range known {
		if d := distance(wrong, name); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance returns the number of characters to insert, delete or replace to turn
// b into a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
