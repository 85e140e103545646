package playground

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Without the sources or the go command, Write says what is missing and leaves no folder.
func TestWriteOutsideOfACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := filepath.Join("a", "site")
	assert.ErrorContains(t, Write(t.Context(), folder), "the sources of the lab are missing here")
	t.Setenv("PATH", "")
	assert.ErrorContains(t, Write(t.Context(), folder), "the go command")
	assert.NoDirExists(t, "a")
}
