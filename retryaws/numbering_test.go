package retryaws

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNumbering: the numbering that was detected first is kept.
func TestNumbering(t *testing.T) {
	for value, fromZero := range map[string]bool{"": false, "true": true, "false": false} {
		t.Run(value, func(t *testing.T) {
			t.Setenv("AWS_NEW_RETRIES_2026", value)
			var n numbering
			assert.Equal(t, fromZero, n.startsAtZero())
			t.Setenv("AWS_NEW_RETRIES_2026", "true")
			assert.Equal(t, fromZero, n.startsAtZero())
		})
	}
}
