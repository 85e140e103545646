package main

// This file reads and writes the sets of whole calls in ../vectors/trace, which contain the cases
// and the recordings. ../vectors/README.md describes the format.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type set struct {
	Kind    string            `json:"kind"`
	Set     string            `json:"set"`
	Version int               `json:"version"`
	About   string            `json:"about"`
	Sources map[string]source `json:"sources"`
	Cases   []setCase         `json:"cases,omitempty"`
	file    string
}

type source struct {
	Of  string `json:"of"`
	How string `json:"how"`
	SDK string `json:"sdk,omitempty"` // as the driver reports it
}

type setCase struct {
	ID      string   `json:"id"`
	Given   testCase `json:"given"`
	Answers []answer `json:"answers"`
}

type answer struct {
	From  []string     `json:"from"`
	Calls []recordCall `json:"calls"`
}

// A recordCall is an observation in a set.
type recordCall struct {
	Attempts int           `json:"attempts"`
	Waits    []json.Number `json:"waits_ms"`
	OK       bool          `json:"ok"`
	Reported int           `json:"reported,omitempty"` // the response whose failure the call reported
	Tokens   *float64      `json:"tokens,omitempty"`
}

func (c recordCall) observation() observation {
	o := observation{Attempts: c.Attempts, Delays: c.Waits, OK: c.OK, Quota: c.Tokens}
	switch {
	case c.Reported > 0:
		o.Error = message(c.Reported)
	case !c.OK:
		o.Error = "another error"
	}
	return o
}

func callOf(o observation) recordCall {
	c := recordCall{Attempts: o.Attempts, Waits: o.Delays, OK: o.OK, Tokens: o.Quota}
	fmt.Sscanf(o.Error, "scripted response %d", &c.Reported)
	return c
}

// sourceOf returns a mode's name in the sets.
func sourceOf(mode string) string { return strings.TrimPrefix(mode, "aws-") }

// readSet returns the set in a folder that has the mode's SDK.
func readSet(folder, mode string) (*set, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s := &set{file: file}
		if err := json.Unmarshal(data, s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if _, ok := s.Sources[sourceOf(mode)]; ok {
			for i := range s.Cases {
				c := &s.Cases[i]
				_, c.Given.Name, _ = strings.Cut(c.ID, ": ")
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: no set has the source %s", folder, sourceOf(mode))
}

// recording returns the cases that the mode's SDK has answered.
func (s *set) recording(mode string) recording {
	name := sourceOf(mode)
	r := recording{Mode: mode, SDK: s.Sources[name].SDK}
	for _, c := range s.Cases {
		for _, a := range c.Answers {
			if !slices.Contains(a.From, name) {
				continue
			}
			recorded := recordedCase{testCase: c.Given}
			for _, call := range a.Calls {
				recorded.Observed = append(recorded.Observed, call.observation())
			}
			r.Cases = append(r.Cases, recorded)
		}
	}
	return r
}

// replace replaces the answers of the recording's SDK.
func (s *set) replace(r recording) {
	name := sourceOf(r.Mode)
	about := s.Sources[name]
	about.SDK = r.SDK
	s.Sources[name] = about
	fresh := make(map[string][]recordCall)
	for _, c := range r.Cases {
		for _, o := range c.Observed {
			fresh[c.id()] = append(fresh[c.id()], callOf(o))
		}
	}
	for i := range s.Cases {
		s.Cases[i].answer(name, fresh[s.Cases[i].ID])
	}
}

func (c *setCase) answer(name string, calls []recordCall) {
	i := slices.IndexFunc(c.Answers, func(a answer) bool { return sameJSON(a.Calls, calls) })
	if i >= 0 && slices.Contains(c.Answers[i].From, name) {
		return
	}
	if i >= 0 {
		c.Answers[i].From = append(c.Answers[i].From, name)
	} else if calls != nil {
		c.Answers, i = append(c.Answers, answer{[]string{name}, calls}), len(c.Answers)
	}
	for j := range c.Answers {
		if j != i {
			c.Answers[j].From = slices.DeleteFunc(c.Answers[j].From, func(from string) bool { return from == name })
		}
	}
	c.Answers = slices.DeleteFunc(c.Answers, func(a answer) bool { return len(a.From) == 0 })
}

func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// write writes one line per case, so that a changed case shows as a changed line.
func (s *set) write() error {
	head := *s
	head.Cases = nil
	text, err := json.MarshalIndent(head, "", " ")
	if err != nil {
		return err
	}
	b := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("\n}")))
	for i, c := range s.Cases {
		separator := ",\n"
		if i == 0 {
			separator = ",\n \"cases\": [\n"
		}
		c.Given.Name = ""
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		b.WriteString(separator)
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return os.WriteFile(s.file, b.Bytes(), 0o644)
}
