package retryconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// where is the place of the list of names, which is too long for an error.
const where = "https://pkg.go.dev/github.com/gobackoff/retry/retryconfig#Parse"

// awsPrefix begins the names of the presets. A name with it can mean only one of them.
const awsPrefix = "aws-"

// mostListed bounds the number of names that an error lists.
const mostListed = 15

// unknown describes a misspelled name. It suggests up to three of the known names or of
// others, and lists the known ones if none is like it.
func unknown(kind, name string, known []string, others ...string) string {
	if strings.HasPrefix(name, awsPrefix) {
		known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, awsPrefix) })
	}
	list := strings.Join(known, ", ")
	switch {
	case len(known) == 0:
		list = none
	case len(known) > mostListed:
		list = "none, full, aws-standard-2.1 and others: " + where
	}
	if name == "" {
		return fmt.Sprintf("the name of the %s is missing; valid: %s", kind, list)
	}
	what := fmt.Sprintf("unknown %s %s", kind, quoted(name))
	if write := elsewhere(kind, name, known, others); write != "" {
		return what + "; write " + write
	}
	if meant := suggestions(name, append(others, known...)); meant != "" {
		return what + "; did you mean " + meant + "?"
	}
	return what + "; valid: " + list
}

// suggestions returns up to three of the known names that a misspelled one may stand for, or
// "". All known names are in lower case, except perhaps those of presets.
func suggestions(name string, known []string) string {
	var list []string
	for len(list) < 3 {
		meant := closest(name, known)
		if meant == "" {
			break
		}
		list = append(list, strconv.Quote(meant))
		known = slices.DeleteFunc(slices.Clone(known), func(other string) bool { return other == meant })
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// The words that other libraries and tools have for a policy's names and keys, in lower case
// and with "-" between their parts, and what to write here.
var (
	otherNames = map[string]string{
		"disabled": none, "disable": none, "no": none,
		"on": "standard", "true": "standard", "yes": "standard", "default": "standard", "enabled": "standard",
		"fixed": "constant delay=1s", "const": "constant delay=1s", "constant-backoff": "constant delay=1s",
		"exp": "exponential", "backoff": "exponential", "exponential-backoff": "exponential", "expo": "exponential",
		"jitter": "full", "full-jitter": "full", "exponential-jitter": "full", "random": "full",
		"equal-jitter": "equal", "decorrelated-jitter": "decorrelated", "immediate": "no-delay", "nodelay": "no-delay",
		"aws": "aws-standard-2.1", "aws-standard": "aws-standard-2.1", "adaptive": "aws-standard-2.1 limiter=adaptive",
		"legacy": "aws-botocore-legacy", "forever": "attempts=unlimited", "infinite": "attempts=unlimited", unlimited: "attempts=unlimited",
	}
	otherKeys = map[string]string{
		"max-attempts": "attempts", "maxattempts": "attempts", "tries": "attempts", "max-tries": "attempts", "count": "attempts",
		"retries": "attempts, which includes the first call", "max-retries": "attempts, which includes the first call",
		"maxretries": "attempts, which includes the first call", "retry-count": "attempts, which includes the first call",
		"max-elapsed": "elapsed", "max-elapsed-time": "elapsed", "maxelapsedtime": "elapsed", "maxelapsed": "elapsed",
		"deadline": "elapsed", "max-time": "elapsed", "total": "elapsed", "max-duration": "elapsed",
		"attempt-timeout": "timeout", "per-try-timeout": "timeout", "attempttimeout": "timeout", "pertrytimeout": "timeout",
		"initial": "base", "initial-interval": "base", "initialinterval": "base", "min": "base", "interval": "base", "base-delay": "base",
		"initial-backoff": "base", "initialbackoff": "base", "min-delay": "base", "wait": "base", "delay": "base", "initial-delay": "base",
		"max": "cap", "max-interval": "cap", "maxinterval": "cap", "max-delay": "cap", "max-wait": "cap", "max-backoff": "cap", "maxbackoff": "cap",
		"multiplier": "factor", "exponent": "factor", "backoff-multiplier": "factor",
		"jitter":        "the rule full, equal, or spread(exponential base=1s) fraction=0.1",
		"randomization": "spread(exponential base=1s) fraction=0.5", "randomization-factor": "spread(exponential base=1s) fraction=0.5",
		"enabled": "none instead of enabled=false", "disabled": "none instead of disabled=true",
		"status": retryOn, "statuses": retryOn, "codes": retryOn, "status-codes": retryOn, "retryable-status-codes": retryOn,
	}
)

// elsewhere returns what to write instead of a word that other libraries and tools use, or "".
func elsewhere(kind, word string, known, others []string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "_", "-")
	if kind == "key" {
		write := otherKeys[word]
		switch {
		case write == "base" && slices.Contains(known, "delay"): // of rule constant
			return "delay"
		case slices.Contains(Rules(), word):
			return "the name of the rule without a value, in front"
		case write == "base" || write == "cap" || write == "factor":
			switch {
			case slices.Contains(known, write):
			case slices.Contains(others, write): // the rule is missing
				return write + ", after the name of a rule such as full"
			default:
				return "" // the rule has no such key
			}
		}
		return write
	}
	if kind != "name" {
		return ""
	}
	d, err := time.ParseDuration(word)
	if err == nil && d > 0 {
		return "constant delay=" + word
	}
	switch {
	case attemptsFor(word) != "":
		return attemptsFor(word)
	case strings.HasSuffix(word, ":"):
		return "keys as in attempts=3"
	}
	return otherNames[word]
}

// attemptsFor returns what a number that stands for a policy means, or "" if it may mean anything.
func attemptsFor(number string) string {
	n, err := strconv.ParseInt(number, 10, 16)
	switch {
	case err != nil || n < -1:
		return ""
	case n == -1:
		return "attempts=" + unlimited
	case n == 0:
		return none
	}
	return "attempts=" + number
}

// unitsOfOthers are units that are no units of Go, and what they are here.
var unitsOfOthers = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h", "msec": "ms", "millis": "ms", "milliseconds": "ms",
}

// otherUnit returns a duration that is written with a unit of others, or "".
func otherUnit(text string) string {
	unit := strings.TrimLeft(text, "0123456789.")
	amount := strings.TrimSuffix(text, unit)
	days, err := strconv.Atoi(amount)
	if err == nil && days < 1000 && slices.Contains([]string{"d", "day", "days"}, strings.ToLower(unit)) {
		return strconv.Itoa(24*days) + "h"
	}
	meant := unitsOfOthers[strings.ToLower(unit)]
	if meant == "" || amount == "" || len(amount) > 10 {
		return ""
	}
	return amount + meant
}
