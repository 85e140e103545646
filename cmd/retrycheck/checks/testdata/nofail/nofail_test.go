package nofail

import (
	"context"
	"testing"

	"github.com/gobackoff/retry"
)

func TestEach(t *testing.T) {
	_ = retry.Do(t.Context(), retry.Policy{MaxAttempts: 10}, func(ctx context.Context) error {
		if a, ok := retry.AttemptFrom(ctx); ok || a.Number > 1 {
			t.Fatal("an attempt that is not the first")
		}
		return nil
	})
}
