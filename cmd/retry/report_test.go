//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestQuiet: retry prints nothing if the command succeeds, and with -q never anything.
func TestQuiet(t *testing.T) {
	assert.Empty(t, runRetry(t, "true").stderr)
	assert.Empty(t, runRetry(t, "-q", "false").stderr)
	assert.Regexp(t, `^retry: attempt 1 of 3 starts\nretry: attempt 1 of 3: success after \S+\n$`, runRetry(t, "-v", "true").stderr)
	r := runRetry(t, "-t", "2", "--deadline", "1h", "sh", "-c", "exit 7")
	assert.Regexp(t, `^retry: attempt 1 of 2: exit 7; next in \S+, deadline in (1h0m0s|59m\d+s)\nretry: attempt 2 of 2: exit 7; gave up after \S+\n$`, r.stderr)
}

// TestJSONFiles: lines are appended, "-" is standard output, and the names of open files do
// not truncate them.
func TestJSONFiles(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, flags, redirection string }{
		{"file", "--json " + dir + "/file", ""},
		{"standard error", "--json /dev/stderr", "2>>" + dir + "/file"},
		{"standard error without append", "--json /dev/stderr", "2<>" + dir + "/file 1>&2"},
		{"number", "--json /dev/fd/3", "3>>" + dir + "/file"},
		{"standard output", "--json -", ">>" + dir + "/file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			writeFile(t, dir+"/file", "", 0o600)
			c := newCommand(t)
			c.Path, c.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf("for i in 1 2; do echo before; %s -q %s true; echo after; done %s", os.Args[0], test.flags, test.redirection)}
			if !strings.Contains(test.redirection, ">") || strings.Contains(test.redirection, "3>") {
				c.Args[2] = strings.ReplaceAll(c.Args[2], "; done", "; done >>"+dir+"/file")
			} else if strings.HasPrefix(test.redirection, "2>>") {
				c.Args[2] += " >&2"
			}
			assert.Equal(t, 0, finish(t, c).status)
			data, err := os.ReadFile(dir + "/file")
			require.NoError(t, err)
			assert.Regexp(t, "^(before\n{\"type\":\"attempt\".*}\n{\"type\":\"summary\".*}\nafter\n){2}$", string(data))
		})
	}
	_, err := os.Stat("-")
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, exitFailure, runRetry(t, "--json", "/dev/fd/77", "true").status)
}

// TestGitHub: a step of GitHub Actions gets warnings and outputs.
func TestGitHub(t *testing.T) {
	outputs := filepath.Join(t.TempDir(), "outputs")
	writeFile(t, outputs, "other=1\n", 0o600)
	c := newCommand(t, "-t", "2", "--base", "1ms", "sh", "-c", "printf 100%% >&2; exit 7")
	c.Env = append(c.Env, "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+outputs)
	r := finish(t, c)
	assert.Regexp(t, `^100%\n::warning title=retry::attempt 1 of 2: exit 7; next in \S+\nretry: attempt 2 of 2: exit 7; gave up after \S+\n$`, strings.Replace(r.stderr, "100%retry", "retry", 1))
	data, err := os.ReadFile(outputs)
	require.NoError(t, err)
	assert.Equal(t, "other=1\nattempts=2\nexit_code=7\nreason=attempts\n", string(data))

	c = newCommand(t, "-t", "2", "--base", "1ms", "/no/such%\nfile")
	c.Env = append(c.Env, "GITHUB_ACTIONS=true", "GITHUB_OUTPUT=/no/such/folder/file")
	r = finish(t, c)
	assert.Equal(t, 127, r.status)
	assert.Contains(t, r.stderr, "retry: GITHUB_OUTPUT: open /no/such/folder/file: no such file")
}

// TestReason: programs get one of a few words, and people a sentence.
func TestReason(t *testing.T) {
	for _, test := range []struct {
		name, flags          string // separated by commas
		script, reason, says string
	}{
		{"success", "-v", "true", "success", ": success after "},
		{"attempts", "-t,2,--base,1ms", "exit 7", "attempts", "attempt 2 of 2: exit 7; gave up after "},
		{"not retried", "--stop-on,7", "exit 7", "permanent", "exit 7; not retried\n"},
		{"deadline in a run", "--deadline,LIMIT", "exec sleep 1000", "deadline", "ended by the deadline of LIMIT; gave up after "},
		{"deadline before a wait", "--deadline,1h,--base,2h,--rule,constant", "exit 7", "deadline", "s: a wait of 2h0m0s would end after the deadline of 1h0m0s\n"},
		{"deadline before the first run", "--deadline,LIMIT,--initial-delay,1h", "true", "deadline", "retry: gave up: the deadline of LIMIT is over\n"},
		{"deadline in --before-retry", "--deadline,LIMIT,--rule,no-delay,--before-retry,exec sleep 1000", "exit 7", "deadline", ": the deadline of LIMIT is over\n"},
		{"--before-retry", "--rule,no-delay,--before-retry,exit 3", "exit 7", "before-retry", ": --before-retry: exit 3\n"},
		{"elapsed", "--policy,schedule delays=1ms/2h elapsed=1h", "exit 7", "elapsed", "s: a wait of 2h0m0s would end after elapsed=1h0m0s of the policy\n"},
		{"budget", "--policy,no-delay budget=shared(reserve=1)", "exit 7", "budget", "s: the budget of the policy is used up\n"},
		{"signal", "", "kill -TERM $PPID; exec sleep 1000", "signal", "ended by SIGTERM after "},
		{"output", "--output,last", "echo text", "error", "cannot write the output: write /dev/stdout: no space left on device after "},
	} {
		t.Run(test.name, func(t *testing.T) {
			withLimits(t, func(trial assert.TestingT, limit string) {
				json, outputs := filepath.Join(t.TempDir(), "json"), filepath.Join(t.TempDir(), "outputs")
				args := []string{"--json", json, "--", "sh", "-c", test.script}
				if test.flags != "" {
					args = append(strings.Split(strings.ReplaceAll(test.flags, "LIMIT", limit), ","), args...)
				}
				c := newCommand(t, args...)
				c.Env = append(c.Env, "GITHUB_OUTPUT="+outputs)
				if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil && test.name == "output" {
					c.Stdout = full
					defer full.Close()
				}
				r := finish(t, c)
				assert.Contains(trial, r.stderr, strings.ReplaceAll(test.says, "LIMIT", limit))
				assert.Equal(trial, 1, count(t, json, `"reason":"`+test.reason+`"`))
				assert.Equal(trial, 1, count(t, outputs, "reason="+test.reason+"\n"))
			})
		})
	}
}

func TestCells(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"exit 7", 10, "exit 7"},
		{"exit 7", 4, "exit"},
		{"файл", 3, "фай"},
		{"ファイル", 5, "ファ"},
		{"exit 7", 0, ""},
		{"exit 7", -3, ""},
	} {
		got := cut(test.text, test.width)
		assert.Equal(t, test.want, got)
		assert.LessOrEqual(t, cells(got), max(test.width, 0))
	}
}

func TestOneLine(t *testing.T) {
	assert.Equal(t, "stat a; b c [31md: no such file", oneLine("stat a\nb\rc\x1b[31md: no such file"))
}

func TestJSON(t *testing.T) {
	withLimits(t, func(trial assert.TestingT, limit string) {
		file := filepath.Join(t.TempDir(), "report")
		r := runRetry(t, "-q", "--json", file, "--retry-on", "timeout,signal,7", "--timeout", limit, "-t", "4", "sh", "-c",
			`case $RETRY_ATTEMPT in 1) exit 7;; 2) kill -KILL $$;; 3) sleep 1000;; 4) exit 8;; esac`)
		assert.Equal(trial, 8, r.status)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var records []map[string]any
		for line := range strings.Lines(string(data)) {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record), line)
			records = append(records, record)
		}
		if !assert.Len(trial, records, 5) {
			return
		}
		for i, want := range []map[string]any{
			{"type": "attempt", "attempt": 1., "exit": 7., "error": "exit 7", "class": "transient"},
			{"type": "attempt", "attempt": 2., "exit": 137., "signal": "SIGKILL", "error": "signal 9 (SIGKILL)", "class": "transient"},
			{"type": "attempt", "attempt": 3., "exit": 124., "timeout": true, "error": "ended by the timeout of " + limit, "class": "timeout"},
			{"type": "attempt", "attempt": 4., "exit": 8., "error": "exit 8", "class": "permanent"},
			{"type": "summary", "attempts": 4., "exit": 8., "reason": "permanent"},
		} {
			record := records[i]
			assert.GreaterOrEqual(trial, record["seconds"], 0.)
			if i < 4 {
				_, err := time.Parse(time.RFC3339Nano, record["start"].(string))
				assert.NoError(t, err)
			}
			assert.Equal(trial, i < 3, record["wait"] != nil)
			for _, key := range []string{"seconds", "start", "wait"} {
				delete(record, key)
			}
			if record["signal"] == "SIGTERM" { // an attempt that a timeout ended
				delete(record, "signal")
			}
			assert.Equal(trial, want, record)
		}
	})
}
