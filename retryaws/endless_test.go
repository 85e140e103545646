package retryaws_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/cyclic"
	"github.com/gobackoff/retry/retryaws"
)

// TestEndlessErrors: the SDK looks into an error of its HTTP client for ever if it wraps itself. The
// functions of this package do not, whoever calls them.
func TestEndlessErrors(t *testing.T) {
	ring := &cyclic.Error{}
	assert.Equal(t, retry.Verdict{Class: retry.ClassPermanent}, retryaws.SDKRules{}.Classify(ring))
	r, err := retryaws.New(retry.Policy{Budget: newLedger()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	token, err := r.GetAttemptToken(ctx)
	require.NoError(t, err)
	cancel()
	require.NoError(t, token(ring))
	assert.False(t, r.IsErrorRetryable(ring))
	_, err = r.RetryDelay(1, ring)
	require.NoError(t, err)
	_, err = r.GetRetryToken(t.Context(), ring)
	require.NoError(t, err)
	assert.Less(t, ring.Steps, 100_000)
}
