package main

// This file reads, writes and checks recordings of the SDKs.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

// A recording is a file in testdata that describes how an SDK behaves in all cases of a
// preset.
type recording struct {
	Preset string         `json:"preset"`
	SDK    string         `json:"sdk"`  // name and version
	Unit   string         `json:"unit"` // of delays
	Cases  []recordedCase `json:"cases"`
}

type recordedCase struct {
	testCase
	Observed []observation `json:"observed"` // one per call
}

func (c testCase) id() string { return c.Service + " " + c.Operation + ": " + c.Name }

func newRecording(preset string, cases []testCase, out output) (recording, error) {
	if len(out.Cases) != len(cases) {
		return recording{}, fmt.Errorf("the output has %d of %d cases", len(out.Cases), len(cases))
	}
	r := recording{Preset: preset, SDK: out.SDK, Unit: out.Unit}
	if _, err := nanosecondsIn(out.Unit); err != nil {
		return recording{}, err
	}
	for i, c := range cases {
		played := out.Cases[i]
		if played.Name != c.Name || len(played.Calls) != len(c.Calls) {
			return recording{}, fmt.Errorf("%s: the output has %q with %d of %d calls", c.id(), played.Name, len(played.Calls), len(c.Calls))
		}
		for j := range played.Calls {
			played.Calls[j].Error = digest(played.Calls[j].Error)
		}
		r.Cases = append(r.Cases, recordedCase{c, played.Calls})
	}
	return r, nil
}

// check returns an error unless the recording has the SDK's version, all its current
// cases, and an observation of every call.
func (r recording) check(s sdk) error {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.SDK != s.reports {
		fault("the SDK is %q, not %q", r.SDK, s.reports)
	}
	want := s.cases()
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

// digest keeps the parts of an error's text that are the same in every run: its first
// words and the scripted message.
func digest(text string) string {
	first, _, _ := strings.Cut(text, ": ")
	if message := scriptedMessage.FindString(text); message != "" && message != first {
		return first + ": " + message
	}
	return first
}

func recordingFile(folder, preset string) string { return filepath.Join(folder, preset+".json") }

// readRecording returns an empty recording if there is no such file.
func readRecording(file string) (r recording, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// write writes one line per case, so that a changed case shows as a changed line.
func (r recording) write(file string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"preset\": %q,\n\"sdk\": %q,\n\"unit\": %q,\n\"cases\": [\n", r.Preset, r.SDK, r.Unit)
	for i, line := range r.lines() {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(line)
	}
	b.WriteString("\n]\n}\n")
	return os.WriteFile(file, b.Bytes(), 0o644)
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
		changes = append(changes, fmt.Sprintf("%s: the SDK was %q and is %q", r.Preset, old.SDK, r.SDK))
	}
	if r.Unit != old.Unit {
		changes = append(changes, fmt.Sprintf("%s: the unit was %q and is %q", r.Preset, old.Unit, r.Unit))
	}
	before := make(map[string]string)
	for i, line := range old.lines() {
		before[old.Cases[i].id()] = line
	}
	for i, line := range r.lines() {
		id := r.Cases[i].id()
		switch was, known := before[id]; {
		case !known:
			changes = append(changes, fmt.Sprintf("%s: new case %s", r.Preset, id))
		case was != line:
			changes = append(changes, fmt.Sprintf("%s: %s\n\twas %s\n\tis  %s", r.Preset, id, was, line))
		}
		delete(before, id)
	}
	for _, c := range old.Cases {
		if _, gone := before[c.id()]; gone {
			changes = append(changes, fmt.Sprintf("%s: removed case %s", r.Preset, c.id()))
		}
	}
	return changes
}
