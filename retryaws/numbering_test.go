package retryaws

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/assert"
)

// IsSince2026 reports whether the SDK retries as since 2026 whatever the variable is.
func IsSince2026() bool {
	var major, minor int
	if _, err := fmt.Sscanf(aws.SDKVersion, "%d.%d.", &major, &minor); err != nil {
		panic(err)
	}
	return major > 1 || minor >= 48
}

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
