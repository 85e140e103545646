package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHasPipe(t *testing.T) {
	for _, line := range []string{
		"a | b", "a|b", "a|&b", "a 2>&1 | tee log", "x=$(a | b)", "a || b | c", "(a | b)", "a | b; c", "a\nb | c\nd",
		"echo 'a' | b", `echo "a" | b`, `a \\| b`, "{ a | b; }", "a # first\nb | c", "a#b | c", "case $x in a|b) c | d;; esac",
		"[[ $x ]] && a | b", "((i++)); a | b", "a |", "for i in 1; do a | b; done",
	} {
		assert.True(t, hasPipe(line), line)
	}
	for _, line := range []string{
		"", "a", "a || b", "echo 'a | b'", `echo "a | b"`, `echo "a \" | b"`, `a \| b`, "a >| b", "a # | b", "case $x in a|b) c;; esac",
		"case $x in a | b ) c;; d|e) f;; esac", "[[ $x =~ a|b ]]", "((a|b))", "echo $((1|2))", "a 'b", "a#b", "#",
	} {
		assert.False(t, hasPipe(line), line)
	}
}

func TestHidesFailures(t *testing.T) {
	for command, want := range map[string]bool{
		"sh -c LINE":                            true,
		"/bin/bash -ec LINE":                    true,
		"bash -eu -o errexit -c LINE":           true,
		"bash -l -c LINE name":                  true,
		"sudo -u www sh -c LINE":                true,
		"docker exec web sh -c LINE":            true,
		"env A=1 bash -c LINE":                  true,
		"bash -o pipefail -c LINE":              false,
		"bash -euo pipefail -c LINE":            false,
		"bash -c set_-o_pipefail;LINE":          false,
		"bash script LINE":                      false,
		"bash":                                  false,
		"sh -c":                                 false,
		"echo LINE":                             false,
		"bash +o pipefail -c LINE":              false, // somebody knows
		"bash --norc -c LINE":                   true,
		"bash -O extglob -c LINE":               true,
		"kubectl exec deploy/web -- sh -c LINE": true,
		"python -c LINE":                        false,
		"bash script -c LINE":                   false,
	} {
		args := strings.Fields(strings.ReplaceAll(command, "LINE", "curl|tee"))
		assert.Equal(t, want, hidesFailures(args), command)
	}
	assert.False(t, hidesFailures([]string{"sh", "-c", "curl >log"}))
}
