//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/attempts"
	"github.com/gobackoff/retry/retryconfig"
)

// TestAttempts: a policy means the same number of attempts as in a program.
func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		if row.Hint != 0 || row.Ends() {
			continue // its rule has no text
		}
		t.Run(row.Name, func(t *testing.T) {
			text, err := retryconfig.Text(row.Policy)
			require.NoError(t, err)
			c, err := parseFlags([]string{"--policy", text, "--", "false"}, func(string) string { return "" })
			require.NoError(t, err, text)
			assert.Equal(t, row.Most, c.policy.Attempts(), text)
			if row.Policy.Backoff == (retry.NoDelay{}) || row.Policy.Backoff == retry.Constant(0) {
				file := filepath.Join(t.TempDir(), "runs")
				finish(t, newCommand(t, "--policy", text, "--", "sh", "-c", "echo run >>"+file+"; exit 1"))
				assert.Equal(t, row.Made, count(t, file, "run"))
			}
		})
	}
}
