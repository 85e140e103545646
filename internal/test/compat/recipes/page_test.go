package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPage: the code of docs/recipes.md is the code that is tested here.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/recipes.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var sources strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			sources.Write(source)
		}
	}
	blocks := 0
	for _, block := range strings.Split(string(page), "```go\n")[1:] {
		block, _, closed := strings.Cut(block, "```")
		require.True(t, closed)
		for declaration := range strings.SplitSeq(block, "\n\n") { // with comments between them
			blocks++
			assert.Contains(t, sources.String(), strings.TrimSpace(declaration))
		}
	}
	assert.GreaterOrEqual(t, blocks, 10)
}
