package retryotel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/attribute"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/cyclic"
)

// TestEndlessErrors: attempts that fail with an error that wraps itself are counted like others.
func TestEndlessErrors(t *testing.T) {
	tel := newTelemetry()
	policy := tel.Instrument(retry.Policy{MaxAttempts: 2, Backoff: retry.NoDelay{}}, "fetch page")
	ring := &cyclic.Error{}
	ctx, cancel := context.WithCancel(t.Context())
	assert.Error(t, retry.Do(ctx, policy, func(context.Context) error {
		cancel()
		return ring
	}))
	assert.Less(t, ring.Steps, 10_000)
	assert.Equal(t, "*cyclic.Error", attributes(tel.spans.Ended()[0])[attribute.Key("error.type")])
}
