package main

// This file compares recordings with the policies.

import (
	"fmt"
	"math"
	"strings"
)

type tally struct {
	cases, delays int
	excluded      int // number of cases that mode.go excludes
	mismatches    []mismatch
}

// A mismatch is a call in which an SDK and the policy differ.
type mismatch struct {
	mode, id    string
	call        int
	differences []difference
}

// A difference is one thing that differs in a call.
type difference struct {
	what string // attempts, delays, ok, error or quota
	text string
}

// kind says where and in what the two differ. A change of an SDK usually makes many cases
// differ in the same way.
func (m mismatch) kind() string {
	var what []string
	for _, d := range m.differences {
		what = append(what, d.what)
	}
	return m.mode + ": " + strings.Join(what, ", ")
}

func (m mismatch) lines() []string {
	var lines []string
	for _, d := range m.differences {
		lines = append(lines, fmt.Sprintf("mismatch: %s: %s: call %d: %s: %s", m.mode, m.id, m.call, d.what, d.text))
	}
	return lines
}

func compare(server *server, r recording) (t tally, err error) {
	for _, c := range r.Cases {
		if exclusion(r.Mode, c.testCase) != "" {
			t.excluded++
			continue
		}
		played, err := runCase(server, r.Mode, c.testCase)
		if err != nil {
			return t, fmt.Errorf("%s: %s: %w", r.Mode, c.id(), err)
		}
		t.cases++
		for i, ours := range played {
			theirs := c.Observed[i]
			t.delays += len(theirs.Delays)
			if list := differences(theirs, ours); list != nil {
				t.mismatches = append(t.mismatches, mismatch{r.Mode, c.id(), i + 1, list})
			}
		}
	}
	return t, nil
}

// differences compares our observation of a call, in nanoseconds, with the SDK's, in
// milliseconds.
func differences(theirs, ours observation) []difference {
	var list []difference
	differ := func(what string, theirs, ours any) {
		list = append(list, difference{what, fmt.Sprintf("the SDK %v, the policy %v", theirs, ours)})
	}
	if theirs.Attempts != ours.Attempts {
		differ("attempts", theirs.Attempts, ours.Attempts)
	}
	if !sameDelays(theirs, ours) {
		differ("delays", theirs.Delays, ours.Delays)
	}
	if theirs.OK != ours.OK {
		differ("ok", theirs.OK, ours.OK)
	}
	// SDKs have different texts for errors that the service did not send.
	if scriptedMessage.FindString(theirs.Error) != scriptedMessage.FindString(ours.Error) {
		differ("error", theirs.Error, ours.Error)
	}
	if shown(theirs.Quota) != shown(ours.Quota) {
		differ("quota", shown(theirs.Quota), shown(ours.Quota))
	}
	return list
}

// sameDelays allows a difference of 1 ns, because SDKs that compute in seconds round
// differently.
func sameDelays(theirs, ours observation) bool {
	if len(theirs.Delays) != len(ours.Delays) {
		return false
	}
	for i := range theirs.Delays {
		a, errA := theirs.Delays[i].Float64()
		b, errB := ours.Delays[i].Float64()
		if errA != nil || errB != nil || math.Abs(a*1e6-b) > 1 {
			return false
		}
	}
	return true
}

func shown(quota *float64) any {
	if quota == nil {
		return "none"
	}
	return *quota
}
