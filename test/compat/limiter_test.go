package compat

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/time/rate"

	"github.com/gobackoff/retry"
)

// TestRateLimiter: a call whose turn would come after MaxElapsed gives up at once with ErrMaxElapsed,
// although the limiter's error says only in its text that the deadline is the reason.
func TestRateLimiter(t *testing.T) {
	limiter := rate.NewLimiter(rate.Every(time.Hour), 1)
	policy := retry.Policy{MaxElapsed: time.Minute, Limiter: limiter}
	succeeds := func(context.Context) error { return nil }
	assert.NoError(t, retry.Do(t.Context(), policy, succeeds))
	assert.ErrorIs(t, retry.Do(t.Context(), policy, succeeds), retry.ErrMaxElapsed)
}
