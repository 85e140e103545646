package retryotel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/attribute"

	"github.com/gobackoff/retry"
)

// ring is an error that wraps itself. It counts the steps of those who look into it, and ends after
// far too many, so that a test fails instead of hanging.
type ring struct{ steps int }

func (*ring) Error() string { return "ring" }

func (r *ring) Unwrap() error {
	r.steps++
	if r.steps > 100_000 {
		return nil
	}
	return r
}

// TestEndlessErrors: attempts that fail with an error that wraps itself are counted like others.
func TestEndlessErrors(t *testing.T) {
	tel := newTelemetry()
	policy := tel.Instrument(retry.Policy{MaxAttempts: 2, Backoff: retry.NoDelay{}}, "fetch page")
	endless := &ring{}
	ctx, cancel := context.WithCancel(t.Context())
	assert.Error(t, retry.Do(ctx, policy, func(context.Context) error {
		cancel()
		return endless
	}))
	assert.Less(t, endless.steps, 10_000)
	assert.Equal(t, "*retryotel_test.ring", attributes(tel.spans.Ended()[0])[attribute.Key("error.type")])
}
