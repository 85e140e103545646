package awspreset_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// TestLongPoll: only a call that the budget alone has ended waits once more.
func TestLongPoll(t *testing.T) {
	const s = time.Second
	for name, tt := range map[string]struct {
		change func(*retry.Policy)
		err    error
		waits  []time.Duration
	}{
		"refused":                     {func(*retry.Policy) {}, errOp, []time.Duration{s}},
		"refused, with a hint":        {func(*retry.Policy) {}, retry.After(errOp, 3*s), []time.Duration{3 * s}},
		"refused at the second retry": {func(p *retry.Policy) { p.Budget = &awspreset.TokenBudget{Capacity: 14} }, errOp, []time.Duration{s, s}},
		"permanent":                   {func(*retry.Policy) {}, retry.Permanent(errOp), nil},
		"no attempt left":             {func(p *retry.Policy) { p.MaxAttempts = 1 }, errOp, nil},
		"no time left":                {func(p *retry.Policy) { p.MaxElapsed = s / 2 }, errOp, nil},
		"no budget":                   {func(p *retry.Policy) { p.Budget, p.MaxAttempts = nil, 2 }, errOp, []time.Duration{s}},
		"success":                     {func(*retry.Policy) {}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &retrytest.Clock{}
			p := retry.Policy{Backoff: retry.Constant(s), Budget: &awspreset.TokenBudget{Capacity: 1}, Clock: clock, Hint: retry.HintAtLeast{Exact: true}}
			tt.change(&p)
			err := retry.Do(t.Context(), p, retrytest.Script(tt.err).Run)
			assert.Equal(t, err, awspreset.LongPoll(t.Context(), p, err))
			assert.Equal(t, tt.waits, clock.Waits())
		})
	}
}

// TestLongPollEnds: the wait ends with the context, and the wait of a wrapped error counts.
func TestLongPollEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		p := retry.Policy{Backoff: retry.Constant(time.Minute), Budget: &awspreset.TokenBudget{Capacity: 1}}
		refused := retry.Do(ctx, p, retrytest.Script(errOp).Run)
		require.ErrorIs(t, refused, retry.ErrBudget)
		start := time.Now()
		err := awspreset.LongPoll(ctx, p, fmt.Errorf("receive: %w", refused))
		assert.Equal(t, time.Second, time.Since(start))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errOp)
	})
}
