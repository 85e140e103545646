package pages

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// A page is a documentation file.
type page struct {
	name string // path in the repository
	text string
}

// dir returns the folder where the page's commands run.
func (p page) dir() string {
	if strings.HasPrefix(p.name, "docs/") {
		return "."
	}
	return path.Dir(p.name)
}

func filesWithSuffix(t *testing.T, suffix string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*"+suffix)
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	for _, name := range filesWithSuffix(t, ".md") {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		all = append(all, page{name, string(text)})
	}
	require.Greater(t, len(all), 10)
	return all
}

func (p page) blocks(language string) []string {
	var found []string
	for i, part := range strings.Split(p.text, "```") {
		if text, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			found = append(found, text)
		}
	}
	return found
}

// inText matches a code span that is a command.
var inText = regexp.MustCompile("`((?:cd [^`&]+ && )?(?:go|git|npm|python3|retry|backofflab|\\.ci/\\w+|\\./\\w+)(?: [^`]+)?)`")

// commands returns the lines of the page's shell blocks, and the commands in its text.
func (p page) commands() []string {
	var found []string
	for _, block := range p.blocks("sh") {
		for line := range strings.Lines(block) {
			line, _, _ = strings.Cut(line, "  # ")
			line, _, _ = strings.Cut(line, "   #")
			if line = strings.TrimSpace(line); line != "" {
				found = append(found, line)
			}
		}
	}
	text := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(p.text, "")
	for _, match := range inText.FindAllStringSubmatch(text, -1) {
		if strings.Contains(match[1], " ") || strings.HasPrefix(match[1], ".") {
			found = append(found, strings.ReplaceAll(match[1], `\|`, "|")) // as in a table
		}
	}
	return found
}
