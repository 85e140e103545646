package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/awspreset"
)

// TestRecordings: each policy behaves as recorded from its SDK.
func TestRecordings(t *testing.T) {
	for _, r := range recorded(t) {
		t.Run(r.Mode, func(t *testing.T) {
			t.Parallel()
			server := newServer()
			defer server.Close()
			compared, err := compare(server, r)
			require.NoError(t, err)
			assert.Empty(t, compared.mismatches)
			assert.Greater(t, compared.cases, 200)
			assert.Greater(t, compared.delays, 500)
		})
	}
}

// TestComplete: each recording has its SDK's version and all its cases.
func TestComplete(t *testing.T) {
	for _, r := range recorded(t) {
		s := sdkOf(t, r.Mode)
		assert.NoError(t, r.check(s, s.cases(setOf(t, r.Mode))), r.Mode)
	}
}

func sdkOf(t *testing.T, mode string) sdk {
	t.Helper()
	i := slices.IndexFunc(sdks, func(s sdk) bool { return slices.Contains(s.modes, mode) })
	require.GreaterOrEqual(t, i, 0, mode)
	return sdks[i]
}

func TestIncomplete(t *testing.T) {
	s := sdkOf(t, "aws-js-v2")
	for name, tt := range map[string]struct {
		spoil func(*recording)
		fault string
	}{
		"other version":     {func(r *recording) { r.SDK = "aws-sdk 2.0.0" }, `the SDK is "aws-sdk 2.0.0", not "aws-sdk 2.1693.0"`},
		"no version":        {func(r *recording) { r.SDK = "" }, `the SDK is "", not`},
		"no cases":          {func(r *recording) { r.Cases = nil }, "0 cases of"},
		"one case less":     {func(r *recording) { r.Cases = slices.Delete(r.Cases, 100, 101) }, "case 101 is"},
		"the last missing":  {func(r *recording) { r.Cases = r.Cases[:len(r.Cases)-1] }, "cases of"},
		"one case twice":    {func(r *recording) { r.Cases = append(r.Cases, r.Cases[0]) }, "cases of"},
		"other random":      {func(r *recording) { r.Cases[0].RandomThen = 0.25 }, "case 1 is sts GetCallerIdentity: success, changed"},
		"other responses":   {func(r *recording) { r.Cases[0].Calls = nil }, "case 1 is"},
		"no observation":    {func(r *recording) { r.Cases[5].Observed = nil }, "0 calls of 1"},
		"empty calls":       {func(r *recording) { r.Cases[5].Calls, r.Cases[5].Observed = nil, nil }, "case 6 is"},
		"empty observation": {func(r *recording) { r.Cases[5].Observed[0] = observation{} }, "call 1: nothing observed"},
		"no delays":         {func(r *recording) { r.Cases[5].Observed[0].Delays = nil }, "call 1: nothing observed"},
		"no error":          {func(r *recording) { r.Cases[5].Observed[0].Error = "" }, "call 1: nothing observed"},
	} {
		t.Run(name, func(t *testing.T) {
			known := setOf(t, "aws-js-v2")
			r := known.recording("aws-js-v2")
			tt.spoil(&r)
			assert.ErrorContains(t, r.check(s, s.cases(known)), tt.fault)
		})
	}
}

func setOf(t *testing.T, mode string) *set {
	t.Helper()
	s, err := readSet("../vectors/trace", mode)
	require.NoError(t, err)
	return s
}

func recorded(t *testing.T) []recording {
	t.Helper()
	var all []recording
	for _, s := range sdks {
		for _, mode := range s.modes {
			all = append(all, setOf(t, mode).recording(mode))
		}
	}
	return all
}

// TestEveryPreset: each preset is compared with an SDK, and each recording belongs to a mode.
func TestEveryPreset(t *testing.T) {
	var presets, compared, recorded, run []string
	for preset := range awspreset.All() {
		presets = append(presets, preset.String())
	}
	for _, s := range sdks {
		for _, mode := range s.modes {
			compared = append(compared, presetOf(mode))
			run = append(run, sourceOf(mode))
			recorded = slices.AppendSeq(recorded, maps.Keys(setOf(t, mode).Sources))
		}
	}
	slices.Sort(compared)
	assert.ElementsMatch(t, presets, slices.Compact(compared))
	slices.Sort(recorded)
	assert.ElementsMatch(t, run, slices.Compact(recorded))
}

// TestExclusions: every excluded case differs, and every reason applies to a case.
func TestExclusions(t *testing.T) {
	server := newServer()
	defer server.Close()
	used := make(map[string]bool)
	for _, r := range recorded(t) {
		for _, c := range r.Cases {
			reason := exclusion(r.Mode, c.testCase)
			if reason == "" {
				continue
			}
			used[reason] = true
			played, err := runCase(server, r.Mode, c.testCase)
			require.NoError(t, err)
			differ := 0
			for i := range played {
				differ += len(differences(c.Observed[i], played[i]))
			}
			assert.Positive(t, differ, "%s: %s: %s", r.Mode, c.id(), reason)
		}
	}
	for _, e := range exclusions {
		assert.True(t, used[e.reason], "%v: %v: %s", e.mode, e.id, e.reason)
	}
}

func TestChanges(t *testing.T) {
	made := func(change func(*recording)) recording {
		r := recording{Mode: "p", SDK: "sdk 1", Cases: []recordedCase{
			{one("a", "sts", ok), []observation{{Attempts: 1, OK: true}}},
			{one("b", "sts", broken), []observation{{Attempts: 3, Delays: nil, Error: "scripted response 3"}}},
		}}
		change(&r)
		return r
	}
	old := made(func(*recording) {})
	for _, tt := range []struct {
		name   string
		change func(*recording)
		want   []string
	}{
		{"none", func(*recording) {}, nil},
		{"other version", func(r *recording) { r.SDK = "sdk 2" }, []string{`p: the SDK was "sdk 1" and is "sdk 2"`}},
		{"new case", func(r *recording) { r.Cases[0].Name = "c" }, []string{
			"p: new case sts GetCallerIdentity: c", "p: removed case sts GetCallerIdentity: a",
		}},
		{"other behavior", func(r *recording) { r.Cases[1].Observed[0].Attempts = 4 }, []string{
			"p: sts GetCallerIdentity: b\n\twas " + old.lines()[1] + "\n\tis  " +
				strings.Replace(old.lines()[1], `"attempts":3`, `"attempts":4`, 1),
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, made(tt.change).changes(old)) })
	}
}

// TestWrite: answers that are recorded again change nothing, and answers that are
// removed and recorded again are the same.
func TestWrite(t *testing.T) {
	folder := unanswered(t)
	for _, r := range recorded(t) {
		s, err := readSet(folder, r.Mode)
		require.NoError(t, err)
		s.replace(r)
		require.NoError(t, s.write())
		again, err := readSet(folder, r.Mode)
		require.NoError(t, err)
		assert.Empty(t, again.recording(r.Mode).changes(r))
		assert.Equal(t, r.lines(), again.recording(r.Mode).lines())
		known := setOf(t, r.Mode)
		before, err := json.Marshal(known)
		require.NoError(t, err)
		known.replace(r)
		after, err := json.Marshal(known)
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after))
	}
}

func TestNormalize(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"An error occurred (SlowDown) when calling: scripted response 3": "scripted response 3",
		"scripted response 12":                    "scripted response 12",
		"Could not connect to the endpoint: http": "another error",
	} {
		o := observation{Delays: []json.Number{"0.0123456789", "2"}, Error: text}
		require.NoError(t, o.normalize(1e9))
		assert.Equal(t, observation{Delays: []json.Number{"12.345679", "2000"}, Error: want}, o)
	}
}

// TestMutants: every change of an answer is noticed. As the policies agree with the
// answers, it is enough to compare the answers with themselves.
func TestMutants(t *testing.T) {
	mutants, noticed := 0, 0
	for _, r := range recorded(t) {
		for _, c := range r.Cases {
			for _, o := range c.Observed {
				ours := o
				ours.Delays = nil
				for _, d := range o.Delays {
					ours.Delays = append(ours.Delays, json.Number(fmt.Sprint(mustFloat(d)*1e6)))
				}
				require.Empty(t, differences(o, ours))
				for _, mutant := range mutantsOf(o) {
					mutants++
					if len(differences(mutant, ours)) > 0 {
						noticed++
					}
				}
			}
		}
	}
	t.Logf("noticed %d of %d mutants", noticed, mutants)
	assert.Equal(t, mutants, noticed)
}

func mutantsOf(o observation) []observation {
	changed := func(change func(*observation)) observation {
		m := o
		change(&m)
		return m
	}
	mutants := []observation{
		changed(func(m *observation) { m.Attempts++ }),
		changed(func(m *observation) { m.OK = !m.OK }),
		changed(func(m *observation) { m.Error = message(100) }),
		changed(func(m *observation) { m.Delays = append(slices.Clone(m.Delays), "1") }),
	}
	if o.Quota != nil {
		mutants = append(mutants, changed(func(m *observation) { m.Quota = new(*o.Quota + 1) }))
	}
	for i, d := range o.Delays {
		mutants = append(mutants, changed(func(m *observation) {
			m.Delays = slices.Clone(m.Delays)
			m.Delays[i] = json.Number(fmt.Sprint(mustFloat(d) + 1))
		}))
	}
	return mutants
}
