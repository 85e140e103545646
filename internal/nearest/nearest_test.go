package nearest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/test/linear"
)

func TestName(t *testing.T) {
	known := []string{"attempts", "elapsed", "cap"}
	for typed, want := range map[string]string{
		"attempts": "attempts", "attempt": "attempts", "atempts": "attempts", "attemptsss": "attempts",
		"elapse": "elapsed", "ca": "cap", "cpa": "cap", "caps": "cap", "": "", "timeout": "", "capcap": "cap",
	} {
		assert.Equal(t, want, Name(typed, known), typed)
	}
	linear.Check(t, 1<<20, func(size int) func() {
		typed := strings.Repeat("cap", size/3)
		return func() { assert.Empty(t, Name(typed, known)) }
	})
}
