package lab

import (
	"slices"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
	"github.com/stretchr/testify/assert"
)

func TestParseContender(t *testing.T) {
	clock := &retrytest.Clock{}
	c := contender(t, " full  base=100ms,cap=20s budget=ratio(ratio=0.1) ")
	assert.Equal(t, "full base=100ms cap=20s attempts=3 budget=ratio(ratio=0.1)", c.Name)
	assert.Equal(t, retry.Policy{
		Backoff: retry.FullJitter{Base: 100 * time.Millisecond, Cap: 20 * time.Second},
		Budget:  &RatioBudget{Ratio: 0.1, Clock: clock}, Clock: clock,
	}, c.Policy(clock))
	c = contender(t, "aws-standard-2.1")
	one, two := c.Policy(clock), c.Policy(clock)
	assert.NotNil(t, one.Budget)
	assert.NotSame(t, one.Budget, two.Budget, "processes do not share a budget")
	c = contender(t, "aws-standard-2.1 limiter=adaptive")
	assert.Same(t, clock, c.Policy(clock).Limiter.(*awspreset.AdaptiveLimiter).Clock)
	for text, want := range map[string]string{
		"":                  "no policy",
		"   ":               "no policy",
		"first=1s":          `"first"`,
		"ful base=1s":       `"ful"`,
		"known each=7ms":    `"known"`,
		"no-delay slots=1s": `"slots"`,
		"retry-on=503":      "no codes for retry-on",
	} {
		_, err := ParseContender(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestGroups(t *testing.T) {
	var names []string
	for _, c := range slices.Concat(Blog(), Fibonacci(), SDKs()) {
		names = append(names, c.Name)
		assert.NoError(t, c.Policy(&retrytest.Clock{}).Validate(), c.Name)
	}
	for _, c := range Usual() {
		assert.NoError(t, c.Policy(&retrytest.Clock{}).Validate(), c.Name)
	}
	slices.Sort(names)
	assert.Len(t, slices.Compact(slices.Clone(names)), len(names), "names are unique")
}
