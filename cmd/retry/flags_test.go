package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

// TestHelp: the short help fits on a screen, and the long help and the man page name every
// flag.
func TestHelp(t *testing.T) {
	assert.LessOrEqual(t, strings.Count(shortHelp(), "\n"), 24)
	page := man()
	for line := range strings.Lines(shortHelp() + longHelp()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
	}
	for _, o := range new(config).options() {
		assert.Contains(t, longHelp(), o.usage())
		assert.Contains(t, page, ".B "+roff(o.usage())+"\n")
		assert.Equal(t, o.common, strings.Contains(shortHelp(), o.usage()+"  "), o.name)
	}
}

var update = flag.Bool("update", false, "write the table of flags into docs/reference/command.md")

// TestDocs: the table of flags in docs/reference/command.md is that of the options.
func TestDocs(t *testing.T) {
	const file, begin, end = "../../docs/reference/command.md", "<!-- flags -->\n", "<!-- end -->"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), begin)
	require.True(t, ok)
	table, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	var b strings.Builder
	b.WriteString("| flag | meaning (default) |\n| --- | --- |\n")
	for _, o := range new(config).options() {
		initial := ""
		if o.initial != "" {
			initial = " (" + o.initial + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s%s |\n", o.usage(), o.help, initial)
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o644))
		return
	}
	assert.Equal(t, b.String(), table, "go test -run TestDocs -update")
}

func parse(t *testing.T, env string, args ...string) (*config, error) {
	t.Helper()
	variables := map[string]string{}
	for entry := range strings.FieldsSeq(env) {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	return parseFlags(args, func(name string) string { return variables[name] })
}

// TestParseFlags: separate flags override the policy, and arguments after the command's
// name belong to the command.
func TestParseFlags(t *testing.T) {
	c, err := parse(t, "", "--policy", "constant delay=1s attempts=9 timeout=1m", "-t", "4", "--timeout=2s", "cmd", "--timeout", "-q", "--")
	require.NoError(t, err)
	assert.Equal(t, 4, c.policy.Attempts())
	assert.Equal(t, 2*time.Second, c.policy.AttemptTimeout)
	assert.Equal(t, []string{"cmd", "--timeout", "-q", "--"}, c.args)
	assert.False(t, c.quiet)

	c, err = parse(t, "", "-q", "--kill-after", "0s", "--", "--odd-name")
	require.NoError(t, err)
	assert.Equal(t, []string{"--odd-name"}, c.args)
	assert.Zero(t, c.grace)
	assert.True(t, c.quiet)

	c, err = parse(t, "", "-qvt3", "-t4", "cmd", "-t5")
	require.NoError(t, err)
	assert.Equal(t, 4, c.policy.Attempts())
	assert.True(t, c.quiet && c.verbose)
	assert.Equal(t, []string{"cmd", "-t5"}, c.args)

	c, err = parse(t, "", "tcp:db:5432", "--deadline", "10s", "file:/x", "-t3", "--", "cmd", "--", "-t4", "tcp:x:1")
	require.NoError(t, err)
	assert.Equal(t, []target{{"tcp", "db:5432"}, {"file", "/x"}}, c.targets)
	assert.Equal(t, []string{"cmd", "--", "-t4", "tcp:x:1"}, c.args)
	assert.Equal(t, 10*time.Second, c.deadline)
	assert.Equal(t, 3, c.policy.Attempts())

	c, err = parse(t, "", "true")
	require.NoError(t, err)
	assert.Equal(t, 3, c.policy.Attempts())
	assert.Zero(t, c.policy.AttemptTimeout)
	assert.Equal(t, 5*time.Second, c.grace)
	assert.Equal(t, retry.EqualJitter{Base: time.Second, Cap: 20 * time.Second}, c.policy.Backoff)
}

// TestMisspelled: a variable that is almost a setting is reported, and those that retry sets for
// its command or that mean something else are not.
func TestMisspelled(t *testing.T) {
	environment := []string{
		"RETRY_ATEMPTS=5", "RETRY_DEADLNE=1m", "RETRY_ATTEMPT=2", "RETRY_MAX_ATTEMPTS=3", "RETRY_LAST_EXIT=1", "RETRY_DEADLINE_AT=1",
		"RETRY_ATTEMPTS=5", "RETRY_BEFORE_RETRY_MAY_FAIL=true", "RETRY_DATABASE_URL=x", "RETRY_MAX=3", "RETRY_=", "RETRY=1", "ATEMPTS=5",
	}
	assert.Equal(t, []string{
		"RETRY_ATEMPTS is not a setting; did you mean RETRY_ATTEMPTS?",
		"RETRY_DEADLNE is not a setting; did you mean RETRY_DEADLINE?",
	}, newConfig().misspelled(environment))
}

// TestSettings: the command line overrides the environment, and what it excludes is not read
// from there.
func TestSettings(t *testing.T) {
	for _, test := range []struct {
		name, env, args string
		want            string // the policy
		from            map[string]string
	}{
		{"environment", "RETRY_ATTEMPTS=5 RETRY_BASE=2s RETRY_TIMEOUT=1m", "true", "equal base=2s cap=20s attempts=5 timeout=1m",
			map[string]string{"attempts": "RETRY_ATTEMPTS", "base": "RETRY_BASE"}},
		{"command line first", "RETRY_ATTEMPTS=5", "-t 7 true", "equal base=1s cap=20s attempts=7", map[string]string{"attempts": "--attempts"}},
		{"empty", "RETRY_ATTEMPTS=", "true", "equal base=1s cap=20s attempts=3", nil},
		{"policy of the command line", "RETRY_BASE=5s", "--policy standard true", "standard attempts=3", map[string]string{"policy": "--policy"}},
		{"base of the command line", "RETRY_POLICY=none", "--base 2s true", "equal base=2s cap=20s attempts=3", map[string]string{"base": "--base"}},
		{"forever and attempts", "RETRY_ATTEMPTS=5", "--forever true", "equal base=1s cap=20s attempts=unlimited", map[string]string{"forever": "--forever"}},
		{"target", "RETRY_CAP=3s", "tcp:x:1", "equal base=100ms cap=3s attempts=unlimited timeout=5s",
			map[string]string{"cap": "RETRY_CAP", "deadline": "default of a target"}},
		{"target and attempts", "", "-t 2 tcp:x:1", "equal base=100ms cap=1s attempts=2 timeout=5s", map[string]string{"deadline": ""}},
		{"target and forever", "", "--forever tcp:x:1", "equal base=100ms cap=1s attempts=unlimited timeout=5s", map[string]string{"deadline": ""}},
		{"target and deadline", "", "--deadline 5s tcp:x:1", "equal base=100ms cap=1s attempts=unlimited timeout=5s", map[string]string{"deadline": "--deadline"}},
		{"target and rules without a cap", "", "--rule constant tcp:x:1", "constant delay=100ms attempts=unlimited timeout=5s", nil},
		{"target and no waits", "", "--rule no-delay tcp:x:1", "no-delay attempts=unlimited timeout=5s", nil},
		{"target and policy", "", "--policy none tcp:x:1", "none", map[string]string{"timeout": ""}},
		{"a command with the name of a target", "", "-- tcp:x:1", "equal base=1s cap=20s attempts=3", nil},
		{"constant", "", "--rule constant true", "constant delay=1s attempts=3", nil},
		{"full", "", "--rule full --cap 500ms true", "full base=500ms cap=500ms attempts=3", nil},
		{"schedule", "", "--policy schedule,delays=1s/2s true", "schedule delays=1s/2s attempts=3", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := parse(t, test.env, strings.Fields(test.args)...)
			require.NoError(t, err)
			assert.Equal(t, test.want, retryconfig.Policy{Policy: c.policy}.String())
			for name, origin := range test.from {
				assert.Equal(t, origin, c.given[name].origin, name)
			}
		})
	}
	for env, says := range map[string]string{
		"RETRY_ATTEMPTS=0":                  "RETRY_ATTEMPTS=0: must be",
		"RETRY_QUIET=yes":                   "RETRY_QUIET=yes: must be true or false",
		"RETRY_STDIN=x":                     "replay, pass, none",
		"RETRY_POLICY=none RETRY_BASE=1s":   "RETRY_POLICY and RETRY_BASE cannot be combined",
		"RETRY_FOREVER=1 RETRY_ATTEMPTS=10": "RETRY_FOREVER and RETRY_ATTEMPTS cannot be combined",
	} {
		_, err := parse(t, env, "true")
		assert.ErrorContains(t, err, says)
	}
}
