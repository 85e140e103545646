package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

func TestParsePolicy(t *testing.T) {
	for _, test := range []struct {
		text     string
		attempts int
		backoff  retry.Backoff
	}{
		{"", 3, nil},
		{"standard", 3, nil},
		{"standard attempts=6", 6, nil},
		{"standard,attempts=6", 6, nil},
		{"attempts=unlimited", retry.Unlimited, nil},
		{"full base=1s cap=1m attempts=5", 5, retry.FullJitter{Base: time.Second, Cap: time.Minute}},
		{"schedule delays=1s/2s/4s", 4, retry.Schedule{time.Second, 2 * time.Second, 4 * time.Second}},
		{"constant delay=1s", 3, retry.Constant(time.Second)},
		{"elapsed=1m", retry.Unlimited, nil},
	} {
		t.Run(test.text, func(t *testing.T) {
			p, err := parsePolicy(test.text)
			require.NoError(t, err)
			assert.Equal(t, test.attempts, p.Attempts())
			assert.Equal(t, test.backoff, p.Backoff)
		})
	}
}

// TestPolicyCodes: the codes of a policy are refused, however they are written.
func TestPolicyCodes(t *testing.T) {
	for _, text := range []string{"retry-on=503", "full base=1s retry-on = 503", "full base=1s,stop-on =\t503"} {
		_, err := parsePolicy(text)
		assert.ErrorContains(t, err, "LIST for statuses of the command", text)
	}
}

// TestNames: every name that is suggested or completed is valid.
func TestNames(t *testing.T) {
	for _, name := range ruleNames {
		_, err := parsePolicy(name)
		if err != nil { // the rule needs keys
			assert.NotContains(t, err.Error(), "unknown", name)
		}
	}
	require.NotEmpty(t, presetNames())
	for _, name := range presetNames() {
		p, err := parsePolicy(name)
		require.NoError(t, err)
		assert.Positive(t, p.MaxAttempts, name)
	}
}

func TestRuleText(t *testing.T) {
	for _, test := range []struct {
		rule        string
		base, limit time.Duration
		want        string
	}{
		{"", 0, 0, "equal base=1s cap=20s"},
		{"", time.Second, 0, "equal base=1s cap=20s"},
		{"", time.Minute, 0, "equal base=1m0s cap=1m0s"},
		{"", 0, time.Minute, "equal base=1s cap=1m0s"},
		{"", 0, time.Millisecond, "equal base=1ms cap=1ms"},
		{"constant", time.Second, 0, "constant delay=1s"},
		{"exponential", time.Second, time.Minute, "exponential base=1s cap=1m0s"},
		{"no-delay", 0, 0, "no-delay"},
	} {
		text := ruleText(ruleDefaults(test.rule, test.base, test.limit))
		assert.Equal(t, test.want, text)
		_, err := parsePolicy(text)
		assert.NoError(t, err, text)
	}
}

func TestDidYouMean(t *testing.T) {
	assert.Empty(t, didYouMean("something", ruleNames))
	assert.Equal(t, `; did you mean "linear"?`, didYouMean("linaer", ruleNames))
}
