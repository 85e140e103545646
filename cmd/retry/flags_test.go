package main

import (
	"flag"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUsageText: the help fits on a screen and names every flag.
func TestUsageText(t *testing.T) {
	lines := strings.Split(usage, "\n")
	assert.LessOrEqual(t, len(lines), 24)
	for _, line := range lines {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	flags, _, _ := flagSet()
	flags.VisitAll(func(f *flag.Flag) { assert.Contains(t, usage, dashed(f.Name)) })
}

// TestParseFlags: separate flags override the policy, and arguments after the command's
// name belong to the command.
func TestParseFlags(t *testing.T) {
	c, err := parseFlags([]string{"--policy", "constant delay=1s attempts=9 timeout=1m", "-t", "4", "--timeout=2s", "cmd", "--timeout", "-q", "--"})
	require.NoError(t, err)
	assert.Equal(t, 4, c.policy.MaxAttempts)
	assert.Equal(t, 2*time.Second, c.policy.AttemptTimeout)
	assert.Equal(t, []string{"cmd", "--timeout", "-q", "--"}, c.args)
	assert.False(t, c.quiet)

	c, err = parseFlags([]string{"-q", "--kill-after", "0s", "--", "--odd-name"})
	require.NoError(t, err)
	assert.Equal(t, []string{"--odd-name"}, c.args)
	assert.Zero(t, c.grace)
	assert.True(t, c.quiet)

	c, err = parseFlags([]string{"true"})
	require.NoError(t, err)
	assert.Equal(t, 3, c.policy.MaxAttempts)
	assert.Zero(t, c.policy.AttemptTimeout)
	assert.Equal(t, 5*time.Second, c.grace)
	assert.Nil(t, c.policy.Backoff)
}
