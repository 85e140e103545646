package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/gobackoff/retry"
)

type match struct {
	retryOn, stopOn             statuses
	retryOnOutput, stopOnOutput *regexp.Regexp
}

func (m *match) needsOutput() bool { return m.retryOnOutput != nil || m.stopOnOutput != nil }

// Classify returns the verdict on a failed attempt. Stop lists override retry lists. If
// there is a retry list, everything else is permanent.
func (m *match) Classify(err error) retry.Verdict {
	o, _ := errors.AsType[*outcome](err)
	return retry.Verdict{Class: m.class(o)}
}

func (m *match) class(o *outcome) retry.Class {
	transient := retry.ClassTransient
	if o.limit != "" {
		transient = retry.ClassTimeout
	}
	switch {
	case o.ended || o.last != "" || o.broken != nil || m.interrupted(o):
		return retry.ClassPermanent
	case m.stopOn.has(o) || o.wrote(m.stopOnOutput):
		return retry.ClassPermanent
	case m.retryOn.has(o) || o.wrote(m.retryOnOutput):
		return transient
	case len(m.retryOn) > 0 || m.retryOnOutput != nil:
		return retry.ClassPermanent
	case o.temporary:
		return retry.ClassTransient
	case o.exit == exitNotFound || o.exit == exitNotExecutable:
		return retry.ClassPermanent
	}
	return transient
}

// interrupted reports whether a key such as Ctrl-C ended the command. A shell whose
// command was ended by Ctrl-C exits with 130.
func (m *match) interrupted(o *outcome) bool {
	return o.limit == "" && (o.interrupted || o.signal == syscall.SIGINT || o.signal == syscall.SIGQUIT || o.exit == exitInterrupted && !m.retryOn.has(o))
}

func (o *outcome) wrote(pattern *regexp.Regexp) bool {
	return pattern != nil && (pattern.Match(o.stdout.bytes()) || pattern.Match(o.stderr.bytes()))
}

// statuses is a flag.Value for a list of outcomes.
type statuses []status

// status is an inclusive range of exit statuses, or a named outcome.
type status struct {
	from, to int
	sort     string // "timeout", "signal" or a signal name; "" for exit statuses
}

func (list statuses) has(o *outcome) bool {
	for _, s := range list {
		switch s.sort {
		case "":
			if code := o.status(); s.from <= code && code <= s.to {
				return true
			}
		case "timeout":
			if o.limit != "" {
				return true
			}
		default:
			if o.limit == "" && o.signal != 0 && (s.sort == "signal" || s.sort == signalName(o.signal)) {
				return true
			}
		}
	}
	return false
}

// Set adds a list such as 1,5-7,timeout,signal,SIGKILL.
func (list *statuses) Set(text string) error {
	for item := range strings.SplitSeq(text, ",") {
		s, err := parseStatus(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		*list = append(*list, s)
	}
	return nil
}

func parseStatus(text string) (status, error) {
	if text == "timeout" || text == "signal" {
		return status{sort: text}, nil
	}
	name := strings.ToUpper(text)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if isSignalName(name) {
		return status{sort: name}, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	from, err := strconv.Atoi(first)
	to := from
	if err == nil && isRange {
		to, err = strconv.Atoi(last)
	}
	switch {
	case err != nil:
		return status{}, fmt.Errorf("%q is not an exit status, a range such as 1-5, timeout, signal or a signal name", text)
	case from == 0:
		return status{}, fmt.Errorf("%q contains 0, which is success", text)
	case to > 255 || to < from:
		return status{}, fmt.Errorf("%q is not within 1-255", text)
	}
	return status{from: from, to: to}, nil
}

func (list *statuses) String() string {
	var items []string
	for _, s := range *list {
		switch {
		case s.sort != "":
			items = append(items, s.sort)
		case s.from == s.to:
			items = append(items, strconv.Itoa(s.from))
		default:
			items = append(items, fmt.Sprintf("%d-%d", s.from, s.to))
		}
	}
	return strings.Join(items, ",")
}
