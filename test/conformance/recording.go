package main

// This file checks and compares recordings of the SDKs.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// A recording describes how an SDK behaves in all cases of a mode.
type recording struct {
	Mode  string
	SDK   string // name and version
	Cases []recordedCase
}

type recordedCase struct {
	testCase
	Observed []observation // one per call
}

func (c testCase) id() string { return c.Service + " " + c.Operation + ": " + c.Name }

func newRecording(mode string, cases []testCase, out output) (recording, error) {
	if len(out.Cases) != len(cases) {
		return recording{}, fmt.Errorf("the output has %d of %d cases", len(out.Cases), len(cases))
	}
	r := recording{Mode: mode, SDK: out.SDK}
	unit, err := nanosecondsIn(out.Unit)
	if err != nil {
		return recording{}, err
	}
	for i, c := range cases {
		played := out.Cases[i]
		if played.Name != c.Name || len(played.Calls) != len(c.Calls) {
			return recording{}, fmt.Errorf("%s: the output has %q with %d of %d calls", c.id(), played.Name, len(played.Calls), len(c.Calls))
		}
		for j := range played.Calls {
			if err := played.Calls[j].normalize(unit); err != nil {
				return recording{}, fmt.Errorf("%s: %w", c.id(), err)
			}
		}
		r.Cases = append(r.Cases, recordedCase{c, played.Calls})
	}
	return r, nil
}

// check returns an error unless the recording has the SDK's version, all its current
// cases, and an observation of every call.
func (r recording) check(s sdk, want []testCase) error {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.SDK != s.reports {
		fault("the SDK is %q, not %q", r.SDK, s.reports)
	}
	if len(r.Cases) != len(want) {
		fault("%d cases of %d", len(r.Cases), len(want))
	}
	for i, c := range r.Cases[:min(len(r.Cases), len(want))] {
		if !reflect.DeepEqual(c.testCase, want[i]) {
			fault("case %d is %s, changed, and not %s", i+1, c.id(), want[i].id())
		}
		if len(c.Observed) != len(c.Calls) {
			fault("%s: %d calls of %d", c.id(), len(c.Observed), len(c.Calls))
		}
		for j, o := range c.Observed {
			if o.Attempts < 1 || o.Delays == nil || o.OK != (o.Error == "") {
				fault("%s: call %d: nothing observed", c.id(), j+1)
			}
		}
	}
	if faults == nil {
		return nil
	}
	return errors.New(strings.Join(faults[:min(len(faults), 10)], "; "))
}

var scriptedMessage = regexp.MustCompile(`scripted response \d+`)

// normalize converts delays from the given unit to milliseconds with at most six digits
// after the point, and keeps of an error only the scripted message, which is the same
// with every SDK and system.
func (o *observation) normalize(unit float64) error {
	for i, d := range o.Delays {
		x, err := d.Float64()
		if err != nil {
			return err
		}
		o.Delays[i] = json.Number(strconv.FormatFloat(math.Round(x*unit)/1e6, 'f', -1, 64))
	}
	if o.Error != "" {
		o.Error = cmp.Or(scriptedMessage.FindString(o.Error), "another error")
	}
	return nil
}

func (r recording) lines() []string {
	lines := make([]string, len(r.Cases))
	for i, c := range r.Cases {
		line, err := json.Marshal(c)
		if err != nil {
			panic(err) // cannot happen
		}
		lines[i] = string(line)
	}
	return lines
}

func (r recording) changes(old recording) []string {
	var changes []string
	if r.SDK != old.SDK {
		changes = append(changes, fmt.Sprintf("%s: the SDK was %q and is %q", r.Mode, old.SDK, r.SDK))
	}
	before := make(map[string]string)
	for i, line := range old.lines() {
		before[old.Cases[i].id()] = line
	}
	for i, line := range r.lines() {
		id := r.Cases[i].id()
		switch was, known := before[id]; {
		case !known:
			changes = append(changes, fmt.Sprintf("%s: new case %s", r.Mode, id))
		case was != line:
			changes = append(changes, fmt.Sprintf("%s: %s\n\twas %s\n\tis  %s", r.Mode, id, was, line))
		}
		delete(before, id)
	}
	for _, c := range old.Cases {
		if _, gone := before[c.id()]; gone {
			changes = append(changes, fmt.Sprintf("%s: removed case %s", r.Mode, c.id()))
		}
	}
	return changes
}
