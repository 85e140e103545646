package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const small = `
rate: 70
capacity: 100
queue: 2000
processes: 10
from: 10s
to: 12s
horizon: 60s
policies:
  - none
  - {rule: full, base: 100ms, attempts: 4, budget: shared}
`

// The file that init writes contains every flag that describes a system, and storm can read
// the file.
func TestInit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	status, stdout, stderr := backofflab(t.Context(), "init", path)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "storm -system")
	status, _, stderr = backofflab(t.Context(), "init", path)
	assert.Equal(t, misused, status)
	assert.Contains(t, stderr, "exists")
	status, text, _ := backofflab(t.Context(), "init", "-")
	require.Zero(t, status)
	for _, name := range []string{
		"rate", "capacity", "service", "latency", "queue", "lifo", "drop-expired", "refusal", "full-status", "failures", "processes",
		"timeout", "deadline", "outage", "from", "to", "share", "horizon", "policies",
	} {
		assert.Regexp(t, "(?m)^#? ?"+name+":", text)
	}
	status, stdout, stderr = backofflab(t.Context(), "storm", "-system", path, "-trials", "1", "-rate", "70")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "full base=100ms cap=20s attempts=4 budget=shared")
}

// The rate follows from a capacity, and one above it is reported.
func TestRate(t *testing.T) {
	trial := []string{"storm", "-policy", "none", "-trials", "1", "-capacity", "100"}
	status, stdout, stderr := backofflab(t.Context(), trial...)
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr)
	assert.Regexp(t, `\(no retry\) .* [0-9.]+ +1\.03\n`, stdout)
	status, stdout, stderr = backofflab(t.Context(), append(trial, "-rate", "700")...)
	require.Zero(t, status, stderr)
	assert.Contains(t, stderr, "the rate, 700 calls a second, is above the capacity of the server, 100")
	assert.Equal(t, 2, strings.Count(stdout, "never"), stdout)
}

// The commands and the file that init writes describe the same system.
func TestDefaults(t *testing.T) {
	want, err := lab.Storm{}.WithDefaults()
	require.NoError(t, err)
	want.Seed = 1
	_, text, _ := backofflab(t.Context(), "init", "-")
	comments := regexp.MustCompile(`(?m)^# (outage|from|to|share|horizon): `)
	require.Len(t, comments.FindAllString(text, -1), 5)
	written := file(t, "system.yaml", comments.ReplaceAllString(text, "$1: "))
	for name, args := range map[string][]string{"flags": nil, "file": {"-system", written}} {
		env := &environment{stderr: io.Discard}
		storm, _, err := env.storm(env.flags("storm", ""), args)
		require.NoError(t, err)
		storm.Contenders = nil
		assert.Equal(t, want, storm, name)
		advice, err := env.advice().Storm.WithDefaults()
		require.NoError(t, err)
		assert.Equal(t, want, advice, name)
	}
	_, none, _ := backofflab(t.Context(), "storm", "-trials", "1", "-policy", "none", "-failures", "0", "-csv", "-")
	_, some, _ := backofflab(t.Context(), "storm", "-trials", "1", "-policy", "none", "-csv", "-")
	assert.NotEqual(t, none, some, "0 is none, not the default")
}

func TestSystemFile(t *testing.T) {
	path := file(t, "system.yaml", small)
	status, byFile, stderr := backofflab(t.Context(), "storm", "-system", path, "-trials", "2", "-csv", "-")
	require.Zero(t, status, stderr)
	flags := []string{
		"storm", "-trials", "2", "-csv", "-", "-workers", "1", "-queue", "2000", "-processes", "10", "-from", "10s", "-to", "12s",
		"-horizon", "60s", "-policy", "none", "-policy", "full base=100ms attempts=4 budget=shared",
	}
	_, byFlags, _ := backofflab(t.Context(), append(flags, "-rate", "70")...)
	assert.Equal(t, byFlags, byFile)
	_, mixed, _ := backofflab(t.Context(), "storm", "-system", path, "-trials", "2", "-csv", "-", "-rate", "40")
	_, byFlags, _ = backofflab(t.Context(), append(flags, "-rate", "40")...)
	assert.Equal(t, byFlags, mixed, "flags take precedence")
	for text, want := range map[string]string{
		"rat: 5":                `line 1: unknown key "rat"; did you mean rate? There are`,
		"rate: [5]":             "line 1: rate: want one value",
		"queue: 5\nrate: fast":  `line 2: rate: "fast"`,
		"policies: 5":           "policies: want a list",
		"policies: [{rule: x}]": `unknown name "x"`,
		"rate: 0":               "rate: 0 is not above 0",
		"- 5":                   "system",
		"outage: fire":          `line 1: outage: "fire": unknown outage`,
	} {
		status, _, stderr := backofflab(t.Context(), "storm", "-system", file(t, "x.yaml", text))
		assert.Equal(t, misused, status, text)
		assert.Contains(t, stderr, want, text)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
	}
}

func TestMeasuredLatency(t *testing.T) {
	path := file(t, "system.yaml", small)
	latency := file(t, "latency.prom", "a_bucket{le=\"0.005\"} 50\na_bucket{le=\"0.015\"} 100\n")
	html := filepath.Join(t.TempDir(), "x.html")
	status, _, stderr := backofflab(t.Context(), "report", "-system", path, "-trials", "1", "-capacity", "160", "-latency", latency,
		"-html", html)
	require.Zero(t, status, stderr)
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Contains(t, string(report), "0.00625 s on average, as measured, and 0.015 s at most")
	assert.Contains(t, string(report), "1.0\u00a0% of the attempts fail at any time")
}
