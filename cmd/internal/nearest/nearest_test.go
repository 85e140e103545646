package nearest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/cmd/internal/nearest"
	"github.com/gobackoff/retry/internal/test/linear"
)

func TestName(t *testing.T) {
	known := []string{"standard", "none", "full", "fibonacci", "linear", "-q", ""}
	for typed, want := range map[string]string{
		"full":      "full",
		"ful":       "full",
		"fulll":     "full",
		"fibonaci":  "fibonacci",
		"linaer":    "linear", // two exchanged letters are two replacements
		"standrad":  "standard",
		"nine":      "none",
		"quadratic": "",
		"xyz":       "",
	} {
		assert.Equal(t, want, nearest.Name(typed, known), typed)
	}
	assert.Empty(t, nearest.Name("full", nil))
}

func TestNameIsLinear(t *testing.T) {
	linear.Check(t, 1<<20, func(size int) func() {
		typed := strings.Repeat("cap", size/3)
		return func() { assert.Empty(t, nearest.Name(typed, []string{"attempts", "elapsed", "cap"})) }
	})
}
