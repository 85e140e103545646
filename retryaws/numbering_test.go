package retryaws

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// IsSince2026 reports whether the SDK has retry behavior 2.1 whatever the variable is.
func IsSince2026() bool { return isSince148() }

// TestNumbering: the numbering that was detected first is kept.
func TestNumbering(t *testing.T) {
	for value, fromZero := range map[string]bool{"": false, "true": !IsSince2026(), "false": false} {
		t.Run(value, func(t *testing.T) {
			t.Setenv("AWS_NEW_RETRIES_2026", value)
			var n numbering
			assert.Equal(t, fromZero, n.startsAtZero())
			t.Setenv("AWS_NEW_RETRIES_2026", "true")
			assert.Equal(t, fromZero, n.startsAtZero())
		})
	}
}
