package lab

import (
	"slices"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseContender(t *testing.T) {
	clock := &retrytest.Clock{}
	c := contender(t, " full  base=100ms,cap=20s budget=ratio(ratio=0.1) ")
	assert.Equal(t, "full base=100ms cap=20s attempts=3 budget=ratio(ratio=0.1)", c.Name)
	assert.Equal(t, retry.Policy{
		Backoff: retry.FullJitter{Base: 100 * time.Millisecond, Cap: 20 * time.Second},
		Budget:  &retry.RatioBudget{Ratio: 0.1, Clock: clock}, Clock: clock,
	}, c.Policy(clock))
	c = contender(t, "aws-standard-2026")
	one, two := c.Policy(clock), c.Policy(clock)
	assert.NotNil(t, one.Budget)
	assert.NotSame(t, one.Budget, two.Budget, "processes do not share a budget")
	c = contender(t, "aws-adaptive-2026")
	assert.Same(t, clock, c.Policy(clock).Limiter.(*awspreset.AdaptiveLimiter).Clock)
	for text, want := range map[string]string{
		"":               "no policy",
		"   ":            "no policy",
		"first=1s":       `"first"`,
		"ful base=1s":    `"ful"`,
		"known each=7ms": `"known"`,
		"none slots=1s":  `"slots"`,
	} {
		_, err := ParseContender(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestGroups(t *testing.T) {
	var names []string
	for _, c := range slices.Concat(Blog(), Fibonacci(), Informed(), SDKs()) {
		names = append(names, c.Name)
		assert.NoError(t, c.Policy(&retrytest.Clock{}).Validate(), c.Name)
	}
	for _, c := range Usual() {
		assert.NoError(t, c.Policy(&retrytest.Clock{}).Validate(), c.Name)
	}
	slices.Sort(names)
	assert.Len(t, slices.Compact(slices.Clone(names)), len(names), "names are unique")
}

func TestInformedBackoffs(t *testing.T) {
	retrytest.TestBackoff(t, KnownContenders{Each: 7 * time.Millisecond})
	retrytest.TestBackoff(t, versionSeen{Base: time.Second})
	c := &Conflict{Contenders: 10, Window: time.Second, Commits: 94, Between: time.Second, RoundTrip: 10 * time.Millisecond}
	a := retry.Attempt{Number: 3, Err: c}
	assert.Equal(t, 35*time.Millisecond, KnownContenders{Each: 7 * time.Millisecond}.Delay(a, 0.5))
	rule := versionSeen{Base: 300 * time.Millisecond}
	for commits, want := range map[int]time.Duration{0: 100 * time.Millisecond, 94: time.Second, 47: 250 * time.Millisecond, 900: 2 * time.Second} {
		c.Commits = commits
		assert.InDelta(t, want, rule.Delay(a, 1), 1000, "%d commits", commits)
	}
	c.Between = 0
	assert.Equal(t, 150*time.Millisecond, rule.Delay(a, 0.5), "one read tells nothing")
	assert.True(t, needsConflict(retry.Capped{Of: &rule}))
	assert.False(t, needsConflict(retry.Capped{Of: retry.FullJitter{}}))
	c.hint = time.Second
	assert.Equal(t, time.Second, c.RetryAfter())
	assert.Equal(t, "conflict", c.Error())
	assert.Equal(t, time.Duration(1<<63-1), scale(1<<62, 4))
}

func rollout(t testing.TB, old, new string, share float64) Contender {
	t.Helper()
	c, err := Rollout(contender(t, old), contender(t, new), share)
	require.NoError(t, err)
	return c
}
