package locks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

// The following Go code is also in docs/libraries.md.

// nightly writes a report when no other process does.
func nightly(ctx context.Context, lease Lease, write func(ctx context.Context, fence int64) error) error {
	policy := retry.Policy{Backoff: retry.EqualJitter{Base: time.Second, Cap: 5 * time.Second}, MaxElapsed: time.Minute}
	return Hold(ctx, policy, lease, 30*time.Second, func(ctx context.Context, fence int64) error {
		return write(ctx, fence)
	})
}

// TestNightly: two processes write one after the other, and a third gives up.
func TestNightly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		var order []int64
		write := func(_ context.Context, fence int64) error {
			order = append(order, fence)
			time.Sleep(40 * time.Second)
			return nil
		}
		results := make(chan error)
		for range 3 {
			go func() { results <- nightly(t.Context(), m, write) }()
		}
		assert.NoError(t, <-results)
		assert.ErrorIs(t, <-results, ErrHeld)
		assert.NoError(t, <-results)
		assert.Equal(t, []int64{1, 2}, order)
	})
}
