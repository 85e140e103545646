package main

import (
	"path/filepath"
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
		t.Run(r.Preset, func(t *testing.T) {
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
		assert.NoError(t, r.check(sdkOf(t, r.Preset)), r.Preset)
	}
}

func sdkOf(t *testing.T, preset string) sdk {
	t.Helper()
	i := slices.IndexFunc(sdks, func(s sdk) bool { return slices.Contains(s.presets, preset) })
	require.GreaterOrEqual(t, i, 0, preset)
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
			r, err := readRecording(recordingFile("testdata", "aws-js-v2"))
			require.NoError(t, err)
			tt.spoil(&r)
			assert.ErrorContains(t, r.check(s), tt.fault)
		})
	}
}

func recorded(t *testing.T) []recording {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	var all []recording
	for _, file := range files {
		r, err := readRecording(file)
		require.NoError(t, err)
		assert.Equal(t, r.Preset+".json", filepath.Base(file))
		all = append(all, r)
	}
	return all
}

// TestEveryPreset: each preset has one recording, except the repaired presets, which no
// SDK implements.
func TestEveryPreset(t *testing.T) {
	var want, run, have []string
	for preset := range awspreset.All() {
		if name := preset.String(); !strings.HasSuffix(name, "-repaired") {
			want = append(want, name)
		}
	}
	for _, s := range sdks {
		run = append(run, s.presets...)
	}
	for _, r := range recorded(t) {
		have = append(have, r.Preset)
	}
	assert.ElementsMatch(t, want, run)
	assert.ElementsMatch(t, want, have)
}

// TestExclusions: every excluded case differs, and every reason applies to a case.
func TestExclusions(t *testing.T) {
	server := newServer()
	defer server.Close()
	used := make(map[string]bool)
	for _, r := range recorded(t) {
		unit, err := nanosecondsIn(r.Unit)
		require.NoError(t, err)
		for _, c := range r.Cases {
			reason := exclusion(r.Preset, c.testCase)
			if reason == "" {
				continue
			}
			used[reason] = true
			played, err := runCase(server, r.Preset, c.testCase)
			require.NoError(t, err)
			differ := 0
			for i := range played {
				differ += len(differences(c.Observed[i], played[i], unit))
			}
			assert.Positive(t, differ, "%s: %s: %s", r.Preset, c.id(), reason)
		}
	}
	for _, e := range exclusions {
		assert.True(t, used[e.reason], "%v: %v: %s", e.preset, e.id, e.reason)
	}
}

func TestChanges(t *testing.T) {
	made := func(change func(*recording)) recording {
		r := recording{Preset: "p", SDK: "sdk 1", Unit: "s", Cases: []recordedCase{
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
		{"other unit", func(r *recording) { r.Unit = "ms" }, []string{`p: the unit was "s" and is "ms"`}},
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

func TestWrite(t *testing.T) {
	file := recordingFile(t.TempDir(), "aws-java-v1-legacy")
	for _, r := range recorded(t) {
		require.NoError(t, r.write(file))
		again, err := readRecording(file)
		require.NoError(t, err)
		assert.Empty(t, again.changes(r))
		assert.Equal(t, r.lines(), again.lines())
	}
}

func TestDigest(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"An error occurred (SlowDown) when calling: scripted response 3": "An error occurred (SlowDown) when calling: scripted response 3",
		"scripted response 2":                              "scripted response 2",
		"operation error STS: id 7f: scripted response 12": "operation error STS: scripted response 12",
		"Could not connect to the endpoint: http":          "Could not connect to the endpoint",
	} {
		assert.Equal(t, want, digest(text), text)
	}
}
