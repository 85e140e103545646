package retryaws_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
)

// ring is an error that wraps itself. It counts the steps of those who look into it, and ends after
// far too many, so that a test fails instead of hanging.
type ring struct{ steps int }

func (*ring) Error() string { return "ring" }

func (r *ring) Unwrap() error {
	r.steps++
	if r.steps > 1_000_000 {
		return nil
	}
	return r
}

// TestEndlessErrors: the SDK looks into an error of its HTTP client for ever if it wraps itself. The
// functions of this package do not, whoever calls them.
func TestEndlessErrors(t *testing.T) {
	endless := &ring{}
	assert.Equal(t, retry.Verdict{Class: retry.ClassPermanent}, retryaws.SDKRules{}.Classify(endless))
	r, err := retryaws.New(retry.Policy{Budget: newLedger()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	token, err := r.GetAttemptToken(ctx)
	require.NoError(t, err)
	cancel()
	require.NoError(t, token(endless))
	assert.False(t, r.IsErrorRetryable(endless))
	_, err = r.RetryDelay(1, endless)
	require.NoError(t, err)
	_, err = r.GetRetryToken(t.Context(), endless)
	require.NoError(t, err)
	assert.Less(t, endless.steps, 100_000)
}
