package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
)

// A Model is one of several that can answer.
type Model struct {
	Name   string
	Ask    func(ctx context.Context, question string) (string, error) // without retries of its own
	Budget retry.SharedBudget
	down   atomic.Int64 // until then, in nanoseconds since 1970
}

// askAny asks the first model that is not down, and the next one if it gives up.
func askAny(ctx context.Context, models []*Model, question string) (string, error) {
	errs := []error{errors.New("no model can answer now")}
	for _, m := range models {
		if time.Now().UnixNano() < m.down.Load() {
			continue
		}
		policy := retry.Policy{
			MaxAttempts: 2,
			Hint:        retry.HintOrGiveUp{Max: 2 * time.Second}, // for a longer wait, ask the next model
			Budget:      &m.Budget,
		}
		answer, err := retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) { return m.Ask(ctx, question) })
		if err == nil {
			return answer, nil
		}
		v := policy.Classify(err)
		if ctx.Err() != nil || !v.GaveUp {
			return "", err // the next model would refuse this question, too
		}
		wait := cmp.Or(v.Hint, 30*time.Second)
		m.down.Store(time.Now().Add(wait).UnixNano())
		errs = append(errs, fmt.Errorf("%s: %w", m.Name, err))
	}
	return "", errors.Join(errs...)
}
