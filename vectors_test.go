package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/vectors"
)

type ruleCase struct {
	Rule struct {
		Jitter string
		Base   float64 `json:"base_ms"`
		Cap    float64 `json:"cap_ms"`
		Factor float64
	}
	Attempt int
	Waited  float64 `json:"waited_ms"`
	Random  float64
}

// TestRuleVectors: the strategies compute the delays of published rules.
func TestRuleVectors(t *testing.T) {
	inMs := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	for _, set := range []string{"delay/blog", "delay/general-reference", "delay/grpc-a6"} {
		r := vectors.Check(t, set, func(_ string, c ruleCase) any {
			base, limit := inMs(c.Rule.Base), inMs(c.Rule.Cap)
			rule := map[string]retry.Backoff{
				"none":         retry.Exponential{Base: base, Cap: limit, Factor: c.Rule.Factor},
				"full":         retry.FullJitter{Base: base, Cap: limit, Factor: c.Rule.Factor},
				"equal":        retry.EqualJitter{Base: base, Cap: limit, Factor: c.Rule.Factor},
				"decorrelated": retry.DecorrelatedJitter{Base: base, Cap: limit},
			}[c.Rule.Jitter]
			delay := rule.Delay(retry.Attempt{Number: c.Attempt, Waited: inMs(c.Waited)}, c.Random)
			return map[string]float64{"wait_ms": float64(delay) / float64(time.Millisecond)}
		})
		assert.Equal(t, r.Answers.All, r.Answers.Of, "%s: %v", set, r)
		assert.Zero(t, r.Skipped)
	}
}
