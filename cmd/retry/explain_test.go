package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	text, err := explain([]string{"exponential", "base=1s", "cap=4s", "attempts=5"})
	require.NoError(t, err)
	_, plan, _ := strings.Cut(text, "\n\n")
	assert.Equal(t, `exponential base=1s cap=4s attempts=5: 5 attempts if all fail

  retry       min      mean       p99       max
      1        1s        1s        1s        1s  =======
      2        2s        2s        2s        2s  ===============
      3        4s        4s        4s        4s  ==============================
      4        4s        4s        4s        4s  ==============================
  total       11s       11s       11s       11s

The wait before each retry; = is up to the mean, - up to the longest.
`, plan)
	text, err = explain([]string{"full base=1s cap=1s attempts=30 timeout=2s elapsed=1h"})
	require.NoError(t, err)
	assert.Contains(t, text, "30 attempts if all fail, no wait beyond 1h0m0s, each at most 2s")
	assert.Contains(t, text, "===============---------------")
	assert.Contains(t, text, "      …\n")
	t.Setenv("RETRY_CAP", "9s")
	text, err = explain([]string{"--attempts", "2"})
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^attempts +2 +--attempts\nbase +1s +default\ncap +9s +RETRY_CAP$`, text)
	text, err = explain([]string{"standard attempts=1"})
	require.NoError(t, err)
	assert.Contains(t, text, "no retry")
	for rule, want := range map[string]string{"no-delay elapsed=1m": "3", "no-delay attempts=unlimited": "unlimited", "no-delay attempts=300": "300", "elapsed=1m": "unlimited"} {
		text, err = explain([]string{rule})
		require.NoError(t, err)
		assert.Contains(t, text, ": "+want+" attempts if all fail", rule)
	}
}

// TestExplainRows: only settings that apply are listed.
func TestExplainRows(t *testing.T) {
	for _, test := range []struct {
		name, args string
		want       []string // names, values and origins
	}{
		{"a policy", "aws-standard-2.1", []string{"policy aws-standard-2.1 argument"}},
		{"a policy of several words", "full base=1s attempts=9", []string{"policy full base=1s attempts=9 argument"}},
		{"a policy and flags around it", "--timeout 3s standard -t4", []string{"attempts 4 --attempts", "policy standard argument", "timeout 3s --timeout"}},
		{"no wait", "--rule no-delay --stdin none", []string{"attempts 3 default", "rule no-delay --rule", "kill-after 5s default", "until 0 default", "consecutive 1 default", "stdin none --stdin", "output pass default"}},
		{"a constant wait", "--rule constant -t 2 --while 0 -- curl -f x", []string{"attempts 2 --attempts", "base 1s default", "rule constant --rule", "kill-after 5s default", "while 0 --while", "consecutive 1 default", "stdin auto default", "output pass default"}},
		{"base above the usual cap", "--base 1m --forever --while 1 --output last --stdin pass", []string{"forever true --forever", "base 1m --base", "cap 1m0s default", "rule equal default", "kill-after 5s default", "while 1 --while", "consecutive 1 default", "stdin pass --stdin", "output last --output"}},
		{"a target", "file:/x --deadline 9s", []string{"forever true default of a target", "base 100ms default of a target", "cap 1s default of a target", "rule equal default", "timeout 5s default of a target", "deadline 9s --deadline", "consecutive 1 default"}},
		{"a server", "http://x -t 1", []string{"attempts 1 --attempts", "base 100ms default of a target", "cap 1s default of a target", "rule equal default", "timeout 5s default of a target", "consecutive 1 default", "http-status 200-399 default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := explain(strings.Fields(test.args))
			require.NoError(t, err)
			rows, _, _ := strings.Cut(text, "\n\n")
			var got []string
			for line := range strings.Lines(rows) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestPresets(t *testing.T) {
	text := presets()
	for _, name := range append(presetNames(), ruleNames...) {
		assert.Contains(t, text, name)
	}
}

// TestCompletion: each installed shell can parse its completion script, and bash
// completes words with its script.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			script, err := completion([]string{shell})
			require.NoError(t, err)
			for _, name := range []string{"retry-on-output", "aws-standard-2.1", "decorrelated"} {
				assert.Contains(t, script, name)
			}
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("needs " + shell)
			}
			file := filepath.Join(t.TempDir(), "script")
			writeFile(t, file, script, 0o600)
			out, err := exec.Command(path, "-n", file).CombinedOutput()
			require.NoError(t, err, "%s", out)
			switch shell {
			case "zsh":
				assert.Contains(t, script, "'--json=[append a line of JSON for each run and for the whole]:file:_files'")
				return
			case "fish":
				checkFish(t, path, file)
				return
			}
			for line, want := range map[string]string{
				"retry --retry-on-o":         "--retry-on-output",
				"retry --policy aws-java-v2": "aws-java-v2-legacy aws-java-v2-standard-2.0",
				"retry --output ":            "pass last success",
				"retry -t 3 expl":            "explain",
				"retry completion f":         "fish",
			} {
				words := strings.Split(line, " ")
				script := `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _retry; echo "${COMPREPLY[@]}"`
				out, err := exec.Command(path, append([]string{"-c", script, file}, words...)...).CombinedOutput()
				require.NoError(t, err)
				assert.Equal(t, want, strings.TrimSpace(string(out)), line)
			}
		})
	}
}

// checkFish completes words in fish, also of the wrapped command.
func checkFish(t *testing.T, fish, script string) {
	t.Helper()
	for line, want := range map[string]string{
		"retry --retry-on-o":                        "--retry-on-output\tretry failed runs whose output matches",
		"retry --policy aws-java-v2-l":              "aws-java-v2-legacy",
		"retry -t 3 ls --almost":                    "--almost-all",
		"retry --timeout 5s -- ls --almost":         "--almost-all",
		"retry completion f":                        "fish",
		"retry --output last -q git commit --amend": "--amend",
	} {
		c := exec.Command(fish, "-c", "source $argv[1]; complete -C $argv[2]", script, line)
		c.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), want, line)
	}
}
