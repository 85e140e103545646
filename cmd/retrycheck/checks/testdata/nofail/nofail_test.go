package nofail

import (
	"context"
	"os"
	"testing"

	"github.com/gobackoff/retry"
)

func TestEventually(t *testing.T) {
	_ = retry.Do(t.Context(), retry.Policy{MaxAttempts: 10}, func(ctx context.Context) error { // want `t.Fatal ends the test at the first failure, so retry.Do never retries it: return an error, and check after the call`
		_, err := os.ReadFile("config")
		if err != nil {
			t.Fatal(err)
		}
		return nil
	})
}

func TestEach(t *testing.T) {
	_ = retry.Do(t.Context(), retry.Policy{MaxAttempts: 10}, func(ctx context.Context) error {
		if a, ok := retry.AttemptFrom(ctx); ok || a.Number > 1 {
			t.Fatal("an attempt that is not the first")
		}
		return nil
	})
}
