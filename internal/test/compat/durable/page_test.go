package durable

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPage: the code for these engines in docs/durable.md is the code tested here.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/durable.md")
	require.NoError(t, err)
	for _, section := range []struct{ heading, file string }{
		{"\n## River\n", "river.go"}, {"\n## asynq\n", "asynq.go"}, {"\n## Temporal\n", "temporal.go"},
	} {
		_, text, found := strings.Cut(string(page), section.heading)
		require.True(t, found, section.heading)
		text, _, _ = strings.Cut(text, "\n## ")
		const mark = "<!-- internal/test/compat/durable/"
		assert.Contains(t, text, mark+section.file)
		assert.Equal(t, strings.Count(text, "```go\n"), strings.Count(text, mark), "each block has its file above it")
		for _, block := range strings.Split(text, mark)[1:] {
			file, block, _ := strings.Cut(block, " -->\n```go\n")
			block, _, closed := strings.Cut(block, "```\n")
			require.True(t, closed)
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for declaration := range strings.SplitSeq(block, "\n\n") { // the page omits doc comments
				assert.Contains(t, string(source), strings.TrimSpace(declaration))
			}
		}
	}
}
