package lab

import (
	"slices"
	"strings"
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
	tests := map[string]retry.Policy{
		"none":                         {Backoff: retry.NoDelay{}},
		"full base=100ms cap=20s":      {Backoff: retry.FullJitter{Base: 100 * time.Millisecond, Cap: 20 * time.Second}},
		"none budget=aws":              {Backoff: retry.NoDelay{}, Budget: &retry.TokenBudget{}},
		"none budget=bucket:500:5:10":  {Backoff: retry.NoDelay{}, Budget: &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}}},
		"budget=bucket:100:7 none":     {Backoff: retry.NoDelay{}, Budget: &retry.TokenBudget{Capacity: 100, Costs: retry.TokenCosts{Transient: 7, Timeout: 7, Throttled: 7}}},
		"none budget=throttle":         {Backoff: retry.NoDelay{}, Budget: &retry.ThrottleBudget{}},
		"none budget=throttle:100:0.2": {Backoff: retry.NoDelay{}, Budget: &retry.ThrottleBudget{MaxTokens: 100, TokenRatio: 0.2}},
		"none budget=ratio:0.1:0.5":    {Backoff: retry.NoDelay{}, Budget: &retry.RatioBudget{Ratio: 0.1, Floor: 0.5, Clock: clock}},
		"none limiter=adaptive":        {Backoff: retry.NoDelay{}, Limiter: &awspreset.AdaptiveLimiter{Clock: clock}},
		"known each=7ms":               {Backoff: KnownContenders{Each: 7 * time.Millisecond}},
		"version   base=300ms":         {Backoff: VersionSeen{Base: 300 * time.Millisecond}},
		"none slots=25ms first=200ms":  {Backoff: retry.NoDelay{}},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			c, err := ParseContender(text)
			require.NoError(t, err)
			assert.Equal(t, strings.Join(strings.Fields(text), " "), c.Name)
			want.Clock = clock
			got := c.Policy(clock)
			assert.Equal(t, want, got)
			if again := c.Policy(clock); got.Budget != nil {
				assert.NotSame(t, got.Budget, again.Budget)
			}
		})
	}
	c := contender(t, "none;slots=25ms,\tfirst=200ms")
	assert.Equal(t, "none slots=25ms first=200ms", c.Name)
	assert.Equal(t, 25*time.Millisecond, c.Slots)
	assert.Equal(t, 200*time.Millisecond, c.First)
	c = contender(t, "aws-standard-2026 budget=none")
	assert.Nil(t, c.Policy(clock).Budget)
	c = contender(t, "aws-standard-2026")
	one, two := c.Policy(clock), c.Policy(clock)
	assert.NotNil(t, one.Budget)
	assert.NotSame(t, one.Budget, two.Budget, "processes do not share a budget")
	c = contender(t, "aws-adaptive-2026")
	assert.Same(t, clock, c.Policy(clock).Limiter.(*awspreset.AdaptiveLimiter).Clock)
}

func TestParseContenderRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no policy",
		"   ":                       "no policy",
		"first=1s":                  "no policy",
		"ful base=1s":               `"ful"`,
		"full base=1":               `base`,
		"full budget=aws:1":         "1 numbers; aws takes 0 to 0",
		"full budget=bucket":        "0 numbers; bucket takes 2 to 3",
		"full budget=bucket:1:x":    `"x"`,
		"full budget=bucket:1:-2":   `"-2"`,
		"full budget=ratio:NaN":     `"NaN"`,
		"full budget=ratio:1:2:3":   "3 numbers; ratio takes 0 to 2",
		"full budget=much":          `unknown "much"; known are aws, bucket, none, ratio and throttle`,
		"full limiter=x":            `limiter "x": want adaptive`,
		"full first=0s":             "first: 0s is not above 0",
		"full first=1s,first=2s":    "first: given twice",
		"full limiter=":             "limiter: no value",
		"full slots=-1s":            "slots: -1s is not above 0",
		"full slots=7":              "slots: ",
		"known":                     "known takes one key, each=DURATION",
		"known each=1ms attempts=3": "known takes one key",
		"known each=x":              "each: ",
		"version each=1ms":          "version takes one key, base=DURATION",
	} {
		_, err := ParseContender(text)
		if assert.ErrorContains(t, err, want, text) {
			assert.NotContains(t, err.Error(), "\n", "one line")
		}
	}
}

func TestGroups(t *testing.T) {
	var names []string
	for _, c := range slices.Concat(Blog(), Informed(), SDKs()) {
		names = append(names, c.Name)
		assert.NoError(t, c.Policy(&retrytest.Clock{}).Validate(), c.Name)
	}
	for _, c := range Usual() {
		assert.NoError(t, c.Policy(&retrytest.Clock{}).Validate(), c.Name)
	}
	slices.Sort(names)
	assert.Len(t, slices.Compact(slices.Clone(names)), len(names), "a name is a name of one")
}

// The rules of this package are rules like all others.
func TestInformedBackoffs(t *testing.T) {
	retrytest.TestBackoff(t, KnownContenders{Each: 7 * time.Millisecond})
	retrytest.TestBackoff(t, VersionSeen{Base: time.Second})
	c := &Conflict{Contenders: 10, Window: time.Second, Commits: 94, Between: time.Second, RoundTrip: 10 * time.Millisecond}
	a := retry.Attempt{Number: 3, Err: c}
	assert.Equal(t, 35*time.Millisecond, KnownContenders{Each: 7 * time.Millisecond}.Delay(a, 0.5))
	rule := VersionSeen{Base: 300 * time.Millisecond}
	for commits, want := range map[int]time.Duration{0: 100 * time.Millisecond, 94: time.Second, 47: 250 * time.Millisecond, 900: 2 * time.Second} {
		c.Commits = commits
		assert.InDelta(t, want, rule.Delay(a, 1), 1000, "%d commits", commits)
	}
	c.Between = 0
	assert.Equal(t, 150*time.Millisecond, rule.Delay(a, 0.5), "one read tells nothing")
	c.hint = time.Second
	assert.Equal(t, time.Second, c.RetryAfter())
	assert.Equal(t, "conflict", c.Error())
	assert.Equal(t, time.Duration(1<<63-1), scale(1<<62, 4))
}
