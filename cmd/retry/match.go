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

	until, while             statuses
	untilOutput, whileOutput *regexp.Regexp
	httpStatus               statuses
}

func (m *match) needsOutput() bool {
	return m.retryOnOutput != nil || m.stopOnOutput != nil || m.conditionOnOutput()
}

func (m *match) conditionOnOutput() bool { return m.untilOutput != nil || m.whileOutput != nil }

// met reports whether the outcome of a command that has ended on its own is a success.
func (m *match) met(o *outcome) bool {
	met := o.code() == 0
	switch {
	case m.until != nil:
		met = m.until.contains(o.code())
	case m.while != nil:
		met = o.signal == 0 && o.exit != exitNotExecutable && o.exit != exitNotFound && !m.while.contains(o.exit)
	}
	return met && (m.untilOutput == nil || o.wrote(m.untilOutput)) && !o.wrote(m.whileOutput)
}

// accepts reports whether the status of an HTTP response is the expected one.
func (m *match) accepts(status int) bool {
	if m.httpStatus == nil {
		return 200 <= status && status <= 399
	}
	return m.httpStatus.contains(status)
}

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
	case o.ended || o.last != "" || o.broken != nil || o.survivors != nil || m.interrupted(o):
		return retry.ClassPermanent
	case m.stopOn.has(o) || o.wrote(m.stopOnOutput):
		return retry.ClassPermanent
	case m.retryOn.has(o) || o.wrote(m.retryOnOutput) || o.unmet != "" && o.limit == "":
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
	return pattern != nil && (o.stdout.matches(pattern) || o.stderr.matches(pattern))
}

// statuses is a list of outcomes.
type statuses []status

// status is an inclusive range of exit statuses, or a named outcome.
type status struct {
	from, to int
	sort     string // "timeout", "signal" or a signal name; "" for exit statuses
}

func (list statuses) has(o *outcome) bool {
	if list.contains(o.status()) {
		return true
	}
	for _, s := range list {
		switch s.sort {
		case "":
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
	s, err := parseRange(text)
	switch {
	case err != nil:
		return status{}, fmt.Errorf("%q is not an exit status, a range such as 1-5, timeout, signal or a signal name", text)
	case s.from == 0:
		return status{}, fmt.Errorf("%q contains 0, which is success", text)
	case s.to > 255:
		return status{}, fmt.Errorf("%q is not within 1-255", text)
	}
	return s, nil
}

// setNumbers adds a list such as 0,5-7, without names.
func (list *statuses) setNumbers(text string) error {
	for item := range strings.SplitSeq(text, ",") {
		s, err := parseRange(strings.TrimSpace(item))
		if err != nil || s.to > 599 {
			return fmt.Errorf("%q is not a status or a range such as 1-5", item)
		}
		*list = append(*list, s)
	}
	return nil
}

func parseRange(text string) (s status, err error) {
	first, last, isRange := strings.Cut(text, "-")
	if s.from, err = strconv.Atoi(first); err != nil {
		return s, err
	}
	if s.to = s.from; isRange {
		s.to, err = strconv.Atoi(last)
	}
	if err == nil && s.to < s.from {
		err = strconv.ErrRange
	}
	return s, err
}

func (list statuses) contains(number int) bool {
	for _, s := range list {
		if s.sort == "" && s.from <= number && number <= s.to {
			return true
		}
	}
	return false
}
