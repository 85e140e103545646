package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCode: apart from indentation, each paragraph of Go code on a page also occurs in a Go
// file, so it is compiled.
func TestCode(t *testing.T) {
	var sources strings.Builder
	for _, name := range filesWithSuffix(t, ".go") {
		source, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		sources.WriteString("\n" + unindented(string(source)) + "\n")
	}
	compiled := sources.String()
	paragraphs := 0
	for _, p := range pages(t) {
		if p.name == tutorial { // which TestTutorial runs
			continue
		}
		for _, block := range p.blocks("go") {
			for paragraph := range strings.SplitSeq(block, "\n\n") {
				paragraphs++
				if !strings.Contains(compiled, "\n"+unindented(strings.TrimSpace(paragraph))+"\n") {
					assert.Fail(t, p.name+" has code that is in no Go file:\n"+paragraph)
				}
			}
		}
	}
	assert.Greater(t, paragraphs, 20)
}

func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
