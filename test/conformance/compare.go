package main

// This file compares recordings with the policies.

import (
	"fmt"
	"math"
)

type tally struct {
	cases, delays int
	excluded      int // number of cases that preset.go excludes
	mismatches    []string
}

func compare(server *server, r recording) (t tally, err error) {
	for _, c := range r.Cases {
		if exclusion(r.Preset, c.testCase) != "" {
			t.excluded++
			continue
		}
		played, err := runCase(server, r.Preset, c.testCase)
		if err != nil {
			return t, fmt.Errorf("%s: %s: %w", r.Preset, c.id(), err)
		}
		t.cases++
		for i, ours := range played {
			theirs := c.Observed[i]
			t.delays += len(theirs.Delays)
			for _, difference := range differences(theirs, ours) {
				t.mismatches = append(t.mismatches, fmt.Sprintf("%s: %s: call %d: %s", r.Preset, c.id(), i+1, difference))
			}
		}
	}
	return t, nil
}

// differences compares our observation of a call, in nanoseconds, with the SDK's, in
// milliseconds.
func differences(theirs, ours observation) []string {
	var list []string
	differ := func(what string, theirs, ours any) {
		list = append(list, fmt.Sprintf("%s: the SDK %v, the policy %v", what, theirs, ours))
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
