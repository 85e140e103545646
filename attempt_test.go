package retry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

func TestClassString(t *testing.T) {
	assert.Equal(t, "throttled", retry.ClassThrottled.String())
	assert.Equal(t, "unknown", retry.ClassUnknown.String())
	assert.Equal(t, "class(5)", retry.Class(5).String())
}
