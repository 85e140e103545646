package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry/retryconfig"
)

const barWidth = 30

func explain(args []string) (string, error) {
	c, err := parseExplained(args, os.Getenv)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(c.settings())
	p := c.policy
	plan := retryconfig.NewPlan(p)
	attempts := p.Attempts()
	if plan.Total.Max == 0 && !plan.Truncated {
		attempts = len(plan.Retries) + 1 // also without waits, which time alone does not bound
	}
	noun := "attempts"
	if attempts == 1 {
		noun = "attempt"
	}
	fmt.Fprintf(&b, "%s: %s %s if all fail", retryconfig.Policy{Policy: p}, attemptsText(attempts), noun)
	if p.MaxElapsed > 0 {
		fmt.Fprintf(&b, ", no wait beyond %v", p.MaxElapsed)
	}
	if p.AttemptTimeout > 0 {
		fmt.Fprintf(&b, ", each at most %v", p.AttemptTimeout)
	}
	b.WriteString("\n\n")
	if len(plan.Retries) == 0 {
		b.WriteString("no retry\n")
		return b.String(), nil
	}
	fmt.Fprintf(&b, "%7s %9s %9s %9s %9s\n", "retry", "min", "mean", "p99", "max")
	const shownRetries = 20
	longest := time.Duration(1)
	for _, w := range plan.Retries {
		longest = max(longest, w.Max)
	}
	for i, w := range plan.Retries {
		if i == shownRetries {
			fmt.Fprintf(&b, "%7s\n", "…")
			break
		}
		fmt.Fprintf(&b, "%7d %s  %s\n", i+1, waitText(w), bar(w, longest))
	}
	total := "total"
	if plan.Truncated {
		total = fmt.Sprintf("1–%d", len(plan.Retries))
	}
	fmt.Fprintf(&b, "%7s %s\n\n", total, waitText(plan.Total))
	b.WriteString("The wait before each retry; = is up to the mean, - up to the longest.\n")
	return b.String(), nil
}

// parseExplained reads what parseFlags reads, or flags and a policy in any order.
func parseExplained(args []string, getenv func(string) string) (*config, error) {
	c := newConfig()
	options := c.options()
	flags := c.flagSet(options)
	if err := parseArgs(flags, args, options); err != nil {
		return c, err
	}
	words, _ := beforeDash(flags)
	if len(words) == 0 || isTarget(words[0]) {
		return parseFlags(args, getenv)
	}
	i := slices.IndexFunc(options, func(o option) bool { return o.name == "policy" })
	if err := c.give(options[i], strings.Join(words, " "), "argument"); err != nil {
		return c, err
	}
	return c, c.complete(options, getenv)
}

// settings lists what was given, where, and the defaults that apply.
func (c *config) settings() string {
	var b strings.Builder
	for _, o := range c.options() {
		given, ok := c.given[o.name]
		if !ok {
			given = setting{c.initial(o), "default"}
		}
		if given.text != "" {
			fmt.Fprintf(&b, "%-16s %-32s %s\n", o.name, given.text, given.origin)
		}
	}
	return b.String() + "\n"
}

// initial returns the default of an option that applies to the run, or "". With a policy there
// are none: what it sets is in its own line.
func (c *config) initial(o option) string {
	given := func(other option) bool { _, ok := c.given[other.name]; return ok }
	if given(option{name: "policy"}) || slices.ContainsFunc(c.options(), func(other option) bool { return given(other) && o.conflicts(other) }) {
		return ""
	}
	applies := true
	switch o.name {
	case "rule":
		return c.rule
	case "base":
		return durationText(c.base)
	case "cap":
		return durationText(c.limit)
	case "http-status":
		applies = slices.ContainsFunc(c.targets, func(t target) bool { return t.scheme == "http" || t.scheme == "https" })
	case "until", "kill-after", "stdin", "output":
		applies = c.targets == nil
	}
	if !applies {
		return ""
	}
	return o.initial
}

// durationText returns "" for 0: the rule does not have it.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func waitText(w retryconfig.WaitStats) string {
	return fmt.Sprintf("%9v %9v %9v %9v", round(w.Min), round(w.Mean), round(w.P99), round(w.Max))
}

// bar draws a wait: blanks up to its minimum, equal signs up to its mean, and dashes up to
// its maximum.
func bar(w retryconfig.WaitStats, longest time.Duration) string {
	at := func(d time.Duration) int { return int(float64(d) / float64(longest) * barWidth) }
	least, mean, most := at(w.Min), at(w.Mean), at(w.Max)
	if least == most { // no jitter
		return strings.Repeat("=", most)
	}
	return strings.Repeat(" ", least) + strings.Repeat("=", mean-least) + strings.Repeat("-", most-mean)
}

func presets() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-32s %8s %12s %12s\n", "preset", "attempts", "mean wait", "longest wait")
	for _, name := range append([]string{standard}, presetNames()...) {
		p, err := parsePolicy(name)
		if err != nil {
			panic(err) // TestNames parses all of them
		}
		total := retryconfig.NewPlan(p).Total
		fmt.Fprintf(&b, "%-32s %8s %12v %12v\n", name, attemptsText(p.Attempts()), round(total.Mean), round(total.Max))
	}
	fmt.Fprintf(&b, "\nWaits are totals for a command that never succeeds. Rules: %s.\n", strings.Join(ruleNames[1:], ", "))
	return b.String()
}
