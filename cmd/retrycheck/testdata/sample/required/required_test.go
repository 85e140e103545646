// Require in the operation.
package required

import (
	"context"
	"testing"

	"github.com/gobackoff/retry"
	"github.com/stretchr/testify/require"
)

func count(context.Context) (int, error) { return 0, nil }

func TestEventually(t *testing.T) {
	err := retry.Do(t.Context(), retry.Policy{MaxAttempts: 10}, func(ctx context.Context) error { // not found
		n, err := count(ctx)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		return nil
	})
	require.NoError(t, err)
}
